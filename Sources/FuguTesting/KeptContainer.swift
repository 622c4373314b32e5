import Fugu
import Testing

/// A root that a test without a container of its own has made, and that something keeps.
final class KeptContainer: Sendable {
    /// The container, if it still exists; ask outside every lock.
    weak let container: Container?
    /// Where it was made, if that's known.
    let place: SourcePlace?

    private init(_ container: Container, at place: SourcePlace?) {
        self.container = container
        self.place = place
    }

    private struct State {
        var ofTests: [Test.ID: [KeptContainer]] = [:]
        /// Those of the test that XCTest runs, if it runs one.
        var ofXCTest: [KeptContainer]?
        /// Those that were made under XCTest while no test ran, or `nil` where tests aren't followed: first, it creates all test cases,
        /// with their properties.
        var early: [ObjectIdentifier: KeptContainer]?
    }

    private static let state = Locked(State())

    /// Remembers that the present test has made a container, and forgets all but the last ones.
    static func add(_ container: Container, at place: SourcePlace?) {
        if TestCase.current != nil { return }
        let made = KeptContainer(container, at: place)
        switch Audience.present() {
        case .test(let test):
            state.withLock { $0.ofTests[test.id] = ($0.ofTests[test.id] ?? []).suffix(7) + [made] }
        case .xctest:
            state.withLock { state in
                if let kept = state.ofXCTest { state.ofXCTest = kept.suffix(7) + [made] }
                if state.ofXCTest == nil { state.early?[ObjectIdentifier(container)] = made }
            }
        case .testCase, .unknownTest, .nobody: break
        }
    }

    /// Returns those of a test of Swift Testing.
    static func of(_ test: Test) -> [KeptContainer] { state.withLock { $0.ofTests[test.id] } ?? [] }

    /// Those of the test that XCTest runs.
    static var ofXCTest: [KeptContainer] { state.withLock { $0.ofXCTest } ?? [] }

    /// Expects to be told which test XCTest runs.
    static func followXCTest() { state.withLock { $0.early = [:] } }

    /// Begins a test of XCTest whose test case has containers as properties.
    static func beginXCTest(with properties: [Container]) {
        state.withLock { state in
            state.ofXCTest = properties.compactMap { state.early?.removeValue(forKey: ObjectIdentifier($0)) }
        }
    }

    /// Ends the test of XCTest.
    static func endXCTest() { state.withLock { $0.ofXCTest = nil } }
}
