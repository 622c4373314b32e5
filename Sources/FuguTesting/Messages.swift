/// The messages of this module, as functions that tests read.
enum Messages {
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

    static func unimplemented(_ endpoint: String) -> String {
        "Fugu: \(endpoint) was called, but the test has not said what it is to do. Give the double a closure for it."
    }
}
