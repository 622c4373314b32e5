import Fugu

extension Properties {
    static let database = PropertyKey(defaultValue: "main")
    static let visitor = PropertyKey(defaultValue: "nobody")
}

final class Catalog: Feature, Sendable {
    let text: String
    init(_ text: String) { self.text = text }

    static func load(in container: any FeatureContainer) -> Catalog {
        Catalog("catalog of \(container.database)")
    }
}

final class Basket: Feature, Sendable {
    let text: String
    init(_ text: String) { self.text = text }

    static func load(in container: any FeatureContainer) -> Basket {
        Basket("basket of \(container.visitor) from the \(container[Catalog.self].text)")
    }
}

final class Notes: Feature, Sendable {
    static var isLocal: Bool { true }
    static func load(in container: any FeatureContainer) -> Notes { Notes() }
}

extension Properties {
    static let attempts = PropertyKey(defaultValue: 3)
    static let headers = PropertyKey(defaultValue: ["Accept": "application/json"])
}
