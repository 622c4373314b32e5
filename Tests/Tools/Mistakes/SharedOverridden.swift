// program: Fugu: Database lives in one container for all below it (home: .shared), but the container that reads it, or one in between, overrides \.requestID, an input of Database: Database → Logger → \.requestID. Let Database read nothing that children set, pass what needs \.requestID to its functions instead, or declare no home, so that each child gets an instance of its own.
// Cure: let the database read a logger that knows nothing of requests.

import Fugu

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

struct Logger: Feature {
    let id: Int
    static func load(in container: any FeatureContainer) -> Logger { Logger(id: container.requestID) }
}

struct Database: Feature {
    static var home: Home { .shared }
    static func load(in container: any FeatureContainer) -> Database {
        _ = container[Logger.self]
        return Database()
    }
}

let server = Container()
_ = server.child { $0.requestID = 7 }[Database.self]
