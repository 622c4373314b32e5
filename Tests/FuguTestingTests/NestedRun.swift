import Fugu
import StrictnessCases
import Support
import Testing

@testable import FuguTesting

/// An issue as whoever reads the results sees it, without where something was read.
struct SeenIssue: Equatable {
    let text: String
    let place: SourceLocation?
}

/// The issues that `body` makes.
///
/// They are expected, so they do not fail the test that runs.
func issues(_ body: () async throws -> Void) async -> [SeenIssue] {
    let log = Log<SeenIssue>()
    do {
        try await withKnownIssue(isIntermittent: true) {
            try await body()
        } matching: { issue in
            let text = StrictnessCase.withoutPlace(issue.comments.first?.rawValue ?? "\(issue)")
            log.add(SeenIssue(text: text, place: issue.sourceLocation))
            return true
        }
    } catch {
        Issue.record(error, "the testing library did not take the error for a known issue")
    }
    return log.all
}

/// Runs a test case with traits, outermost first, as the testing library does, within the case that runs.
func runCase(
    _ traits: ContainerTrait..., body: @escaping @concurrent @Sendable () async throws -> Void
) async throws {
    let test = try #require(Test.current)
    var run = body
    for trait in traits.reversed() {
        let inner = run
        run = { try await trait.provideScope(for: test, testCase: Test.Case.current, performing: inner) }
    }
    try await TestCase.$current.withValue(nil, operation: run)
}
