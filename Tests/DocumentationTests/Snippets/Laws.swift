import Fugu
import Testing

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

extension Snippets {
    @Test("Laws: a cycle is reported with its path")
    func cycle() async throws {
        try await run {
            do {
                _ = try Container()[Session.self]
            } catch let error as LoadError {
                print(error.path)  // ["Session", "Account", "Session"]
            }
        }
    }

    @Test("Laws: an update reads what is pending, others what is published")
    func pending() async throws {
        try await run {
            let container = Container()
            container.update { changes in
                changes.unit = "K"
                print(changes.unit)  // K
                print(container.unit)  // °C
            }
            print(container.unit)  // K
        }
    }
}
