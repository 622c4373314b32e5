import Foundation
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

/// The issues that `body` makes, which don't fail the test that runs.
func issues(_ body: () async throws -> Void) async -> [SeenIssue] {
    let log = Log<SeenIssue>()
    let recorder = Failure.Recorder { text, place in
        log.add(SeenIssue(text: StrictnessCase.withoutPlace(text), place: place))
    }
    await Failure.$recorder.withValue(recorder) {
        do { try await body() } catch { log.add(SeenIssue(text: "\(error)", place: nil)) }
    }
    return log.all
}

/// The texts of the issues that `body` makes, each with the place where something was read.
func texts(_ body: () async throws -> Void) async rethrows -> [String] {
    let log = Log<String>()
    try await Failure.$recorder.withValue(Failure.Recorder { text, _ in log.add(text) }, operation: body)
    return log.all
}

/// Prints what fails the test, which in an exit test would fail the one around it.
func printingFailures(_ body: () async throws -> Void) async rethrows {
    let recorder = Failure.Recorder { text, _ in
        FileHandle.standardError.write(Data("Failed: \(text)\n".utf8))
    }
    try await Failure.$recorder.withValue(recorder, operation: body)
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
