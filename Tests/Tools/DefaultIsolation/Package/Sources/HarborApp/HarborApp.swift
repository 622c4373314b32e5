import Fugu
import Harbor
import Observation

@Observable package final class TideModel {
    // wiring of tides
    @ObservationIgnored @Injected(\.tides) private var tides
    @ObservationIgnored @Injected(\.clock) private var clock
    @ObservationIgnored @Injected(\.port) private var port
    // end
    package private(set) var heights: [Double] = []

    package init() {}

    /// Measures each minute.
    package func follow() async throws {
        while true {
            try await heights.append(tides.height(port))
            try await clock.sleep(for: .seconds(60))
        }
    }
}

/// What a preview shows.
package func tidePreview() -> TideModel {
    // wiring of tides
    Container.with {
        $0.tides.height = { _ in 1.5 }
    } operation: {
        TideModel()
    }
    // end
}

/// Belongs to the main actor, as everything does here that says nothing.
package protocol Announcer: Sendable {
    func say(_ text: String)
}

private final class LoudSpeaker: Announcer {
    func say(_ text: String) { print(text) }
}

package final class Quiet: Announcer {
    package private(set) var texts: [String] = []
    package init() {}
    package func say(_ text: String) { texts.append(text) }
}

// wiring of berths
extension ContainerKeys {
    package var announcer: MainActorFeatureKey<any Announcer> { .init { _ in LoudSpeaker() } }
    package var screen: MainActorFeatureKey<BerthScreen> { .init { _ in BerthScreen() } }
}
// end

package final class BerthScreen {
    // wiring of berths
    @Injected(\.bookings) private var bookings
    private var announcer: any Announcer { Container.current.announcer }
    // end
    package private(set) var text = ""

    package init() {}

    package func refresh() async {
        do {
            text = try await bookings.next()
            announcer.say(text)
        } catch {
            text = "closed"
        }
    }
}

/// What a preview shows.
package func berthPreview() -> BerthScreen {
    // wiring of berths
    let container = Container()
    container.berths = FixedBerths("Pier 1")
    container.announcer = Quiet()
    return container.screen
    // end
}

/// Constructed with what it needs, as Swinject's users prefer.
package final class PilotModel {
    private let pilots: Pilots
    package private(set) var log: [String] = []

    package init(_ pilots: Pilots) { self.pilots = pilots }

    package func guide(_ ship: String) async throws { log.append(try await pilots(ship).guide()) }
}

// wiring of pilots
extension ContainerKeys {
    package var pilotModel: MainActorFeatureKey<PilotModel> { .init { PilotModel($0.pilot) } }
}
// end

/// What a preview shows.
package func pilotPreview() -> PilotModel {
    // wiring of pilots
    let container = Container()
    container.mainRadio = Recording("aye")
    container.spareRadio = Recording("standing by")
    return container.pilotModel
    // end
}
