import Fugu
import FuguScopes
import Testing

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

extension Snippets {
    @Test("Families, law 11: a feature lives where its inputs live")
    func homes() async throws {
        try await run {
            let shop = Container()
            shop.database = "main"
            let ada = shop.child { $0.visitor = "Ada" }
            let preview = shop.child { $0.database = "draft" }

            print(ada[Basket.self].text)  // basket of Ada from the catalog of main
            print(preview[Basket.self].text)  // basket of nobody from the catalog of draft
            print(ada[Catalog.self] === preview[Catalog.self])  // false
            print(shop.child()[Catalog.self] === shop[Catalog.self])  // true
        }
    }

    @Test("Families: a decoration wraps what a container would load")
    func decoration() async throws {
        try await run {
            let shop = Container()
            shop.decorate(Catalog.self) { catalog, container in
                Catalog("\(catalog.text), shown to \(container.visitor)")
            }
            let ada = shop.child { $0.visitor = "Ada" }
            let preview = shop.child { $0.database = "draft" }
            print(ada[Catalog.self].text)  // catalog of main, shown to Ada
            print(preview[Catalog.self].text)  // catalog of draft, shown to nobody
        }
    }

    @Test("Families, law 14: rules configure scopes")
    func rules() async throws {
        try await run {
            let api = Container()
            api.configureScopes { $0.headers["User-Agent"] = "Shop" }
            api.configureScopes("/products/*/image") { $0.headers["Accept"] = "image/png" }
            api.configureScopes("/orders/**") { $0.attempts = 0 }

            print(api.scope("/products/3").headers["Accept"]!)  // application/json
            print(api.scope("/products/3/image").headers["Accept"]!)  // image/png
            print(api.scope("/products/3/image").headers["User-Agent"]!)  // Shop
            print(api.scope("/orders/7").attempts)  // 0
            print(api.attempts)  // 3
        }
    }

    @Test("Families, law 2: a copy with priorities")
    func copies() async throws {
        try await run {
            let standard = Container()
            standard.accent = "green"
            standard.margin = 12
            let warning = Container()
            warning.accent = "red"

            let copy = Container(copying: standard, warning)
            print(copy.accent)  // red
            print(copy.margin)  // 12
            standard.margin = 20
            print(copy.margin)  // 12
        }
    }
}
