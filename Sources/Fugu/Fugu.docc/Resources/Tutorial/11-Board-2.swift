import Fugu

extension ContainerKeys {
    var harbor: PropertyKey<String> { .init(defaultValue: "Bergen") }
}

struct Timetable: Feature {
    var departures: @Sendable (_ harbor: String) -> [String]

    static func load(in container: any FeatureContainer) -> Timetable {
        Timetable { harbor in harbor == "Bergen" ? ["08:00", "10:00", "18:00"] : ["09:00"] }
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
}
