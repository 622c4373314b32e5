import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import InMemoryLogging
import LifecycleAdapter
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

extension ContainerKeys {
    var port: PropertyKey<Int> { .init("port", defaultValue: 8080) }
}

private struct Broken: Error, CustomStringConvertible {
    let description = "the disk is full"
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct LifecycleTests {
    private let container = Container()
    private let handler = InMemoryLogHandler()
    private var logger: Logger { Logger(label: "test") { [handler] _ in handler } }

    @Test("A graceful shutdown closes the container")
    func close() async throws {
        let closed = Log()
        container.onClose { closed.add("closed") }
        try await testGracefulShutdown { trigger in
            async let run: Void = ContainerService(container, logger: logger).run()
            trigger.triggerGracefulShutdown()
            try await run
        }
        #expect(await closed.next() == "closed")
    }

    @Test("A cancellation closes the container, too, and doesn't cut the closing short")
    func cancel() async throws {
        let closed = Log()
        container.onClose {
            try await Task.sleep(for: .milliseconds(1))
            closed.add("closed")
        }
        let task = Task { [container, logger] in try await ContainerService(container, logger: logger).run() }
        task.cancel()
        try await task.value
        #expect(await closed.next() == "closed")
    }

    @Test("An error while closing is logged and thrown")
    func failure() async throws {
        container.onClose { throw Broken() }
        let task = Task { [container, logger] in try await ContainerService(container, logger: logger).run() }
        task.cancel()
        await #expect(throws: CloseError.self) { try await task.value }
        #expect(handler.entries.map { "\($0.message)" } == ["Closing the container: the disk is full"])
    }

    @Test("A service that isn't to be interrupted ends by itself after its group was cancelled, or at its limit")
    func uninterrupted() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let log = Log()
        let inner = Work {
            // A service that ended by itself would be a failure of its group.
            try? await gracefulShutdown()
            await Task { for await _ in gate { break } }.value
        }
        let service = UninterruptedService(inner, limit: .seconds(60), logger: logger)
        let task = Task {
            try await service.run()
            log.add("ended")
        }
        task.cancel()
        opener.yield()
        try await task.value
        #expect(await log.next() == "ended")

        let stuck = Work { try? await Task.sleep(for: .seconds(3600)) }
        let limited = Task { [logger] in
            try await UninterruptedService(stuck, limit: .milliseconds(1), logger: logger).run()
        }
        limited.cancel()
        try? await limited.value
    }

    @Test("SIGHUP reads the files again; a file that is wrong changes nothing and is logged")
    func hangup() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "Reload-\(UUID()).toml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "port = 1".write(toFile: path, atomically: true, encoding: .utf8)
        try container.apply(TOMLSource(path: path))
        var ports = container.values(of: \.port).makeAsyncIterator()
        #expect(await ports.next() == 1)
        // Until the service has its own, the signal must not end the tests.
        signal(SIGHUP, SIG_IGN)
        let group = ServiceGroup(services: [ReloadService(container, logger: logger)], logger: logger)
        async let running: Void = group.run()

        try "port = 2".write(toFile: path, atomically: true, encoding: .utf8)
        try await hangUp { container.port == 2 }
        #expect(await ports.next() == 2)
        #expect(handler.entries.contains { "\($0.message)" == "Reloaded the configuration. Changed: port." })
        try "port = [".write(toFile: path, atomically: true, encoding: .utf8)
        try await hangUp { handler.entries.contains { $0.level == .error } }
        #expect(container.port == 2)
        #expect(handler.entries.last { $0.level == .error }.map { "\($0.message)".contains(path) } == true)

        await group.triggerGracefulShutdown()
        try await running
    }

    /// Sends the signal until it has been heard: nothing shows when the service listens.
    private func hangUp(until condition: () -> Bool) async throws {
        while !condition() {
            kill(getpid(), SIGHUP)
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("With an interval, a changed file is found without a signal")
    func polling() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "Polling-\(UUID()).toml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "port = 1".write(toFile: path, atomically: true, encoding: .utf8)
        try container.apply(TOMLSource(path: path))
        var ports = container.values(of: \.port).makeAsyncIterator()
        #expect(await ports.next() == 1)
        let clock = ManualClock()
        container.clock = AnyClock(clock)
        let group = ServiceGroup(
            services: [ReloadService(container, every: .seconds(1), logger: logger)], logger: logger)
        async let running: Void = group.run()

        try "port = 2".write(toFile: path, atomically: true, encoding: .utf8)
        // Two looks in a row must find the same file.
        for _ in 1...2 {
            await clock.sleepers(atLeast: 1)
            clock.move(by: .seconds(1))
        }
        #expect(await ports.next() == 2)

        await group.triggerGracefulShutdown()
        try await running
    }
}

/// A service that does something and ends.
private struct Work: Service {
    let body: @Sendable () async -> Void

    func run() async { await body() }
}
