/// The messages of this module, as functions that tests read.
///
/// A line swaps a feature in the container `$0`.
enum Messages {
    static func adviceForTrait(_ line: String) -> String { "Swap it in the trait of the test: .container { \(line) }" }

    static func adviceByHand(_ line: String) -> String {
        "Swap it where the test makes its container: Container.strict { \(line) }"
    }

    static func adviceForShared(_ line: String) -> String { adviceForShared(line, .present()) }

    static func adviceForShared(_ line: String, _ audience: Audience) -> String {
        switch audience {
        case .testCase:
            "It was read from Container.shared, which the trait of a test does not configure: read it from "
                + "Container.current there, and swap it in the trait of the test: .container { \(line) }"
        case .test:
            "The test has no container of its own. Give it one: @Test(.container { \(line) }). If it is to use the real "
                + "one: @Test(.liveContainer)"
        case .xctest:
            "Run the test in a container of its own: Container.strict { \(line) } operation: { … }. If it is to use the "
                + "real one: Container.live { … }"
        case .unknownTest:
            "It was read on a thread or in a detached task that does not know its test. Give the test a container, "
                + "@Test(.container { \(line) }), and take it along: let container = Container.current before the "
                + "task, Container.with(container) { … } in it"
        case .nobody:
            "This process links FuguTesting and runs no test. Link FuguTesting to test targets only, or use the real one: "
                + "Container.live { … }"
        }
    }

    static func late(_ text: String) -> String {
        text + " (Met after its test case had ended: something that the test began goes on. Let the test wait for it.)"
    }

    static func shared(_ text: String) -> String {
        text
            + " (Met in Container.shared, which no test configures: let the code read from Container.current, or hand it "
            + "the test's container.)"
    }

    static func unused(_ name: String) -> String {
        "Fugu: \(name) was set for this test and never read. Remove it, or find out why the test does not come to it."
    }
}
