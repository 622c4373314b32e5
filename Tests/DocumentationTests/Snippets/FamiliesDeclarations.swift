import Fugu

extension ContainerKeys {
    var database: PropertyKey<String> { .init(defaultValue: "main") }
    var visitor: PropertyKey<String> { .init(defaultValue: "nobody") }
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

extension ContainerKeys {
    var attempts: PropertyKey<Int> { .init(defaultValue: 3) }
    var headers: PropertyKey<[String: String]> { .init(defaultValue: ["Accept": "application/json"]) }
}

// | `@Entry var accent = "blue"` in `EnvironmentValues` |
extension ContainerKeys {
    var accent: PropertyKey<String> { .init(defaultValue: "blue") }
    var margin: PropertyKey<Int> { .init(defaultValue: 8) }
}
