import Fugu
import FuguFoundation
import FuguTesting
import Hummingbird
import Testing

@testable import ShortenerServer

/// Tests that need no server.
@Suite struct RulesTests {
    @Test(
        "An address with http or https and a host is a target",
        arguments: ["https://example.org", "http://example.org:8080/a?b=c#d", "HTTPS://EXAMPLE.ORG", "http://[::1]/"])
    func goodTarget(text: String) throws {
        #expect(try Target(text, ownHosts: ["go.example.com"]).text == text)
    }

    @Test(
        "Scripts, credentials, addresses of this server and what is no address are refused",
        arguments: [
            "javascript:alert(1)", "data:text/html,hello", "file:///etc/passwd", "//example.org", "example.org", "",
            "https://", "https://user:password@example.org/", "https://user@example.org/",
            "https://go.example.com/abc", "https://GO.example.com.:443/", "https://example.org/\r\nSet-Cookie: a=b",
            "https://example.org/a b", "https://example.org/" + String(repeating: "a", count: 2048),
        ])
    func badTarget(text: String) {
        #expect(throws: Target.Refusal.self) { try Target(text, ownHosts: ["go.example.com"]) }
    }

    @Test(
        "Only the whole token makes an admin",
        arguments: [
            (nil, .guest), ("Bearer hunter22", .admin), ("Bearer hunter2", .impostor), ("Bearer hunter222", .impostor),
            ("Bearer hunter22hunter22", .impostor), ("Bearer ", .impostor), ("hunter22", .impostor),
        ] as [(String?, User)])
    func token(authorization: String?, user: User) {
        #expect(User(authorization: authorization, adminToken: "hunter22") == user)
    }

    @Test("Without a token, nobody is the admin", arguments: [nil, ""])
    func noToken(adminToken: String?) {
        #expect(User(authorization: "Bearer ", adminToken: adminToken) == .impostor)
    }

    @Test("The user lives in the request, and what is shared in the program")
    func homes() {
        let container = Container.forServer()
        let request = container.child { $0.authorization = "Bearer hunter22" }
        #expect(request.user == .admin)
        #expect(container.user == .guest)
        #expect(request.rateLimiter === container.rateLimiter)
    }

    @Test("Codes are drawn from the container's randomness and have no letters that look alike")
    func codes() {
        let randomness = Randomness.linearCongruential(withSeed: 1)
        let codes = (0..<1000).map { _ in CodeMaker.code(from: randomness) }
        #expect(Set(codes).count == codes.count)
        #expect(codes.allSatisfy { CodeMaker.isCode($0) })
        #expect(!CodeMaker.isCode("l0IO111"))
    }

    @Test("An address may ask so often in a minute, and again in the next")
    func rate() throws {
        let clock = ManualClock()
        let limiter = RateLimiter(date: .following(clock))
        for _ in 0..<2 { try limiter.admit("a", limit: 2) }
        clock.move(by: .seconds(50))
        let error = #expect(throws: HTTPError.self) { try limiter.admit("a", limit: 2) }
        #expect(error?.headers[.retryAfter] == "10")
        try limiter.admit("b", limit: 2)
        clock.move(by: .seconds(10))
        try limiter.admit("a", limit: 2)
    }

    @Test("Hits that can't be written are kept for the next time")
    func keptHits() async throws {
        let links = FailingOnce()
        let counter = HitCounter(links: links)
        counter.count("a", on: 1)
        await #expect(throws: CancellationError.self) { try await counter.flush() }
        counter.count("a", on: 1)
        try await counter.flush()
        #expect(await links.hits(of: "a") == [Hits(day: 1, count: 2)])
    }
}

/// Refuses the first hits.
private actor FailingOnce: LinkRepository {
    private let links = InMemoryLinks()
    private var hasFailed = false

    func add(_ hits: [Hit: Int]) throws {
        guard hasFailed else {
            hasFailed = true
            throw CancellationError()
        }
        links.add(hits)
    }

    func add(_ link: Link) -> Bool { links.add(link) }
    func link(_ code: String) async throws -> Link? { try await links.link(code) }
    func links(limit: Int) -> [Link] { links.links(limit: limit) }
    func delete(_ code: String) -> Bool { links.delete(code) }
    func hits(of code: String) -> [Hits] { links.hits(of: code) }
}
