// compiler: error: 'init(_:)' is unavailable: its load can suspend; keep the container and write try await container[…] where you need it
// Cure: keep the container and read where you can wait: `try await container[Database.self]`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

struct Users {
    @Injected(Database.self) var database
}
