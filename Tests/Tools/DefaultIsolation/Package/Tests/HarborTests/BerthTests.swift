import Fugu
import FuguTesting
import Harbor
import HarborApp
import HarborServer
import Testing

@Suite("Coming from Factory") struct BerthTests {
    // wiring
    @Test(.container { $0.berths = FixedBerths("Pier 4") })
    // end
    func screen() async throws {
        // wiring
        let announcer = Quiet()
        Container.current.announcer = announcer
        // end
        await Container.current.screen.refresh()
        #expect(Container.current.screen.text == "Pier 4 for guest" && announcer.texts == ["Pier 4 for guest"])
    }

    // wiring
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
