import Fugu
package import Testing

/// The failures that this module records.
package enum Failure {
    /// Receives failures in place of the testing library, so that a test of failing tests can pass.
    ///
    /// An optimized build crashes where a task-local value is a closure: the closure's type isn't found.
    package final class Recorder: Sendable {
        fileprivate let record: @Sendable (_ text: String, _ place: SourceLocation) -> Void
        /// What was said to a test once.
        let said = Locked<Set<String>>([])

        package init(_ record: @escaping @Sendable (_ text: String, _ place: SourceLocation) -> Void) {
            self.record = record
        }
    }

    @TaskLocal package static var recorder: Recorder?

    static func record(_ text: String, at place: SourceLocation) {
        if let recorder { return recorder.record(text, place) }
        keep(text) { record($0, at: place) }
        Issue.record(Comment(rawValue: text), sourceLocation: place)
    }

    /// Records a warning, which doesn't fail the test.
    static func warn(_ text: String, at place: SourceLocation) {
        if let recorder { return recorder.record(text, place) }
        keep(text) { warn($0, at: place) }
        #if compiler(>=6.3)
        Issue.record(Comment(rawValue: text), severity: .warning, sourceLocation: place)
        #else
        Audience.printError(text)
        #endif
    }

    /// Records an error, and returns one that doesn't fail the test a second time when it's thrown.
    static func record(_ error: some Error, at place: SourceLocation) -> any Error {
        if recorder != nil {
            record("\(error)", at: place)
            return error
        }
        keep("\(error)") { record($0, at: place) }
        // A required expectation records the error that it throws, and the testing library knows that.
        #if compiler(<6.4)
        // What `#require` expands to, with words for what is expected.
        let result = __checkValue(
            false, expression: .__fromSyntaxNode(Messages.expectation), comments: ["\(error)"], isRequired: true,
            sourceLocation: place)
        do { try result.get() } catch { return error }
        #else
        do { try #require(Bool(false), "\(error)", sourceLocation: place) } catch { return error }
        #endif
        return error
    }

    // MARK: Arguments and conditions

    /// What the arguments and conditions of tests have recorded, until the test runs.
    private static let kept = Locked<[Test.ID: [@Sendable () -> Void]]>([:])

    /// Keeps an issue of an argument or a condition of a test, which is evaluated before the testing library takes any.
    private static func keep(_ text: String, _ record: @escaping @Sendable (String) -> Void) {
        guard let test = Test.current, !test.isSuite, Test.Case.current == nil else { return }
        let text = Messages.beforeTest(text, test.readableName)
        // The test may do nothing by which it's noticed that it runs.
        Audience.printError(text)
        kept.withLock { $0[test.id, default: []].append { record(text) } }
    }

    /// Records what was kept for the test that runs here.
    static func recordKept() {
        guard Test.Case.current != nil, let test = Test.current else { return }
        kept.withLock { $0.removeValue(forKey: test.id) }?.forEach { $0() }
    }
}
