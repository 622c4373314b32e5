import Fugu

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

@MainActor final class Screen: MainActorFeature {
    let title: String
    init(title: String) { self.title = title }

    static func load(in container: any FeatureContainer) -> Screen { Screen(title: container[Station.self]) }
}
