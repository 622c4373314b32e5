// program: Fugu: Session needs itself to load.
// Cure: let one of them read what it needs later, through the handle that its load was given.

import Fugu

struct Session: Feature {
    static func load(in container: any FeatureContainer) -> Session {
        _ = container[Account.self]
        return Session()
    }
}

struct Account: Feature {
    static func load(in container: any FeatureContainer) -> Account {
        _ = container[Session.self]
        return Account()
    }
}

_ = Container()[Session.self]
