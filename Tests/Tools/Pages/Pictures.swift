// Writes the pictures that `check` draws, in every format:
//
//     Pictures FOLDER              a shop of thirty features
//     Pictures FOLDER COUNT        a graph of so many features
import Foundation
import Fugu
import FuguInspection

@main enum Pictures {
    static func main() async throws {
        let folder = CommandLine.arguments[1]
        if let count = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) {
            return try write(Large(count).graph, to: folder)
        }
        let shop = try await Shop()
        try write(shop.root.graph, to: folder)
        withExtendedLifetime(shop) {}
    }

    private static func write(_ graph: ContainerGraph, to folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (text, type) in [(graph.mermaid, "mmd"), (graph.dot, "dot"), (graph.json, "json"), (graph.html, "html")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/graph.\(type)"))
        }
    }
}

// MARK: - A graph of many features, none of which is of interest

/// A graph of many features, none of which is of interest, to see how pictures and their times grow.
struct Large {
    private let root = Container()
    private let children: [Container]

    private static func mark(_ child: Int) -> PropertyKey<Int> {
        PropertyKey(defaultValue: 0, id: child, member: "tenant")
    }

    init(_ count: Int) {
        let root = root
        let children = (0..<max(1, count / 100)).map { number in
            root.child { $0[Self.mark(number)] = number }
        }
        self.children = children
        // Three of ten live in children. Each reads three of those before it, those nearby more often than others.
        var state: UInt64 = 42
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, limit)
        }
        var shared: [FeatureKey<Int>] = []
        var own: [[FeatureKey<Int>]] = children.map { _ in [] }
        for index in 0..<count {
            let child = index % 10 < 3 ? random(children.count) : nil
            let before = child.map { shared + own[$0].suffix(6) } ?? shared
            let inputs = before.isEmpty ? [] : (0..<3).map { _ in before[max(0, before.count - 1 - random(60))] }
            let key = FeatureKey<Int>(id: index, member: "service") { container in
                if let child { _ = container[Self.mark(child)] }
                return inputs.reduce(0) { $0 &+ container[$1] } &+ 1
            }
            if let child { own[child].append(key) } else { shared.append(key) }
            _ = (child.map { children[$0] } ?? root)[key]
        }
    }

    var graph: ContainerGraph { withExtendedLifetime(children) { root.graph } }
}

// MARK: - A shop of thirty features, as keys: what each reads is its declaration, so a line is enough for it

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
struct Payments: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Payments {
        _ = (container.network, container.requestLogger, container.paymentToken)
        return Payments()
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
