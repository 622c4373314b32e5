// compiler: error: cannot form key path to subscript with 'throws' or 'async'
// Cure: keep the container and read where you can wait: `try await container.database`.

import Fugu

struct Database: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

extension ContainerKeys {
    var database: Database.Type { Database.self }
}

struct Users {
    @Injected(\.database) var database
}
