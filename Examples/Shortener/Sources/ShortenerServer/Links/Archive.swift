import Fugu
import FuguConfiguration
import GRDB
import Hummingbird

extension ContainerKeys {
    /// The name of the archive that a child of the application has open.
    ///
    /// It has no default: what nobody has named must not open a file that somebody else gets.
    package var archive: PropertyKey<String> { .required() }
}

/// The links of a former year, in a file that is open while somebody exports them.
package struct Archive: AsyncFeature, External {
    package static var home: Home { .with(\.archive) }

    /// Returns links in the order of their codes, those after one.
    package var links: @Sendable (_ code: String, _ limit: Int) async throws -> [Link]

    package static func load(in container: any FeatureContainer) async throws -> Archive {
        let path = "\(container.archiveFolder)/\(try container.require(\.archive)).sqlite"
        let file = try open(path)
        container.onClose { try file.close() }
        return Archive { code, limit in
            try await file.read { database in
                try Row.fetchAll(
                    database, sql: "SELECT code, target, created FROM link WHERE code > ? ORDER BY code LIMIT ?",
                    arguments: [code, limit]
                ).map(Link.init)
            }
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        do {
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
            throw HTTPError(.notFound, message: "No such archive.")
        }
    }
}
