import Fugu

extension ContainerKeys {
    var harbor: PropertyKey<String> { .init(defaultValue: "Bergen") }
}

struct Board: Feature {
    let title: String

    static func load(in container: any FeatureContainer) -> Board {
        Board(title: "Departures from \(container.harbor)")
    }
}
