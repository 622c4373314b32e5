import Fugu
import Harbor

/// Constructed with what it needs, as Swinject's users prefer.
package final class PilotModel {
    private let pilots: Pilots
    package private(set) var log: [String] = []

    package init(_ pilots: Pilots) { self.pilots = pilots }

    package func guide(_ ship: String) async throws { log.append(try await pilots(ship).guide()) }
}

// wiring
extension ContainerKeys {
    package var pilotModel: MainActorFeatureKey<PilotModel> { .init { PilotModel($0.pilot) } }
}
// end

/// What a preview shows.
package func pilotPreview() -> PilotModel {
    // wiring
    let container = Container()
    container.mainRadio = Recording("aye")
    container.spareRadio = Recording("standing by")
    return container.pilotModel
    // end
}
