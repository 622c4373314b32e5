import Fugu
import FuguInspection

// The handler of a server's requests. Nothing declares a scope: where an instance lives follows from what its load reads.

extension ContainerKeys {
    var database: PropertyKey<String> { .init("database", defaultValue: "main.db") }
    var requestID: PropertyKey<String> { .init("request.id", defaultValue: "none") }
    var user: PropertyKey<String> { .init("user", defaultValue: "guest") }
}

/// Reads a value of the server, so all requests share one.
struct Pool: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> Pool {
        Pool(name: "pool \(numbers.next()) (\(container.database))")
    }
}

/// Reads the request's identifier, so each request has its own.
struct RequestLog: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> RequestLog {
        RequestLog(name: "log \(numbers.next()) (\(container.requestID))")
    }
}

/// Reads the pool and the user, so requests that override neither share one.
struct Account: Feature {
    static let numbers = Number()
    let name: String

    static func load(in container: any FeatureContainer) -> Account {
        Account(name: "account \(numbers.next()) (\(container.user), \(container[Pool.self].name))")
    }
}

/// Reads nothing, and declares that each request has its own.
struct Scratchpad: Feature {
    static let numbers = Number()
    let name: String

    static var home: Home { .local }
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

    /// Prints what a request uses.
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
    print("1. Two requests of guests: each has what reads its identifier, and they share the rest.")
    let first = server.request("request 1")
    server.handle(first)
    server.handle(server.request("request 2"))

    heading("2. One request overrides the user, another the database: the account reads both, the pool the second.")
    server.handle(server.request("request 3") { $0.user = "ada" })
    server.handle(server.request("request 4") { $0.database = "copy.db" })

    heading("3. When you reset an override, the request shares the instance again.")
    let fifth = server.request("request 5") { $0.user = "grace" }
    print("   with it     \(fifth[Account.self].name)")
    fifth.reset(\.user)
    print("   without it  \(fifth[Account.self].name)")

    heading("4. What the first request has, and what it shares.")
    print(first.graph.description.split(separator: "\n").map { "   \($0)" }.joined(separator: "\n"))

    heading("5. A thousand requests at once on a new server load one pool.")
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
