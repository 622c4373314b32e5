import Fugu
import FuguConfiguration

extension ContainerKeys {
    var harbor: PropertyKey<String> { .init("ferry.harbor", defaultValue: "Bergen", help: "where ferries leave") }
    var seats: PropertyKey<Int> { .init("ferry.seats", defaultValue: 120) }
    var token: PropertyKey<String?> { .init("ferry.token", isSecret: true) }
}

struct Timetable: Feature, External {
    var departures: @Sendable (_ harbor: String) -> [String]

    static func load(in container: any FeatureContainer) -> Timetable {
        Timetable { harbor in harbor == "Bergen" ? ["08:00", "10:00", "18:00"] : ["09:00"] }
    }

    static var placeholder: Timetable {
        Timetable(departures: unimplemented("Timetable.departures", placeholder: []))
    }
}

struct Board: Feature {
    static var reloadsWhenInputsChange: Bool { true }
    let title: String
    let departures: [String]

    static func load(in container: any FeatureContainer) -> Board {
        let harbor = container.harbor
        let departures = container[Timetable.self].departures(harbor)
        return Board(title: "Departures from \(harbor)", departures: departures)
    }

    func next(after time: String) -> String? {
        departures.first { $0 > time }
    }
}
