import Fugu
import FuguTesting
import Harbor
import HarborApp
import HarborServer
import Testing

@Suite("Coming from Swinject") struct PilotTests {
    // wiring
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

    // wiring
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
