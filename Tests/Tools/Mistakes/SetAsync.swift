// compiler: error: 'subscript(_:_:)' is unavailable: use set(_:to:)
// Cure: write `container.set(Database.self, to: Database())`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func set(_ container: Container) { container[Database.self] = Database() }
