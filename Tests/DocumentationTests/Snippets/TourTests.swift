import Fugu
import FuguFoundation
import Testing

extension Snippets {
    @Test("README: a property is read, set and reset")
    func properties() async throws {
        try await run {
            let container = Container()
            print(container.timeout)  // 30
            container.timeout = 5
            print(container.timeout)  // 5
            container.reset(\.timeout)
            print(container.timeout)  // 30
            print(container[UserName.self])  // guest
            container[UserName.self] = "Ada"
            print(container[UserName.self])  // Ada
        }
    }

    @Test("README: a feature is made from properties")
    func features() async throws {
        try await run {
            let container = Container()
            container[UserName.self] = "Ada"
            print(container.greeter.text)  // Hello, Ada!
            print(container.farewell)  // Goodbye, Ada!
        }
    }

    @Test("README: a feature is swapped, replaced and reset")
    func swap() async throws {
        try await run {
            let container = Container()
            container.greeter = Greeter(text: "Ahoy!")
            print(container.greeter.text)  // Ahoy!
            container.replace(Greeter.self) { Greeter(text: "Ahoy, \($0[UserName.self])!") }
            print(container.greeter.text)  // Ahoy, guest!
            container.reset(Greeter.self)
            print(container.greeter.text)  // Hello, guest!

            container.timestamp = .constant(1_000_000_000)
            print(container.timestamp.now)  // 1000000000.0
            container.uuid = .incrementing
            print(container.uuid())  // 00000000-0000-0000-0000-000000000000
        }
    }

    @Test("README: an observer hears changes until the token is cancelled")
    func observe() async throws {
        try await run {
            let container = Container()
            let token = container.observe(\.timeout) { print("the timeout is now \($0)") }
            container.timeout = 10  // the timeout is now 10
            container.modify(\.timeout) { $0 += 1 }  // the timeout is now 11

            // Setting what is there already calls nobody.
            container.timeout = 11

            token.cancel()
            container.timeout = 12
        }
    }

    @Test("README: an update is heard once")
    func update() async throws {
        try await run {
            let container = Container()
            container.observe(\.timeout) { print("the timeout is now \($0)") }
            container.update { changes in
                changes.timeout = 1
                changes.timeout = 2
                changes[UserName.self] = "Ada"
            }  // the timeout is now 2
        }
    }

    @Test("README: two containers share nothing")
    func isolate() async throws {
        try await run {
            let one = Container()
            let two = Container()
            one.timeout = 5
            print(two.timeout)  // 30
        }
    }

    @Test("README: a feature lives where its inputs live")
    func children() async throws {
        try await run {
            let server = Container()
            let first = server.child { $0.requestNumber = 1 }
            let second = server.child { $0.requestNumber = 2 }
            print(first[RequestLog.self].prefix)  // request 1
            print(second[RequestLog.self].prefix)  // request 2
            print(first[Pool.self] === second[Pool.self])  // true
            print(server.ifLoaded(RequestLog.self) == nil)  // true
        }
    }

    @Test("README: scopes are configured by path")
    func scopes() async throws {
        try await run {
            let container = Container()
            container.configureScopes("/volcanos/*/status") { $0.timeout = 2 }
            print(container.scope("/volcanos/etna/status").timeout)  // 2
            print(container.scope("/volcanos/etna").timeout)  // 30
        }
    }

    @Test("README: closing runs what was registered beside what was opened")
    func close() async throws {
        try await run {
            let container = Container()
            container[UserName.self] = "ada"
            let connection = try await container[Connection.self]
            print(connection.address.text)  // ada@example.org
            try await container.close(deadline: .seconds(5))  // closed the connection of ada@example.org
        }
    }

    @Test("README: a warm-up names the way to what failed")
    func warmUp() async throws {
        try await run {
            let container = Container()
            do {
                try await container.warmUp {
                    $0.load(Connection.self)
                    $0.load(Pool.self)
                }
            } catch let error as WarmUpError {
                print(error.failures[0].path)  // ["Connection", "Address"]
            }
        }
    }

    @Test("README: a test binds a container of its own")
    func with() async throws {
        try await run {
            let report = Container.with {
                $0[UserName.self] = "Grace"
                $0.timestamp = .constant(86_400)
            } operation: {
                Doorman().report()
            }
            print(report)  // Hello, Grace! It is second 86400.
        }
    }
}
