import Foundation
import Support
import Testing

@Suite struct ScopesTests {
    @Test("Scopes prints who shares what, the same each time")
    func output() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let expected = try String(contentsOf: root.appending(path: "Examples/Scopes/expected.txt"), encoding: .utf8)
        for _ in 0..<3 {
            let result = try await BuiltProgram("Scopes").run()
            expect(result.exitCode, equals: 0)
            expect(result.errors, equals: "")
            expect(result.output, equals: expected)
        }
    }
}
