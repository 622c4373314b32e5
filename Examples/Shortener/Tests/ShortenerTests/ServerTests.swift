import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import LoopbackClient
import NIOHTTP1
import Testing

@testable import ShortenerServer

/// The program over HTTP, with doubles for the clock, the randomness and the repository.
@Suite(.timeLimit(.minutes(10))) struct ServerTests {
    private let clock = ManualClock()

    @Test("A link is created, followed, counted and deleted")
    func life() async throws {
        try await Container.forServer(clock: clock).serve { client async throws in
            let target = "https://example.org/a?b=c"
            let code = try await client.create(target)
            for _ in 0..<3 {
                let reply = try await client.send("/\(code)")
                #expect(reply.status == 302)
                #expect(reply.headers["Location"] == [target])
                #expect(reply.headers["Cache-Control"] == ["no-store"])
            }
            await clock.sleepers(atLeast: 1)
            clock.move(by: .seconds(1))
            await clock.sleepers(atLeast: 2)
            let statistics = try await client.send("/api/links/\(code)")
            #expect(statistics.body.contains(#""hits":[{"#))
            #expect(statistics.body.contains(#""count":3"#))

            let path = "/api/links/\(code)"
            #expect(try await client.send(path, method: .DELETE).status == 401)
            #expect(try await client.send(path, method: .DELETE, headers: LoopbackClient.admin).status == 204)
            #expect(try await client.send(path, method: .DELETE, headers: LoopbackClient.admin).status == 404)
            #expect(try await client.send("/\(code)").status == 404)
        }
    }

    @Test("With the same randomness there are the same codes")
    func determinism() async throws {
        var codes: [String] = []
        for _ in 0..<2 { try await Container.forServer().serve { codes.append(try await $0.create()) } }
        #expect(codes[0] == codes[1])
    }

    @Test("Only the admin sees the list, and the inside only where that is allowed")
    func admin() async throws {
        try await Container.forServer().serve { client async throws in
            let code = try await client.create()
            #expect(try await client.send("/api/links").status == 401)
            let list = try await client.send("/api/links", headers: LoopbackClient.admin)
            #expect(list.body.contains(code))
            #expect(try await client.send("/inspect", headers: LoopbackClient.admin).status == 404)
        }
    }

    @Test("Where it's allowed, the admin gets the inspector's page, which shows no secret; others get nothing of it")
    func inspection() async throws {
        let container = Container.forServer()
        container.allowsInspection = true
        let password = ["Authorization": "Basic " + Data("admin:hunter22".utf8).base64EncodedString()] as HTTPHeaders
        try await container.serve { client async throws in
            let code = try await client.create()
            for path in ["/inspect", "/inspect/", "/inspect/graph.json", "/inspect/live"] {
                #expect(try await client.send(path).status == 401)
            }
            #expect(try await client.send("/inspect").headers["WWW-Authenticate"].first?.hasPrefix("Basic") == true)
            for headers in [password, LoopbackClient.admin] {
                let page = try await client.send("/inspect", headers: headers)
                #expect(page.status == 200)
                #expect(page.body.contains("HitCounter") && page.body.contains("inspect/live"))
                #expect(page.headers["Content-Security-Policy"].first?.contains("connect-src 'self'") == true)
                #expect(!page.body.contains("hunter22") && !page.body.contains(code))
            }
            // A browser sends a password along wherever a page sends it.
            #expect(try await client.send("/api/links", headers: password).status == 401)
            // Forbidden by a reload, it's closed at once.
            container.allowsInspection = false
            #expect(try await client.send("/inspect", headers: password).status == 404)
        }
    }

    @Test("A client that asks too often waits for the next minute, with new links and with wrong tokens")
    func limits() async throws {
        let container = Container.forServer(clock: clock)
        container.createsPerMinute = 2
        container.triesPerMinute = 1
        try await container.serve { client async throws in
            for _ in 0..<2 { _ = try await client.create() }
            let body = #"{"target": "https://example.org"}"#
            let refused = try await client.send("/api/links", method: .POST, body: body)
            #expect(refused.status == 429)
            #expect(!refused.headers["Retry-After"].isEmpty)
            #expect(try await client.send("/api/links", headers: ["Authorization": "Bearer x"]).status == 401)
            #expect(try await client.send("/api/links", headers: ["Authorization": "Bearer y"]).status == 429)
            // Another limit by a reload counts at once.
            container.createsPerMinute = 3
            _ = try await client.create()
            #expect(try await client.send("/api/links", method: .POST, body: body).status == 429)
            clock.move(by: .seconds(60))
            _ = try await client.create()
        }
    }

    @Test("Behind a proxy the last address counts, and otherwise the header is nobody's")
    func proxy() async throws {
        let container = Container.forServer()
        container.createsPerMinute = 1
        try await container.serve { client async throws in
            #expect(try await client.create(by: "10.0.0.1") == 201)
            #expect(try await client.create(by: "10.0.0.2") == 429)
            container.isBehindProxy = true
            #expect(try await client.create(by: "10.0.0.1, 10.0.0.3") == 201)
            #expect(try await client.create(by: "10.0.0.2, 10.0.0.3") == 429)
        }
    }

    @Test("A bad request is refused with a reason, and a long one unread")
    func badRequests() async throws {
        try await Container.forServer().serve { client async throws in
            for (body, status) in [
                (#"{"target": "javascript:alert(1)"}"#, 422), (#"{"target": "http://127.0.0.1/x"}"#, 422),
                ("{", 400), ("{}", 400), (#"{"target": "\#(String(repeating: "a", count: 9000))"}"#, 413),
            ] {
                let reply = try await client.send("/api/links", method: .POST, body: body)
                #expect(reply.status == status, "\(body.prefix(60))")
            }
            #expect(try await client.send("/nothing/here").status == 404)
            #expect(try await client.send("/not-a-code").status == 404)
        }
    }

    @Test("A client doesn't learn what went wrong inside")
    func hiddenFailure() async throws {
        struct Secret: Error { let detail = "password of the database" }
        let links = InMemoryLinks { throw Secret() }
        try await Container.forServer(links: links).serve { client async throws in
            let reply = try await client.send("/\(try await client.create())")
            #expect(reply.status == 500)
            #expect(reply.body.contains("Something went wrong (request "))
            #expect(!reply.body.contains("Secret") && !reply.body.contains("password"))
        }
    }

    @Test("Every answer has the headers that keep browsers in bounds", arguments: ["/", "/nothing/here", "/healthz"])
    func headers(path: String) async throws {
        let container = Container.forServer()
        container.baseURL = BaseURL(text: "https://go.example.com")
        try await container.serve { client async throws in
            let headers = try await client.send(path).headers
            #expect(headers["Content-Security-Policy"].first?.hasPrefix("default-src 'none'") == true)
            #expect(headers["X-Content-Type-Options"] == ["nosniff"])
            #expect(headers["Strict-Transport-Security"] == ["max-age=31536000"])
        }
    }

    @Test("Script and style are kept for as long as the rules of their path say")
    func cache() async throws {
        let container = Container.forServer()
        try await container.serve { client async throws in
            for path in ["/assets/style.css", "/assets/links.js"] {
                #expect(try await client.send(path).headers["Cache-Control"] == ["public, max-age=3600"])
            }
            container.assetSeconds = 5
            #expect(try await client.send("/assets/links.js").headers["Cache-Control"] == ["public, max-age=5"])
            #expect(try await client.send("/").headers["Cache-Control"] == ["no-store"])
        }
    }

    @Test("While something loads, the server is alive, isn't ready, and says what it waits for")
    func readiness() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let container = Container.forServer()
        container.replace(Links.self) { _ in
            for await _ in gate { break }
            return InMemoryLinks()
        }
        try await container.serve { client async throws in
            #expect(try await client.send("/healthz").status == 200)
            var waiting = try await client.send("/readyz")
            // The server and the warm-up begin together.
            while waiting.body.contains(#""loading":[]"#) { waiting = try await client.send("/readyz") }
            #expect(waiting.status == 503)
            #expect(waiting.body == #"{"finished":[],"isReady":false,"loading":["Links","HitCounter"]}"#)
            // A request that comes now waits for the same load.
            async let early = client.create()
            opener.yield()
            _ = try await early
            while try await client.send("/readyz").status == 503 { await Task.yield() }
            #expect(container.readiness.state.finished.sorted() == ["HitCounter", "Links"])
        }
    }

    @Test("If something can't be loaded, the program ends and says what")
    func failedWarmUp() async {
        struct NoDisk: Error {}
        let container = Container.forServer()
        container.replace(Links.self) { _ in throw NoDisk() }
        let error = await #expect(throws: WarmUpError.self) { try await Server(container).group().run() }
        #expect(error?.failures.map(\.path) == [["Links"], ["HitCounter", "Links"]])
    }
}

extension LoopbackClient {
    /// Creates a link through proxies that say who asks, and gives the status.
    fileprivate func create(by addresses: String) async throws -> Int {
        try await send(
            "/api/links", method: .POST, headers: ["X-Forwarded-For": addresses],
            body: #"{"target": "https://example.org"}"#
        ).status
    }
}

@Suite(.timeLimit(.minutes(10))) struct ShutdownTests {
    @Test("A request that outlives the patience of the program is answered all the same")
    func stubborn() async throws {
        let (searching, searches) = AsyncStream.makeStream(of: Void.self)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        // It doesn't listen to cancellation, as a call into C doesn't.
        let links = InMemoryLinks {
            searches.yield()
            await Task { for await _ in gate { break } }.value
        }
        let container = Container.forServer(links: links)
        container.patience = .milliseconds(50)
        let (closed, closing) = AsyncStream.makeStream(of: Void.self)
        container.onClose { closing.yield() }

        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let group = Server(container) { started.yield($0) }.group()
        async let running: Void = group.run()
        let port = try #require(await ports.first { _ in true })
        let client = LoopbackClient(port: port)
        let code = try await client.create("https://example.org/stubborn")

        async let reply = client.send("/\(code)")
        _ = await searching.first { _ in true }
        await group.triggerGracefulShutdown()
        // By now the group has lost its patience, and the container is closed.
        _ = await closed.first { _ in true }
        opener.yield()
        #expect(try await reply.headers["Location"] == ["https://example.org/stubborn"])
        try? await running
    }
}
