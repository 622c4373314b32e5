import Fugu

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

// wiring
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
