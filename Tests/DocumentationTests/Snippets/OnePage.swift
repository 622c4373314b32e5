// The page shows the declarations without comments.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import Fugu
import FuguConfiguration
import FuguTesting
import Testing

extension ContainerKeys {
    public var currency: PropertyKey<String> { .init("shop.currency", defaultValue: "EUR") }
}

public struct Rates: Feature, External, Sendable {
    public var rate: @Sendable (_ currency: String) async throws -> Double

    public init(rate: @escaping @Sendable (_ currency: String) async throws -> Double) { self.rate = rate }

    public static func load(in container: any FeatureContainer) -> Rates { Rates { try await downloadRate($0) } }
    public static var placeholder: Rates { Rates(rate: unimplemented("Rates.rate")) }
}

struct PriceList: Feature {
    let rates: Rates
    let currency: String

    static func load(in container: any FeatureContainer) -> PriceList {
        PriceList(rates: container[Rates.self], currency: container.currency)
    }

    func price(_ euros: Double) async throws -> String { "\(euros * (try await rates.rate(currency))) \(currency)" }
}

func configure(_ app: Container) throws {
    try app.apply(TOMLSource(path: "app.toml", isOptional: true))
    try app.apply(EnvironmentSource(prefix: "APP"))
    try app.validate(\.currency)
}

func respond(in currency: String, of app: Container) async throws -> String {
    try await app.withChild {
        $0.currency = currency
    } operation: { request in
        try await request[PriceList.self].price(10)
    }
}

@Test(.container { $0[Rates.self] = Rates { _ in 2 } })
func price() async throws {
    #expect(try await respond(in: "USD", of: .current) == "20.0 USD")
}

@Test("One page: a program without a file and variables has its defaults")
func configuration() throws {
    let app = Container()
    try configure(app)
    #expect(app.currency == "EUR")
    try app.apply(EnvironmentSource(prefix: "APP", environment: ["APP_SHOP_CURRENCY": "NOK"]))
    #expect(app.currency == "NOK")
    try app.apply(TOMLSource(text: "[shop]\ncurrency = \"SEK\"", name: "app.toml"))
    #expect(app.currency == "SEK")
}

// Declarations that the page leaves to its reader.

nonisolated private func downloadRate(_ currency: String) async throws -> Double { 1 }
