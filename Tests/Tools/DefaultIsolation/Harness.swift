import Fugu
import Testing

// Stands for the file of the same declarations in `Package/Tests/DocumentationTests`: here, snippets are compiled, not run.

nonisolated func print(_ item: Any) { Swift.print(item) }

@Suite struct Snippets {}

func run(_ snippet: () async throws -> Void) async throws { try await snippet() }

nonisolated var transcriptSoFar: [String] { [] }
