import Fugu
import Harbor

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

// wiring
extension ContainerKeys {
    package var announcer: MainActorFeatureKey<any Announcer> { .init { _ in LoudSpeaker() } }
    package var screen: MainActorFeatureKey<BerthScreen> { .init { _ in BerthScreen() } }
}
// end

package final class BerthScreen {
    // wiring
    @Injected(\.bookings) private var bookings
    @MainActorInjected(\.announcer) private var announcer
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
    // wiring
    let container = Container()
    container.berths = FixedBerths("Pier 1")
    container.announcer = Quiet()
    return container.screen
    // end
}
