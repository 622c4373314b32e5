import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Observation
import Testing

// The rows of the table in "Coming from swift-dependencies". A line that begins with `// |` names a row; the code below it, up to the
// next such line, is Fugu's side.

// | `DependencyKey` with `liveValue` |
private struct Compass: Feature {
    static func load(in container: any FeatureContainer) -> Compass { Compass() }
}

private enum Logbook: Feature, External {
    static func load(in container: any FeatureContainer) -> String { "live" }

    // | `testValue` |
    static func testValue(in container: any FeatureContainer) -> String { "for tests" }
}

private struct Beacon: Feature, External {
    var flash: @Sendable (_ times: Int) -> String

    static func load(in container: any FeatureContainer) -> Beacon { Beacon { "live \($0)" } }

    // | `unimplemented` |
    static var placeholder: Beacon { Beacon(flash: unimplemented("Beacon.flash", placeholder: "")) }

    // | `previewValue` |
    static var preview: Beacon { Beacon { "preview \($0)" } }
}

// | `@DependencyClient` |
// The macro, with import DependenciesMacros, adds the default of `log` and the initializers.
private struct GitClient: Feature, External {
    var log: @Sendable (_ branch: String) async throws -> [String] = { _ in throw CancellationError() }

    static func load(in container: any FeatureContainer) -> GitClient { GitClient(log: { ["live \($0)"] }) }
    static var placeholder: Self { .init() }
}

// | a computed property in `DependencyValues`, `@DependencyEntry` |
extension ContainerKeys {
    fileprivate var beacon: FeatureKey<Beacon> { .init(Beacon.self) }
}

extension ContainerKeys {
    fileprivate var heading: FeatureKey<Int> { .init { _ in 90 } }
}

private struct Pilot {
    // | `@Dependency(\.weather)`, `@Dependency(\.date.now)` |
    @Injected(\.weather) var weather
    @Injected(\.date.now) var now

    // | `@Dependency(WeatherClient.self)` |
    @Injected(WeatherClient.self) var client

    // | `\.uuid`, `\.date`, `\.calendar`, `\.locale`, `\.timeZone` |
    @Injected(\.uuid) var uuid
    @Injected(\.date) var date
    @Injected(\.calendar) var calendar
    @Injected(\.locale) var locale
    @Injected(\.timeZone) var timeZone
}

// | `@ObservationIgnored @Dependency` |
@MainActor @Observable private final class PilotModel {
    @ObservationIgnored @Injected(\.timeout) var timeout
}

@Suite("Rows: swift-dependencies") struct SwiftDependenciesRows {
    @Test("Binding a container for an operation", .container)
    func binding() async {
        // | `withDependencies { … } operation: { … }` |
        let timeout = Container.with {
            $0.timeout = 5
        } operation: {
            Container.current.timeout
        }
        #expect(timeout == 5)

        // | `withDependencies(from: self) { … }` |
        struct Owner {
            private let container = Container.current
            var timeout: Int { Container.with(container) { Container.current.timeout } }
        }
        #expect(Owner().timeout == 30)
        let container = Container.current.child { $0.timeout = 7 }
        Container.with(container) { #expect(Container.current.timeout == 7) }

        await Container.with(container) {
            // | `withEscapedDependencies { … }` |
            let container = Container.current
            let later: @Sendable () -> Int = { Container.with(container) { Container.current.timeout } }
            #expect(await Task.detached { later() }.value == 7)
        }
    }

    @Test("The caller's values, and those of the model")
    func callers() {
        // | `withDependencies { … } operation: { model.refresh() }`, whose values win over those of the model |
        struct Model {
            @Injected(\.timeout) var timeout
            var callersTimeout: Int { Container.current.timeout }
        }
        let root = Container()
        Container.with(root) {
            let model = Container.with {
                $0.timeout = 5
            } operation: {
                Model()
            }
            Container.with {
                $0.timeout = 7
            } operation: {
                #expect(model.timeout == 5 && model.callersTimeout == 7 && Model().timeout == 7)
            }
        }
    }

    // | `prepareDependencies { … }` |
    func prepare() {
        Container.shared.weather = WeatherClient { _ in 21 }
    }

    // | `@Test(.dependencies { … })`, `.dependency(\.uuid, …)` |
    @Test(.container { $0.uuid = .incrementing })
    func trait() {
        #expect(Container.current.uuid().uuidString.hasPrefix("00000000"))
    }

    // | `$0.date.now = Date(…)`, `UUID(0)` |
    @Test(
        .container {
            $0.date = .constant(Date(timeIntervalSince1970: 9)); $0.uuid = .incrementing
        })
    func constants() {
        #expect(
            Container.current.date.now == Date(timeIntervalSince1970: 9) && Container.current.uuid() == UUID(number: 0))
    }

    @Test("Strict containers by hand")
    func strict() {
        // | `withDependencies` in `invokeTest`, for XCTest |
        let flash = Container.strict {
            $0.beacon.flash = { "stub \($0)" }
        } operation: {
            Container.current.beacon.flash(2)
        }
        #expect(flash == "stub 2")
    }

    // | `$0.weather.temperature = { … }` |
    @Test(.container { $0.weather.temperature = { _ in 21 } })
    func parts() async throws {
        #expect(try await Container.current.weather.temperature("Etna") == 21)
        Container.current.weather.temperature = { _ in 22 }
        #expect(try await Container.current.weather.temperature("Etna") == 22)
    }

    @Test("Clocks and randomness", .container)
    func clocks() async throws {
        // | `\.continuousClock`, `TestClock()` |
        // | `ImmediateClock()` |
        let clock = ManualClock()
        Container.current.clock = AnyClock(clock)
        let container = Container.current
        let task = Task { try await container.clock.sleep(for: .seconds(3)) }

        // | `await clock.advance(by: .seconds(1))`, `await clock.run()` |
        await clock.advance(by: .seconds(1))
        await clock.run()
        try await task.value

        // | `ImmediateClock()` |
        Container.current.clock = .immediate
        try await Container.current.clock.sleep(for: .seconds(3))

        // | `for await _ in clock.timer(interval: .seconds(1)) { … }` |
        while true {
            try await Container.current.clock.sleep(for: .seconds(1))
            break
        }

        // | `\.withRandomNumberGenerator` |
        Container.current.randomness = Randomness { 1 }
        var randomness = Container.current.randomness
        #expect(Int.random(in: 3...9, using: &randomness) == 3)
    }

    @Test(.container { $0[GitClient.self].log = { [$0] } }) func macros() async throws {
        #expect(try await Container.current[GitClient.self].log("main") == ["main"])
    }

    @Test("A value for tests", .container)
    func testValue() { #expect(Container.current[Logbook.self] == "for tests") }

    @Test("Containers give what the rows declare", .liveContainer)
    func declarations() {
        let container = Container()
        #expect(container.heading == 90 && container.beacon.flash(1) == "live 1")
        _ = container[Compass.self]
    }
}
