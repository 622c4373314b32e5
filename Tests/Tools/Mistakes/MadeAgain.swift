// program: Fugu: Database reaches outside the process or registers teardown closures, and loads again for a child container that overrides \.requestID: Database → Logger → \.requestID. For one instance in all, declare `static var home: Home { .shared }` and let it read nothing that children set; for an instance in each child, declare `static var home: Home { .local }`; for one where a key is set, name that key: `{ .with(…) }`.
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
