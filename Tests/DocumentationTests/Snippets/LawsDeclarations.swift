import Fugu

extension ContainerKeys {
    var unit: PropertyKey<String> { .init(defaultValue: "°C") }
}

struct Session: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Session {
        _ = try container[Account.self]
        return Session()
    }
}

struct Account: ThrowingFeature {
    static func load(in container: any FeatureContainer) throws -> Account {
        _ = try container[Session.self]
        return Account()
    }
}
