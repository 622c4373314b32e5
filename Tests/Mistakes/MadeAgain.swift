// program: Fugu: Database opens something outside the container or registers closers, and is made once more for a child container, since that sets \.requestID: Database → Logger → \.requestID. If there is to be one for all, declare `static var isShared: Bool { true }` and make it from nothing that children set; if each child is to have its own, declare `static var isLocal: Bool { true }`.
// Cure: declare `isShared` and read a logger that knows nothing of requests.

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
