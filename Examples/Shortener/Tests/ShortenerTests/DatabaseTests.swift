import Foundation
import Fugu
import FuguTesting
import GRDB
import HTTPTypes
import Hummingbird
import HummingbirdAdapter
import InMemoryLogging
import Logging
import LoggingAdapter
import LoopbackClient
import NIOEmbedded
import Testing

@testable import ShortenerServer

/// The program on a real file.
@Suite(.liveContainer, .timeLimit(.minutes(10))) struct DatabaseTests {
    private let folder: TemporaryFolder
    private let handler = InMemoryLogHandler()
    private let container = Container.current
    private var path: String { folder.path("links.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
        container.port = 0
        container.databasePath = path
        container.startLogging(label: "test") { [handler] _ in handler }
    }

    private func count(_ sql: String) throws -> Int {
        try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    @Test("Hits that were only counted so far are written when the container closes, before the database does")
    func closer() async throws {
        let links = try await container[Links.self]
        #expect(try await links.add(Link(code: "abcdefg", target: "https://example.org", created: 0)))
        let hits = try await container[HitCounter.self]
        for day in [7, 7, 8] { hits.count("abcdefg", on: day) }
        hits.count("deleted", on: 7)
        #expect(try await links.hits(of: "abcdefg") == [])
        try await container.close()
        #expect(try count("SELECT sum(count) FROM hit") == 3)
        #expect(try count("SELECT count(*) FROM hit") == 2)
        await #expect(throws: (any Error).self) { try await links.link("abcdefg") }
    }

    @Test("A code is given once, the newest links come first, and a deleted link takes its hits along")
    func repository() async throws {
        let links = try await container[Links.self]
        let codes = ["aaaaaaa", "bbbbbbb", "ccccccc"]
        for (created, code) in codes.enumerated() {
            #expect(try await links.add(Link(code: code, target: "https://example.org/\(code)", created: created)))
        }
        #expect(try await !links.add(Link(code: "aaaaaaa", target: "https://example.net", created: 9)))
        #expect(try await links.link("aaaaaaa")?.target == "https://example.org/aaaaaaa")
        #expect(try await links.links(limit: 2).map(\.code) == ["ccccccc", "bbbbbbb"])
        try await links.add([Hit(code: "aaaaaaa", day: 1): 2])
        try await links.add([Hit(code: "aaaaaaa", day: 1): 3])
        #expect(try await links.hits(of: "aaaaaaa") == [Hits(day: 1, count: 5)])
        #expect(try await links.delete("aaaaaaa"))
        #expect(try await links.hits(of: "aaaaaaa") == [])
        try await container.close()
    }

    @Test("A thousand requests that come at once, before anything is loaded, open the file once")
    func onePool() async throws {
        let responder = Server(container).responder
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<1000 {
                group.addTask {
                    let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/abcdef\(index % 8 + 2)")
                    let context = Connection(
                        source: ApplicationRequestContextSource(
                            channel: NIOAsyncTestingChannel(), logger: Logger(label: "test")))
                    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
                    return try await responder.respond(to: request, context: context).status.code
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(handler.entries.filter { $0.level >= .error } == [])
        #expect(statuses == Array(repeating: 404, count: 1000))
        #expect(handler.entries.filter { "\($0.message)".hasPrefix("Opened") }.count == 1)
        try await container.close()
    }
}

#if PostgreSQL
private let serverURL = ProcessInfo.processInfo.environment["SHORTENER_TEST_POSTGRES"]

/// The program on a PostgreSQL server: `bash Scripts/with-postgres swift test --traits PostgreSQL`.
@Suite(
    .liveContainer, .serialized, .enabled(if: serverURL != nil, "no server: see Scripts/with-postgres"),
    .timeLimit(.minutes(10)))
struct PostgresTests {
    /// A machine of several.
    private func machine() -> Container {
        let container = Container()
        container.port = 0
        container.databaseURL = serverURL
        container.startLogging(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return container
    }

    @Test(
        "It keeps links as the file does: a code is given once, the newest come first, hits add up and go with their link"
    )
    func repository() async throws {
        let container = machine()
        let links = try await container[Links.self]
        #expect(links is PostgresLinks)
        for code in ["aaaaaaa", "bbbbbbb", "ccccccc"] { _ = try await links.delete(code) }
        for (created, code) in ["aaaaaaa", "bbbbbbb", "ccccccc"].enumerated() {
            let target = "https://example.org/\(code)?q='\"$1;"
            #expect(try await links.add(Link(code: code, target: target, created: 4_000_000_000 + created)))
            #expect(try await links.link(code)?.target == target)
        }
        #expect(try await !links.add(Link(code: "aaaaaaa", target: "https://example.net", created: 9)))
        #expect(try await links.links(limit: 2).map(\.code) == ["ccccccc", "bbbbbbb"])
        try await links.add([Hit(code: "aaaaaaa", day: 1): 2, Hit(code: "deleted", day: 1): 7])
        try await links.add([Hit(code: "aaaaaaa", day: 1): 3, Hit(code: "aaaaaaa", day: 0): 1])
        #expect(try await links.hits(of: "aaaaaaa") == [Hits(day: 0, count: 1), Hits(day: 1, count: 5)])
        #expect(try await links.delete("aaaaaaa"))
        #expect(try await !links.delete("aaaaaaa"))
        #expect(try await links.hits(of: "aaaaaaa") == [])
        #expect(try await links.link("aaaaaaa") == nil)
        try await container.close()
        await #expect(throws: PostgresError.self) { try await links.link("aaaaaaa") }
    }

    @Test("Two machines share links and hits, and begin at once on an empty database")
    func machines() async throws {
        let (first, second) = (machine(), machine())
        async let other = second[Links.self]
        let (here, there) = (try await first[Links.self], try await other)
        let code = "ddddddd"
        _ = try await here.delete(code)
        #expect(try await here.add(Link(code: code, target: "https://example.org", created: 1)))
        #expect(try await there.link(code)?.target == "https://example.org")
        await withTaskGroup(of: Void.self) { group in
            for container in [first, second] {
                for _ in 0..<50 {
                    group.addTask {
                        let hits = try? await container[HitCounter.self]
                        hits?.count(code, on: 7)
                        try? await hits?.flush()
                    }
                }
            }
        }
        // The closers write the rest of a flush.
        try await first.close()
        #expect(try await there.hits(of: code) == [Hits(day: 7, count: 100)])
        try await second.close()
    }

    @Test("A server that can't be reached ends the program with its words, and no password")
    func unreachable() async throws {
        let container = machine()
        container.databaseURL = "postgres://someone:hunter22@127.0.0.1:1/nothing"
        let error = await #expect(throws: (any Error).self) { try await container[Links.self] }
        #expect("\(try #require(error))".contains("127.0.0.1"))
        #expect(!"\(try #require(error))".contains("hunter22"))
    }
}
#endif
