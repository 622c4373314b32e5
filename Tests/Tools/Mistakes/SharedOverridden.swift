// program: Fugu: Database has the home .shared, but was read in a child container that overrides its input \.requestID.
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
