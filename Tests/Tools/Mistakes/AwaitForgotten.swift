// compiler: error: subscript access can throw but is not marked with 'try'
// Cure: write `try await container[Database.self]`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

func open(_ container: Container) async throws -> Database { container[Database.self] }
