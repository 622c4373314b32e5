import Fugu
import FuguTesting
import Harbor
import HarborApp
import HarborServer
import Testing

@Suite("Coming from swift-dependencies") struct TideTests {
    // wiring of tides
    @Test(.container { $0.tides.height = { $0 == "Bergen" ? 3 : 0 } })
    // end
    func model() async throws {
        // wiring of tides
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

    // wiring of tides
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

@Suite("Coming from Factory") struct BerthTests {
    // wiring of berths
    @Test(.container { $0.berths = FixedBerths("Pier 4") })
    // end
    func screen() async throws {
        // wiring of berths
        let announcer = Quiet()
        Container.current.announcer = announcer
        // end
        await Container.current.screen.refresh()
        #expect(Container.current.screen.text == "Pier 4 for guest" && announcer.texts == ["Pier 4 for guest"])
    }

    // wiring of berths
    @Test(.container { $0.berths = FixedBerths("Pier 4") })
    // end
    func server() async throws {
        #expect(try await berthResponse(to: "Ada", in: .current) == "Pier 4 for Ada")
        #expect(try await berthResponse(to: "Grace", in: .current) == "Pier 4 for Grace")
    }

    @Test(.container) func preview() async throws {
        let screen = berthPreview()
        #expect(screen.text.isEmpty)
    }
}

@Suite("Coming from Swinject") struct PilotTests {
    // wiring of pilots
    @Test(
        .container {
            assemble($0)
            $0.replace(\.mainRadio) { _ in Broken() }
        })
    // end
    func model() async throws {
        let model = Container.current.pilotModel
        try await model.guide("Fram")
        #expect(model.log == ["Fram: standing by"] && model === Container.current.pilotModel)
    }

    // wiring of pilots
    @Test(
        .container {
            assemble($0)
            $0.mainRadio = Recording("aye")
        })
    // end
    func server() async throws { #expect(try await pilotResponse(to: "Fram", in: .current) == "Fram: aye") }

    @Test(.container) func preview() async throws {
        let model = pilotPreview()
        try await model.guide("Gjøa")
        #expect(model.log == ["Gjøa: aye"])
    }
}

private nonisolated struct Broken: Radio {
    func call(_ ship: String) async throws -> String { throw Unreachable() }
}
