import Testing

/// One of the behaviors that a parameterized test of a suite checks: a sentence, which results show, and the suite's function.
///
/// A table of cases takes the compiler a fraction of the time that as many tests take. A test with traits, arguments, or many lines
/// remains a test of its own.
package struct Case<Suite>: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    private let body: @Sendable (Suite) -> () async throws -> Void

    package init(_ sentence: String, _ body: @escaping @Sendable (Suite) -> () async throws -> Void) {
        testDescription = sentence
        self.body = body
    }

    package func run(_ suite: Suite) async throws { try await body(suite)() }
}
