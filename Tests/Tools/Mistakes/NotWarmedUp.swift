// program: Fugu: Users → Database: there is no loaded instance of Database. Load it first, with try await container.warmUp { $0.load(Database.self) }, in this container or above; or set it, with container.set(Database.self, to: …).
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
