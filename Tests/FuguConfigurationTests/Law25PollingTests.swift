import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
}

@Suite(.timeLimit(.minutes(5))) struct Law25PollingTests {
    private let container = Container()
    private let clock = ManualClock()
    private let reports: Log<String>

    init() {
        container.clock = AnyClock(clock)
        reports = container.reports()
    }

    /// Runs the loop; `step` lets it look twice, since what has changed counts only once it stays as it is.
    private func polling(_ body: (_ step: () async -> Void) async throws -> Void) async rethrows {
        let task = Task { [container] in await container.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        try await body {
            for _ in 0..<2 {
                clock.advance(by: .seconds(5))
                await clock.sleepers(atLeast: 1)
            }
        }
        task.cancel()
        await task.value
    }

    @Test("The loop reloads when a source has changed, and only then (law 25)")
    func changed() async throws {
        let source = ChangingSource(["port": 1])
        try container.apply(source)
        await polling { step in
            await step()
            #expect(container.port == 1 && source.loads == 1)
            source.change(to: ["port": 2])
            #expect(container.port == 1)
            await step()
            #expect(container.port == 2 && source.loads == 2)
            await step()
            #expect(source.loads == 2)
        }
        #expect(reports.all.isEmpty)
    }

    @Test("It polls no sooner than after the interval")
    func interval() async throws {
        let source = ChangingSource(["port": 1])
        try container.apply(source)
        await polling { step in
            source.change(to: ["port": 2])
            clock.advance(by: .seconds(4.9))
            #expect(clock.sleeperCount == 1 && source.loads == 1)
            await step()
            #expect(container.port == 2)
        }
    }

    @Test(
        "A file that is broken or has gone leaves the last good values, is reported once and read again when it is back"
    )
    func files() async throws {
        let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }
        try write("port = 1")
        try container.apply(TOMLSource(path: path))
        #expect(container.port == 1)
        let intro = "Fugu: the sources changed but couldn't be reloaded; the last good values stay in effect:\n\(path)"
        try await polling { step in
            try write("port = ")
            for _ in 0..<3 { await step() }
            #expect(container.port == 1)
            #expect(reports.all == [intro + ":1:8: expected a value, found the end of the text"])
            try FileManager.default.removeItem(atPath: path)
            for _ in 0..<3 { await step() }
            #expect(container.port == 1 && reports.all.count == 2)
            #expect(reports.all.last == intro + ": can't be read: the file doesn't exist")
            try write("port = 22")
            await step()
            #expect(container.port == 22)
            try write("port = 'x'")
            for _ in 0..<3 { await step() }
            #expect(container.port == 22 && reports.all.count == 3)
            #expect(reports.all.last == intro + ":1:8: port: expected Int, found string \"x\"")
            try write("port = 3")
            await step()
            #expect(container.port == 3 && reports.all.count == 3)
        }
    }

    @Test("A mistake that is made again after it was put right is reported again, the same one in a new file is not")
    func again() async throws {
        let source = ChangingSource(["port": 1])
        try container.apply(source)
        await polling { step in
            source.fail("broken")
            await step()
            source.fail("broken")
            await step()
            #expect(reports.all.count == 1)
            source.change(to: ["port": 2])
            await step()
            source.fail("broken")
            await step()
            #expect(reports.all.count == 2 && container.port == 2)
        }
    }

    @Test("Sources that are applied while the loop runs are watched too, also if there were none")
    func appliedLater() async throws {
        let source = ChangingSource(["port": 1])
        try await polling { step in
            await step()
            try container.apply(source)
            source.change(to: ["port": 2])
            await step()
            #expect(container.port == 2)
        }
    }

    @Test("A source that cannot tell of changes is read when another has changed")
    func unstamped() async throws {
        let counting = CountingSource(["port"])
        let source = ChangingSource([:])
        try container.apply(counting)
        try container.apply(source)
        #expect(container.port == 1)
        await polling { step in
            await step()
            #expect(container.port == 1)
            source.change(to: [:])
            await step()
            #expect(container.port == 2)
        }
    }
}
