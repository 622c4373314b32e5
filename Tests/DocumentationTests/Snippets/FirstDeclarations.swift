import Fugu

extension ContainerKeys {
    var city: PropertyKey<String> { .init(defaultValue: "Oslo") }
}

final class Sky: Feature, Sendable {
    static func load(in container: any FeatureContainer) -> Sky { Sky() }
}

struct Almanac: Feature {
    let sky: Sky
    let title: String

    static func load(in container: any FeatureContainer) -> Almanac {
        Almanac(sky: container[Sky.self], title: "The sky over \(container.city)")
    }
}
