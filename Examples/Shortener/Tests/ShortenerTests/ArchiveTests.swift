import Foundation
import Fugu
import FuguConfiguration
import FuguScopes
import FuguTesting
import GRDB
import LoopbackClient
import Synchronization
import Testing

@testable import ShortenerServer

/// The export of archives.
@Suite(.timeLimit(.minutes(10))) struct ArchiveTests {
    /// The names of the archives that were closed.
    private final class Closed: Sendable {
        private let names = Mutex<[String]>([])

        func add(_ name: String) { names.withLock { $0.append(name) } }
        func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
    }

    private let closed = Closed()

    /// An archive of two pages, of which the second comes when the gate opens.
    private func archives(until gate: @escaping @Sendable () async -> Void) -> Container {
        let container = Container.forServer()
        container.replace(Archive.self) { [closed] container in
            let name = try container.require(\.archive)
            container.onClose { closed.add(name) }
            return Archive { code, _ in
                if code == "b" { return [] }
                if code == "a" { await gate() }
                let target = closed.contains(name) ? "closed" : name
                return [Link(code: code == "a" ? "b" : "a", target: target, created: 0)]
            }
        }
        return container
    }

    @Test("An archive stays open while it's exported, whoever evicts it and however many others are opened")
    func eviction() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (first, began) = AsyncStream.makeStream(of: Void.self)
        let container = archives { if !Task.isCancelled { for await _ in gate { break } } }
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let server = Server(container) { started.yield($0) }
        let group = server.group()
        async let running: Void = group.run()
        let client = LoopbackClient(port: try #require(await ports.first { _ in true }))

        async let export = client.send("/api/archives/2023", headers: LoopbackClient.admin) { _ in began.yield() }
        _ = await first.first { _ in true }
        for name in ["2020", "2021", "2022"] {
            await server.archives.withChild(for: name) { _ = try? await $0[Archive.self] }
        }
        async let evicted: Void = server.archives.evict("2023")
        while await server.archives.values.contains("2023") { await Task.yield() }
        #expect(!closed.contains("2023"))
        opener.finish()
        #expect(try await export.body == "a\t0\t2023\nb\t0\t2023\n")
        await evicted
        #expect(closed.contains("2023"))
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test("A client that hangs up lets go of the archive")
    func hungUp() async throws {
        let container = archives {}
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let server = Server(container) { started.yield($0) }
        let group = server.group()
        async let running: Void = group.run()
        let client = LoopbackClient(port: try #require(await ports.first { _ in true }))
        _ = try? await client.send("/api/archives/2023", headers: LoopbackClient.admin) { _ in throw CancellationError()
        }
        await server.archives.evict("2023")
        #expect(closed.contains("2023"))
        await group.triggerGracefulShutdown()
        try await running
    }

    @Test("Only the admin exports, and only what there is", .liveContainer)
    func real() async throws {
        let folder = try TemporaryFolder()
        let pool = try Database.open(folder.path("2023.sqlite"))
        _ = try await SQLiteLinks(pool: pool).add(Link(code: "abcdefg", target: "https://example.org", created: 7))
        try pool.close()
        let container = Container.forServer()
        container.archiveFolder = folder.url.path
        container.makeArchivesReal()
        try await container.serve { client async throws in
            #expect(try await client.send("/api/archives/2023").status == 401)
            let export = try await client.send("/api/archives/2023", headers: LoopbackClient.admin)
            #expect(export.body == "abcdefg\t7\thttps://example.org\n")
            for name in ["2024", "..%2F2023", "a"] {
                #expect(try await client.send("/api/archives/\(name)", headers: LoopbackClient.admin).status == 404)
            }
        }
    }
}

extension Container {
    /// Loads the archives' files in a strict container.
    fileprivate func makeArchivesReal() { replace(Archive.self) { try await Archive.load(in: $0) } }
}
