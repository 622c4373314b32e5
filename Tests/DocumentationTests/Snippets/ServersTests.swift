import Fugu
import Testing

extension Snippets {
    private typealias Page = ServersPage

    @Test("Servers: from the warm-up through requests to the end")
    func server() async throws {
        let page = Page()
        let container = Container()
        try await page.run(container) { container in
            #expect(container.ifLoaded(Page.Search.self) != nil)
            let response = try await page.respond(to: 7, in: container)
            #expect(response == "request 7 asks db://localhost")
            let connection = container.ifLoaded(Page.Database.self)?.connection
            let request = container.child { $0[Page.RequestID.self] = 8 }
            #expect(request[Page.RequestLog.self].id == 8)
            let shared = try await request[Page.Database.self].connection
            #expect(shared === connection)
        }
        #expect(transcriptSoFar.last == "db://localhost is closed")
        #expect(container[Page.DatabaseURL.self] == "db://localhost")
        await #expect(throws: LoadError.self) { try await container[Page.Search.self] }
    }

    @Test("Servers: what fails while serving is thrown after the container was closed")
    func failingServer() async throws {
        struct Stopped: Error {}
        let container = Container()
        await #expect(throws: Stopped.self) { try await Page().run(container) { _ in throw Stopped() } }
        #expect(transcriptSoFar.last == "db://localhost is closed")
        await #expect(throws: LoadError.self) { try await container[Page.Search.self] }
    }

    @Test("Servers: each tenant has a child that is kept while it's used")
    func tenants() async throws {
        func address(for tenant: String, in tenants: KeyedChildren<String>) async throws -> String {
            try await Page().address(for: tenant, in: tenants)
        }
        try await Container.with {
            $0.clock = ErasedClock(ManualClock())
        } operation: {
            try await run {
                let tenants = Container().children(by: \.tenant, capacity: 100, idleTime: .seconds(600))
                print(try await address(for: "acme", in: tenants))  // https://acme.example.org/9
                await tenants.evictAll()
            }
        }
    }

    @Test("Servers: the container of a streamed body lives until the stream ends")
    func streamedBody() async {
        let container = Container()
        var parts: [String] = []
        for await part in Page().stream(7, in: container) { parts.append(part) }
        #expect(parts == ["part 1 for request 7", "part 2 for request 7", "part 3 for request 7"])
    }
}
