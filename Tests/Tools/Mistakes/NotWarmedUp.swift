// program: Fugu: there is no loaded instance of Database.
// Cure: load it before: `try await container.warmUp { $0.load(Database.self) }`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

struct Users: Feature {
    static func load(in container: any FeatureContainer) -> Users {
        _ = container.loaded(Database.self)
        return Users()
    }
}

_ = Container()[Users.self]
