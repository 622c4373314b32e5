// compiler: error: 'async' subscript access in a function that does not support concurrency
// Cure: conform to AsyncFeature, too; or warm the database up and read it with `container.loaded(Database.self)`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

struct Users: Feature {
    static func load(in container: any FeatureContainer) -> Users {
        _ = container[Database.self]
        return Users()
    }
}
