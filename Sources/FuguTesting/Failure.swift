package import Testing

/// The failures that this module records.
package enum Failure {
    /// Receives failures in place of the testing library, so that a test of failing tests can pass.
    ///
    /// An optimized build crashes where a task-local value is a closure: the closure's type isn't found.
    package final class Recorder: Sendable {
        fileprivate let record: @Sendable (_ text: String, _ place: SourceLocation) -> Void

        package init(_ record: @escaping @Sendable (_ text: String, _ place: SourceLocation) -> Void) {
            self.record = record
        }
    }

    @TaskLocal package static var recorder: Recorder?

    static func record(_ text: String, at place: SourceLocation) {
        if let recorder { return recorder.record(text, place) }
        Issue.record(Comment(rawValue: text), sourceLocation: place)
    }

    /// Records a warning, which doesn't fail the test.
    static func warn(_ text: String, at place: SourceLocation) {
        if let recorder { return recorder.record(text, place) }
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
}
