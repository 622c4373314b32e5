import Foundation
import Fugu
import FuguTesting
import Synchronization
import Testing

@Suite("The failing test that the README shows") struct ReadmeTests {
    @Test(
        "README: a test that forgets what reaches outside fails as the page shows",
        .container {
            $0.user = "ada"
            $0.clock = .immediate
        })
    func forgotten() async throws {
        let failures = Mutex<[String]>([])
        let recorder = Failure.Recorder { text, _ in failures.withLock { $0.append(text) } }
        await Failure.$recorder.withValue(recorder) {
            _ = try? await Container.current[OrderPage.self].text()
        }
        // The page's declarations stand in a file of the reader.
        let place = #/ at \S+\.swift:\d+/#
        let page = try SourceText(at: Page.root.appending(path: "README.md").path).lines
        let text = SourceText.normalized(page).joined(separator: " ").replacing(place, with: "")
        let shown = failures.withLock { $0 }
        #expect(shown.count == 1)
        for failure in shown {
            let lines = failure.replacing(place, with: "").split(separator: "\n").map(String.init)
            let isShown = text.contains(SourceText.normalized(lines).joined(separator: " "))
            #expect(isShown, "the README doesn't show: \(failure)")
        }
    }
}
