import Fugu

// A server's request handler. Nothing here says where it lives: that follows from what each load reads.

extension ContainerKeys {
    var database: PropertyKey<String> { .init("database", defaultValue: "main.db") }
    var requestID: PropertyKey<String> { .init("request.id", defaultValue: "none") }
    var user: PropertyKey<String> { .init("user", defaultValue: "guest") }
}

/// Reads what the server has: there is one for all requests.
struct Pool: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> Pool {
        Pool(name: "pool \(numbers.next()) (\(container.database))")
    }
}

/// Reads the request's id: each request has its own.
struct RequestLog: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> RequestLog {
        RequestLog(name: "log \(numbers.next()) (\(container.requestID))")
    }
}

/// Reads the pool and who asks, so it follows the user: a request without one shares the guest's.
struct Account: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> Account {
        Account(name: "account \(numbers.next()) (\(container.user), \(container[Pool.self].name))")
    }
}

/// Reads nothing, and is each request's own all the same.
struct Scratchpad: Feature {
    static let numbers = Number()
    let name: String

    static var isLocal: Bool { true }
    static func load(in container: any FeatureContainer) -> Scratchpad {
        Scratchpad(name: "scratchpad \(numbers.next())")
    }
}

/// Handles requests, each in a child of the server's container.
struct Server {
    let container: Container

    func request(_ id: String, _ configure: (Container) -> Void = { _ in }) -> Container {
        container.child {
            $0.requestID = id
            configure($0)
        }
    }

    /// What a request uses.
    func handle(_ request: Container) {
        print("   \(request.requestID)")
        for name in [
            request[Pool.self].name, request[RequestLog.self].name, request[Account.self].name,
            request[Scratchpad.self].name,
        ] {
            print("      \(name)")
        }
    }
}

func showRequests() async {
    let server = Server(container: Container())
    print("1. Two requests of guests: what reads the request's id is theirs, the rest is shared.")
    let first = server.request("request 1")
    server.handle(first)
    server.handle(server.request("request 2"))

    heading("2. A user of her own, and a database of his own: the account follows either, the pool the second.")
    server.handle(server.request("request 3") { $0.user = "ada" })
    server.handle(server.request("request 4") { $0.database = "copy.db" })

    heading("3. When an override goes, the shared instance is back.")
    let fifth = server.request("request 5") { $0.user = "grace" }
    print("   with it     \(fifth[Account.self].name)")
    fifth.reset(\.user)
    print("   without it  \(fifth[Account.self].name)")

    heading("4. What the first request has, and what it shares.")
    print(first.graph.description.split(separator: "\n").map { "   \($0)" }.joined(separator: "\n"))

    heading("5. A thousand requests at once on a new server.")
    let (pools, logs) = (Pool.numbers.count, RequestLog.numbers.count)
    let busy = Server(container: Container())
    await withTaskGroup(of: Void.self) { group in
        for number in 1...1_000 {
            group.addTask {
                let request = busy.request("request \(number)")
                _ = (request[Pool.self], request[RequestLog.self])
            }
        }
    }
    print("   pools \(Pool.numbers.count - pools), logs \(RequestLog.numbers.count - logs)")
}
