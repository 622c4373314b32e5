import Fugu

extension ContainerKeys {
    var harbor: PropertyKey<String> { .init(defaultValue: "Bergen") }
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
