import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Logging
import LoggingAdapter
import LoopbackClient
import NIOHTTP1
import Synchronization
import Testing

@testable import ShortenerServer

/// Links in memory, which can be made to fail or to wait.
final class InMemoryLinks: LinkRepository {
    private struct State {
        var links: [String: Link] = [:]
        var hits: [Hit: Int] = [:]
    }

    private let state = Mutex(State())
    /// Runs before each search.
    let beforeSearch: @Sendable () async throws -> Void

    init(beforeSearch: @escaping @Sendable () async throws -> Void = {}) { self.beforeSearch = beforeSearch }

    func add(_ link: Link) -> Bool {
        state.withLock { state in
            guard state.links[link.code] == nil else { return false }
            state.links[link.code] = link
            return true
        }
    }

    func link(_ code: String) async throws -> Link? {
        try await beforeSearch()
        return state.withLock { $0.links[code] }
    }

    func links(limit: Int) -> [Link] {
        state.withLock { Array($0.links.values.sorted { $0.created > $1.created }.prefix(limit)) }
    }

    func delete(_ code: String) -> Bool { state.withLock { $0.links.removeValue(forKey: code) != nil } }

    func add(_ hits: [Hit: Int]) { state.withLock { $0.hits.merge(hits, uniquingKeysWith: +) } }

    func hits(of code: String) -> [Hits] {
        state.withLock { state in
            state.hits.filter { $0.key.code == code }.map { Hits(day: $0.key.day, count: $0.value) }
                .sorted { $0.day < $1.day }
        }
    }
}

extension Container {
    /// A strict container for the server, with doubles for all that reaches outside.
    static func forServer(links: InMemoryLinks = InMemoryLinks(), clock: ManualClock = ManualClock()) -> Container {
        .strict {
            $0.port = 0
            $0.adminToken = "hunter22"
            $0.set(Links.self, to: links)
            $0.clock = AnyClock(clock)
            // Closing releases what was set, and a request may outlive that: a loader stays.
            $0.replace(\.date) { _ in .following(clock, from: Date(timeIntervalSince1970: 1_000_000_000)) }
            $0.randomness = .linearCongruential(withSeed: 1)
            $0.startLogging(label: "test") { _ in SwiftLogNoOpLogHandler() }
        }
    }

    /// Runs the whole program, on a free port, for as long as the operation takes.
    func serve(_ operation: (LoopbackClient) async throws -> Void) async throws {
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let group = Server(self) { started.yield($0) }.group()
        async let running: Void = group.run()
        for await port in ports {
            try await operation(LoopbackClient(port: port))
            break
        }
        await group.triggerGracefulShutdown()
        try await running
    }
}

extension LoopbackClient {
    static let admin: HTTPHeaders = ["Authorization": "Bearer hunter22"]

    /// Creates a link and gives its code.
    func create(_ target: String = "https://example.org/") async throws -> String {
        let reply = try await send("/api/links", method: .POST, body: #"{"target": "\#(target)"}"#)
        let created = try JSONDecoder().decode([String: String].self, from: Data(reply.body.utf8))
        return try #require(created["code"])
    }
}

/// A new folder that is deleted, with its contents, when its last reference is released.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "Shortener-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }
}
