// compiler: error: 'modify' is unavailable: read the feature, change the copy, and use set(_:to:)
// Cure: write `container.set(Database.self, to: …)`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func change(_ container: Container) { container.modify(Database.self) { $0 = Database() } }
