package import Testing

/// The failures that this module records.
package enum Failure {
    /// Receives failures in place of the testing library, so that a test of failing tests can pass.
    @TaskLocal package static var recorder: (@Sendable (_ text: String, _ place: SourceLocation) -> Void)?

    static func record(_ text: String, at place: SourceLocation) {
        if let recorder { return recorder(text, place) }
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
