import Fugu
import FuguTesting
import Harbor
import HarborApp
import HarborServer
import Testing

@Suite("Coming from swift-dependencies") struct TideTests {
    // wiring
    @Test(.container { $0.tides.height = { $0 == "Bergen" ? 3 : 0 } })
    // end
    func model() async throws {
        // wiring
        let clock = ManualClock()
        Container.current.clock = AnyClock(clock)
        // end
        let model = TideModel()
        let task = Task { try await model.follow() }
        await clock.advance(by: .seconds(120))
        #expect(model.heights == [3, 3, 3])
        task.cancel()
        _ = await task.result
    }

    // wiring
    @Test(
        .container {
            $0.tides.height = { _ in 2 }
            $0.port = "Oslo"
        })
    // end
    func server() async throws { #expect(try await tideResponse(to: 7) == "7: 2.0 m in Oslo") }

    @Test(.container) func preview() async throws {
        let model = tidePreview()
        let clock = ManualClock()
        Container.current.clock = AnyClock(clock)
        let task = Task { try await model.follow() }
        await clock.advance(by: .zero)
        #expect(model.heights == [1.5])
        task.cancel()
        _ = await task.result
    }

    @Test(.container) func forgotten() async {
        await withKnownIssue {
            await #expect(throws: (any Error).self) { try await tideResponse(to: 7) }
        } matching: { issue in
            issue.comments.first?.rawValue.hasPrefix("Fugu: TideClient reaches outside the process") == true
        }
    }
}
