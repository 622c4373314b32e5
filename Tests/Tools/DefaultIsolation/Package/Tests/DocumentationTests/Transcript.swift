import Synchronization
import Testing

/// The lines that the running snippet has printed.
private let transcript = Mutex<[String]>([])

/// Stands for the standard library's `print` in the snippets.
func print(_ item: Any) {
    let line = String(describing: item)
    transcript.withLock { $0.append(line) }
}

/// All snippets that run: one after the other, since they share the transcript.
@Suite("The documentation's code prints what its comments say", .serialized) struct Snippets {}

/// Runs a snippet and expects it to print what its comments say: those that follow code on the same line, from top to
/// bottom.
func run(
    filePath: String = #filePath, line: Int = #line, sourceLocation: SourceLocation = #_sourceLocation,
    _ snippet: () async throws -> Void
) async throws {
    let text = try SourceText(at: filePath)
    let expected = text.lines(ofClosureBeginningAt: line).compactMap(SourceText.output)
    transcript.withLock { $0 = [] }
    try await snippet()
    let printed = transcript.withLock { $0 }
    #expect(printed == expected, sourceLocation: sourceLocation)
}

/// For tests that are no snippets themselves, one after the other with them.
var transcriptSoFar: [String] { transcript.withLock { $0 } }
