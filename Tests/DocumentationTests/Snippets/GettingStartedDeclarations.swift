import Fugu

extension ContainerKeys {
    var unit: PropertyKey<String> { .init(defaultValue: "°C") }
}

struct Station: Property {
    static var defaultValue: String { "Catania" }
}

struct Altitude: Property {
    static var defaultValue: Int? { 7 }
}

struct Thermometer: ExternalFeature {
    let read: @Sendable () -> Double

    static func load(in container: any FeatureContainer) -> Thermometer { Thermometer(read: readSensor) }
    static var placeholder: Thermometer { Thermometer(read: unimplemented("Thermometer.read", placeholder: 0)) }
}

struct Report: Feature {
    let thermometer: Thermometer
    let unit: String
    let place: String

    static func load(in container: any FeatureContainer) -> Report {
        Report(thermometer: container[Thermometer.self], unit: container.unit, place: container[Station.self])
    }

    var text: String { "\(place): \(thermometer.read()) \(unit)" }
}

struct Headline: Feature {
    let text: String

    static func load(in container: any FeatureContainer) -> Headline {
        Headline(text: "The weather in \(container[Station.self])")
    }

    static var reloadsWhenInputsChange: Bool { true }
}

@MainActor final class Sign {
    var text = ""

    func follow(_ container: Container) {
        container.observeOnMainActor(Headline.self) { [weak self] in self?.text = $0.text }
    }
}

struct Archive: AsyncFeature {
    let days: [Double]

    static func load(in container: any FeatureContainer) async throws -> Archive {
        let days = try await fetchDays(of: container[Station.self])
        container.onClose { print("the archive is closed") }
        return Archive(days: days)
    }
}

struct Announcer {
    @Injected(\.timestamp) var timestamp

    func announce() -> String { "\(Int(timestamp.now)): \(Container.current[Report.self].text)" }
}

func setUp(_ container: Container = .shared) {
    container[Station.self] = "Etna"
    container.handleReports { report in print(report) }
}

// What the page leaves to its reader.

nonisolated private let readSensor: @Sendable () -> Double = { 20 }

nonisolated private struct UnknownStation: Error, CustomStringConvertible {
    let name: String
    var description: String { "no station \(name)" }
}

nonisolated private func fetchDays(of station: String) async throws -> [Double] {
    guard station != "Atlantis" else { throw UnknownStation(name: station) }
    return [19, 21, 20]
}
