#if PostgreSQL
import Foundation
import Fugu
import FuguTesting
import Logging
import LoggingAdapter
import LoopbackClient
import Testing

@testable import ShortenerServer

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
