import Foundation
import Fugu
import FuguTesting
import Synchronization
import Testing

@Suite("What the README and QuickStart show") struct ReadmeTests {
    @Test("README: QuickStart has the example's declarations, line by line")
    func example() throws {
        let page = try #require(try Page(description: "README.md").blocks().first { $0.language == "swift" })
        let program = try SourceText(at: Page.root.appending(path: "Examples/QuickStart/main.swift").path).lines
        #expect(page.lines.first == "import Fugu")
        #expect(SourceText.normalized(program).contains(inARow: SourceText.normalized(page.lines.dropFirst())))
    }

    @Test("Laws: the drawing of a family is that of a test of law 15")
    func drawing() throws {
        let page = try #require(try Page(description: "Sources/Fugu/Fugu.docc/Laws.md").blocks().first)
        let tests = try SourceText(at: Page.root.appending(path: "Tests/FuguFamilyTests/Law15HomesTests.swift").path)
            .lines
        #expect(SourceText.normalized(tests).contains(inARow: SourceText.normalized(page.lines)))
    }

    @Test(
        "README, QuickStart: a test that forgets what reaches outside fails as the pages show",
        .container {
            $0.user = "ada"
            $0.clock = .immediate
        })
    func forgotten() async throws {
        let failures = Mutex<[String]>([])
        await withKnownIssue {
            _ = try? await Container.current[OrderPage.self].text()
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
