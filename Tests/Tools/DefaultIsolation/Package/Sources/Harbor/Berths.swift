import Fugu

// As one who comes from Factory writes it: protocols, and a member for each. The lines between the marks are the wiring.

package protocol BerthService: Sendable {
    func free() async throws -> [String]
}

private struct LiveBerths: BerthService {
    func free() async throws -> [String] { throw Unreachable() }
}

package struct FixedBerths: BerthService {
    let names: [String]
    package init(_ names: String...) { self.names = names }
    package func free() async throws -> [String] { names }
}

/// The bookings of the user who is signed in.
package final class Bookings: Sendable {
    package let user: String
    private let berths: any BerthService

    init(user: String, berths: any BerthService) { (self.user, self.berths) = (user, berths) }

    package func next() async throws -> String { "\(try await berths.free().first ?? "no berth") for \(user)" }
}

// wiring
extension ContainerKeys {
    package var berths: FeatureKey<any BerthService> { .init(placeholder: { FixedBerths() }) { _ in LiveBerths() } }
    package var user: PropertyKey<String> { .init(defaultValue: "guest") }
    package var bookings: FeatureKey<Bookings> { .init { Bookings(user: $0.user, berths: $0.berths) } }
}
// end
