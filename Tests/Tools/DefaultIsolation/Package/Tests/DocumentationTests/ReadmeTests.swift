import Foundation
import Fugu
import FuguTesting
import Synchronization
import Testing

@Suite("What the README and QuickStart show") struct ReadmeTests {
    @Test("README: QuickStart has the declarations of both examples, line by line")
    func example() throws {
        let blocks = try Page(description: "README.md").blocks().filter { $0.language == "swift" }
        let program = try SourceText(at: Page.root.appending(path: "Examples/QuickStart/main.swift").path).lines
        #expect(blocks.count > 1)
        for block in blocks.prefix(2) {
            let declarations = block.lines.prefix { !$0.hasPrefix("@Test") }.filter { !$0.hasPrefix("import ") }
            #expect(SourceText.normalized(program).contains(inARow: SourceText.normalized(declarations)))
        }
    }

    @Test("README: it has at most 800 words, and begins with an example of at most 20 lines")
    func length() throws {
        let page = Page(description: "README.md")
        let words = try String(contentsOf: page.url, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        #expect(words.count <= 800)
        #expect(try #require(try page.blocks().first { $0.language == "swift" }).lines.count <= 20)
    }

    @Test("Contributing: the drawing of a family is that of a test of law 15")
    func drawing() throws {
        let blocks = try Page(description: ".github/CONTRIBUTING.md").blocks()
        let drawing = try #require(blocks.first { $0.language == "text" })
        let tests = try SourceText(at: Page.root.appending(path: "Tests/FuguFamilyTests/HomeTests.swift").path)
            .lines
        #expect(SourceText.normalized(tests).contains(inARow: SourceText.normalized(drawing.lines)))
    }

    @Test("README, QuickStart: a test that forgets what reaches outside fails as the pages show", .container)
    func forgotten() throws {
        let failures = Mutex<[String]>([])
        withKnownIssue {
            _ = try? page(for: "ada")
        } matching: { issue in
            failures.withLock { $0 += issue.comments.map(\.rawValue) }
            return true
        }
        // The page's declarations stand in a file of the reader.
        let place = #/ at \S+\.swift:\d+/#
        let shown = failures.withLock { $0 }
        #expect(shown.count == 1)
        for path in ["README.md", "Examples/QuickStart/README.md"] {
            let page = try SourceText(at: Page.root.appending(path: path).path).lines
            let text = SourceText.normalized(page).joined(separator: " ").replacing(place, with: "")
            for failure in shown {
                let lines = failure.replacing(place, with: "").split(separator: "\n").map(String.init)
                let isShown = text.contains(SourceText.normalized(lines).joined(separator: " "))
                #expect(isShown, "\(path) doesn't show: \(failure)")
            }
        }
    }
}
