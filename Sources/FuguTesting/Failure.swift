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

    /// Records an error, and returns one that doesn't fail the test a second time when it's thrown.
    static func record(_ error: some Error, at place: SourceLocation) -> any Error {
        if recorder != nil {
            record("\(error)", at: place)
            return error
        }
        // `#require` records the errors that it throws, and the testing library knows that.
        let double: Int? = nil
        do {
            _ = try #require(double, "\(error)", sourceLocation: place)
        } catch { return error }
        return error
    }
}
