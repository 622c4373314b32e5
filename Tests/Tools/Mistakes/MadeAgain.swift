// program: Fugu: Database loads again for a child container that overrides \.requestID. This can be expensive, because it reaches outside the process or registers teardown closures.
// Cure: declare the home `.shared` and read a logger that knows nothing of requests.

import Fugu

extension ContainerKeys {
    var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
}

struct Logger: Feature {
    let id: Int
    static func load(in container: any FeatureContainer) -> Logger { Logger(id: container.requestID) }
}

struct Database: Feature {
    static func load(in container: any FeatureContainer) -> Database {
        _ = container[Logger.self]
        container.onClose {}
        return Database()
    }
}

let server = Container()
_ = server[Database.self]
let request = server.child { $0.requestID = 7 }
_ = request[Database.self]
