import Foundation
import Fugu
import FuguConfiguration
import FuguFoundation
import FuguTesting
import Testing
import XCTest

// The page "Coming from a global World or Current". A line that begins with `// |` names a row of its table; the code below it, up to
// the next such line, is Fugu's side.

nonisolated struct World: Sendable {
    // | `struct World`, `var Current = World()` |
    var date: @Sendable () -> Date

    static let live = World { Date() }
    static let mock = World { Date(timeIntervalSince1970: 86_400) }
}

// | `struct World`, `var Current = World()` |
// | `Current = .mock` in `setUp` |
extension ContainerKeys {
    var world: FeatureKey<World> { .init(testValue: { _ in .mock }) { _ in .live } }
}

nonisolated var Current: World {
    get { Container.current.world }
    set { Container.current.world = newValue }
}

nonisolated func receiptNumber() -> Int { Int(Current.date().timeIntervalSince1970) }

// | `Current = .mock` in `setUp` |
@Suite(.container) struct ReceiptTests {
    @Test func number() {
        Current.date = { Date(timeIntervalSince1970: 60) }
        #expect(receiptNumber() == 60)
    }
}

// | `invokeTest` that sets `Current` |
nonisolated final class ReceiptXCTests: XCTestCase {
    override func invokeTest() {
        Container.strict {
            $0.world.date = { Date(timeIntervalSince1970: 0) }
        } operation: {
            super.invokeTest()
        }
    }

    func testNumber() { XCTAssertEqual(receiptNumber(), 0) }
}

private struct Visit {
    // | `var date: () -> Date` |
    @Injected(\.date.now) var now

    // | `uuid`, `locale`, `timeZone`, `calendar` |
    @Injected(\.uuid) var uuid
}

// | `token: { Environment.get("TOKEN") }` |
extension ContainerKeys {
    fileprivate var token: PropertyKey<String?> { .init("token", isSecret: true) }
}

private func applyVariables(to container: Container) throws { try container.apply(EnvironmentSource()) }

// | a struct in the struct, such as `Current.git` |
private struct Git: Feature, External {
    var count: @Sendable (_ path: String) async throws -> Int

    static func load(in container: any FeatureContainer) -> Git { Git { _ in 3 } }
    static var placeholder: Git { Git(count: unimplemented("Git.count")) }
}

// | a function that reads `Current`, such as `log(_:)` |
extension ContainerKeys {
    fileprivate var logger: FeatureKey<@Sendable (String) -> Void> { .init { _ in { _ in } } }
}

private func log(_ text: String) { Container.current.logger(text) }

// | `Current.logger = …` when the program starts |
private func start() { Container.shared.logger = { _ in } }

@Suite("Rows: Current") struct CurrentRows {
    // | `Current.date = { … }` in one test |
    @Test(.container { $0.world.date = { Date(timeIntervalSince1970: 0) } })
    func part() { #expect(Current.date() == Date(timeIntervalSince1970: 0)) }

    @Test("Time, chance, and a request", .container { $0.clock = .immediate })
    func others() async throws {
        let container = Container.current

        // | `var random: (ClosedRange<Double>) -> Double` |
        container.randomness = Randomness { 1 }

        // | `var delay: (Duration) async throws -> Void` |
        try await container.clock.sleep(for: .seconds(3))

        // | a value that a request sets in `Current` |
        try await container.withChild {
            $0.user = "ada"
        } operation: {
            #expect($0.user == "ada")
        }
    }
}
