import Fugu

/// What stands for the network, which no test may reach.
package struct Unreachable: Error {
    package init() {}
}

// As one who comes from swift-dependencies writes it: a struct of functions. The lines between the marks are the wiring.

// wiring of tides
package struct TideClient: Feature, External {
    package var height: @Sendable (_ port: String) async throws -> Double
    // end

    private static func measure(_ port: String) async throws -> Double { throw Unreachable() }

    // wiring of tides
    package static func load(in container: any FeatureContainer) -> TideClient { TideClient(height: measure) }
    package static var placeholder: TideClient { TideClient(height: unimplemented("TideClient.height")) }
    package static var preview: TideClient { TideClient { _ in 2.5 } }
}

extension ContainerKeys {
    package var tides: FeatureKey<TideClient> { .init(TideClient.self) }
    package var port: PropertyKey<String> { .init(defaultValue: "Bergen") }
    package var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}
// end

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

// wiring of berths
extension ContainerKeys {
    package var berths: FeatureKey<any BerthService> { .init(placeholder: { FixedBerths() }) { _ in LiveBerths() } }
    package var user: PropertyKey<String> { .init(defaultValue: "guest") }
    package var bookings: FeatureKey<Bookings> { .init { Bookings(user: $0.user, berths: $0.berths) } }
}
// end

// As one who comes from Swinject writes it: protocols, names, and an assembly. The lines between the marks are the wiring.

package protocol Radio: Sendable {
    func call(_ ship: String) async throws -> String
}

private struct ShortWave: Radio {
    func call(_ ship: String) async throws -> String { throw Unreachable() }
}

package struct Recording: Radio {
    let answer: String
    package init(_ answer: String) { self.answer = answer }
    package func call(_ ship: String) async throws -> String { "\(ship): \(answer)" }
}

/// Calls the ships, first by one radio and then by the other.
package final class PilotStation: Sendable {
    private let main: any Radio
    private let spare: any Radio

    init(main: any Radio, spare: any Radio) { (self.main, self.spare) = (main, spare) }

    package func guide(_ ship: String) async throws -> String {
        do { return try await main.call(ship) } catch { return try await spare.call(ship) }
    }
}

/// One ship's pilot, made with an argument.
package struct Pilot: Sendable {
    package let ship: String
    let station: PilotStation

    package func guide() async throws -> String { try await station.guide(ship) }
}

// wiring of pilots
package struct Pilots: Feature {
    let station: PilotStation

    package static func load(in container: any FeatureContainer) -> Pilots { Pilots(station: container.pilotStation) }
    package func callAsFunction(_ ship: String) -> Pilot { Pilot(ship: ship, station: station) }
}

extension ContainerKeys {
    package var mainRadio: FeatureKey<any Radio> { .init(placeholder: { Recording("silence") }) { _ in ShortWave() } }
    package var spareRadio: FeatureKey<any Radio> { .init(placeholder: { Recording("silence") }) { _ in ShortWave() } }
    package var pilotStation: FeatureKey<PilotStation> {
        .init { PilotStation(main: $0.mainRadio, spare: $0.spareRadio) }
    }
    package var pilot: FeatureKey<Pilots> { .init(Pilots.self) }
}
// end
