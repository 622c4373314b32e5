import Fugu

// A shop of thirty features, as keys: what each reads is its declaration, so a line is enough for it.

struct Refused: Error, CustomStringConvertible {
    let description: String
}

extension ContainerKeys {
    var databaseURL: PropertyKey<String> { .init(defaultValue: "file:shop.db") }
    var cacheSize: PropertyKey<Int> { .init(defaultValue: 500) }
    var paymentToken: PropertyKey<String> { .init(defaultValue: "tok-4711", isSecret: true) }
    var locale: PropertyKey<String> { .init(defaultValue: "en") }
    var theme: PropertyKey<String> { .init(defaultValue: "plain") }
    var logLevel: PropertyKey<String> { .init(defaultValue: "info") }
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
    var user: PropertyKey<String?> { .init(defaultValue: nil) }

    // Used by everything.
    var logger: FeatureKey<String> { .init { "logger at \($0.logLevel)" } }
    var metrics: FeatureKey<String> { .init { "metrics beside \($0.logger)" } }
    var files: FeatureKey<String> { .init(placeholder: { "no files" }) { _ in "files" } }
    var network: FeatureKey<String> { .init(placeholder: { "no network" }) { _ in "network" } }

    // Storage.
    var database: FeatureKey<String> { .init { "\($0.databaseURL) in \($0.files), \($0.logger)" } }
    var migrations: FeatureKey<Int> { .init { $0.database.count } }
    var cache: FeatureKey<Int> { .init { $0.cacheSize + $0.metrics.count } }
    var users: FeatureKey<Int> { .init { $0.database.count + $0.migrations } }
    var products: FeatureKey<Int> { .init { $0.database.count + $0.cache + $0.migrations } }
    var stock: FeatureKey<Int> { .init { $0.products } }
    var prices: FeatureKey<Int> { .init { $0.products + $0.cache } }

    // Content.
    var translations: FeatureKey<String> { .init { "\($0.locale) from \($0.files)" } }
    var style: FeatureKey<String> { .init(reloadsWhenInputsChange: true) { "style \($0.theme)" } }
    var templates: FeatureKey<String> { .init { "\($0.style), \($0.translations), \($0.files)" } }
    var renderer: FeatureKey<String> { .init { "\($0.templates), \($0.cache)" } }
    var mailer: FeatureKey<String> { .init { "\($0.network), \($0.templates)" } }

    // Sales.
    var shipping: FeatureKey<Int> { .init { $0.network.count + $0.stock } }
    var orders: FeatureKey<Int> { .init { $0.database.count + $0.prices + $0.stock + $0.shipping } }
    var search: FeatureKey<Int> { .init { $0.products + $0.translations.count } }
    var suggestions: FeatureKey<Int> { .init { $0.search + $0.cache } }

    // The features of each request.
    var requestLogger: FeatureKey<String> { .init { "\($0.logger) for request \($0.requestID)" } }
    var session: FeatureKey<String> { .init { "\($0.user ?? "nobody") among \($0.users), \($0.requestLogger)" } }
    var basket: FeatureKey<String> { .init { "basket of \($0.session), \($0.prices)" } }
    var scratchpad: FeatureKey<Int> { .init(home: .local) { _ in 1 } }
    var page: FeatureKey<String> { .init { "\($0.renderer), \($0.basket), \($0.suggestions), \($0.scratchpad)" } }
}

/// Where money comes in.
///
/// It refuses every payment.
struct Payments: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Payments {
        _ = (container.network, container.requestLogger)
        throw Refused(description: "the bank refuses \(container.paymentToken)")
    }
}

struct Checkout: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Checkout {
        _ = (container.orders, container.basket)
        _ = try container[Payments.self]
        return Checkout()
    }
}

struct Newsletter: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Newsletter {
        _ = (container.mailer, container.users)
        return Newsletter()
    }
}

/// The shop with two requests: one that looks around, and one that tries to pay.
struct Shop {
    let root = Container()
    let requests: [Container]

    init() async throws {
        requests = [1, 2].map { [root] number in
            root.child {
                $0.containerName = "request \(number)"
                $0.requestID = number
            }
        }
        root.logLevel = "debug"
        requests[1].user = "ada"
        _ = (requests[0].page, root.orders)
        _ = try await root[Newsletter.self]
        _ = requests[1].page
        _ = try? requests[1][Checkout.self]
        // The style reloads, and what was made from it goes stale.
        root.theme = "dark"
        _ = root.style
        root.locale = "eo"
    }
}
