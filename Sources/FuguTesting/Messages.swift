/// The messages of this module, as functions that tests read.
///
/// A line swaps a feature in the container `$0`.
enum Messages {
    static func adviceForTrait(_ line: String) -> String { "Swap it in the test's trait: .container { \(line) }" }

    static func adviceByHand(_ line: String) -> String {
        "Swap it where the test makes its container: Container.strict { \(line) }"
    }

    static func adviceForShared(_ line: String) -> String { adviceForShared(line, .present()) }

    static func adviceForShared(_ line: String, _ audience: Audience) -> String {
        switch audience {
        case .testCase:
            "It was read from Container.shared, which a test's trait doesn't configure: read it from "
                + "Container.current there, and swap it in the test's trait: .container { \(line) }"
        case .test:
            "The test has no container of its own. Give it one: @Test(.container { \(line) }). To use the real feature, write "
                + "@Test(.liveContainer)."
        case .xctest:
            "Run the test in a container of its own: Container.strict { \(line) } operation: { … }. To use the real feature, "
                + "write Container.live { … }."
        case .unknownTest:
            "It was read on a thread or in a detached task that doesn't know its test. Give the test a container, "
                + "@Test(.container { \(line) }), and take it along: write let container = Container.current before "
                + "the task, and Container.with(container) { … } in it."
        case .nobody:
            "This process links FuguTesting and runs no test. Link FuguTesting to test targets only, or use the real feature: "
                + "Container.live { … }"
        }
    }

    static func late(_ text: String) -> String {
        text
            + " (This happened after the test case ended: something that the test started is still running. Make the test wait for it.)"
    }

    static func shared(_ text: String) -> String {
        text
            + " (This happened in Container.shared, which no test configures. Let the code read from Container.current, or pass "
            + "it the test's container.)"
    }

    static func unused(_ name: String) -> String {
        "Fugu: \(name) was set for this test but never read. Remove it, or find out why the test doesn't reach it."
    }
}
