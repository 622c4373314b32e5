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

    static func load(in container: any FeatureContainer) -> Board {
        Board(title: "Departures from \(container.harbor)")
    }
}
