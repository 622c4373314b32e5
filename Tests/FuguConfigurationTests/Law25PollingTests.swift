// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
}

@Suite(.timeLimit(.minutes(5))) struct Law25PollingTests {
    static let cases: [Case<Law25PollingTests>] = [
        Case("The loop reloads when a source has changed, and only then (law 25)", changed),
        Case("It polls no sooner than after the interval", interval),
        Case(
            "A mistake that is made again after it was put right is reported again, the same one in a new file is not",
            again),
        Case("Sources that are applied while the loop runs are watched too, also if there were none", appliedLater),
        Case("A source that cannot tell of changes is read when another has changed", unstamped),
        Case("Polling ends when the container is closed", closed),
        Case("Polling a container that is closed already ends at once and reports nothing", alreadyClosed),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25PollingTests>) async throws { try await stated.run(self) }

    private let container = Container()
    private let clock = ManualClock()
    private let reports: Log<String>

    init() {
        container.clock = ErasedClock(clock)
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

    func changed() async throws {
        let source = ChangingSource(["port": 1])
        try container.apply(source)
        await polling { step in
            await step()
            expect(container.port, equals: 1)
            expect(source.loads, equals: 1)
            source.change(to: ["port": 2])
            expect(container.port, equals: 1)
            await step()
            expect(container.port, equals: 2)
            expect(source.loads, equals: 2)
            await step()
            expect(source.loads, equals: 2)
        }
        expect(reports.all.isEmpty)
    }

    func interval() async throws {
        let source = ChangingSource(["port": 1])
        try container.apply(source)
        await polling { step in
            source.change(to: ["port": 2])
            clock.advance(by: .seconds(4.9))
            expect(clock.sleeperCount, equals: 1)
            expect(source.loads, equals: 1)
            await step()
            expect(container.port, equals: 2)
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
        expect(container.port, equals: 1)
        let intro = "Fugu: the sources changed but couldn't be reloaded; the last good values stay in effect:\n\(path)"
        try await polling { step in
            try write("port = ")
            for _ in 0..<3 { await step() }
            expect(container.port, equals: 1)
            expect(reports.all, equals: [intro + ":1:8: expected a value, found the end of the text"])
            try FileManager.default.removeItem(atPath: path)
            for _ in 0..<3 { await step() }
            expect(container.port, equals: 1)
            expect(reports.all.count, equals: 2)
            expect(reports.all.last, equals: intro + ": can't be read: the file doesn't exist")
            try write("port = 22")
            await step()
            expect(container.port, equals: 22)
            try write("port = 'x'")
            for _ in 0..<3 { await step() }
            expect(container.port, equals: 22)
            expect(reports.all.count, equals: 3)
            expect(reports.all.last, equals: intro + ":1:8: port: expected Int, found string \"x\"")
            try write("port = 3")
            await step()
            expect(container.port, equals: 3)
            expect(reports.all.count, equals: 3)
        }
    }

    func again() async throws {
        let source = ChangingSource(["port": 1])
        try container.apply(source)
        await polling { step in
            source.fail("broken")
            await step()
            source.fail("broken")
            await step()
            expect(reports.all.count, equals: 1)
            source.change(to: ["port": 2])
            await step()
            source.fail("broken")
            await step()
            expect(reports.all.count, equals: 2)
            expect(container.port, equals: 2)
        }
    }

    func appliedLater() async throws {
        let source = ChangingSource(["port": 1])
        try await polling { step in
            await step()
            try container.apply(source)
            source.change(to: ["port": 2])
            await step()
            expect(container.port, equals: 2)
        }
    }

    func unstamped() async throws {
        let counting = CountingSource(["port"])
        let source = ChangingSource([:])
        try container.apply(counting)
        try container.apply(source)
        expect(container.port, equals: 1)
        await polling { step in
            await step()
            expect(container.port, equals: 1)
            source.change(to: [:])
            await step()
            expect(container.port, equals: 2)
        }
    }

    @Test("Each source is published when it rests, and one that never rests is reported once")
    func restless() async throws {
        let restless = ChangingSource(["other": 0], name: "restless")
        let source = ChangingSource(["port": 1])
        try container.apply(restless)
        try container.apply(source)
        try await polling { step in
            var count: Int64 = 0
            func look() async {
                for _ in 0..<2 {
                    count += 1
                    restless.change(to: ["other": .integer(count)])
                    clock.advance(by: .seconds(5))
                    await clock.sleepers(atLeast: 1)
                }
            }
            source.change(to: ["port": 2])
            await look()
            expect(container.port, equals: 2)
            expect(reports.all.isEmpty)
            expect(restless.loads, equals: 1)
            for _ in 0..<20 { await look() }
            expect(reports.all.count == 1 && reports.all.first?.contains("restless") == true, "\(reports.all)")
            for _ in 0..<20 { await look() }
            expect(reports.all.count, equals: 1)
            await step()
            let other = try container.property("other", as: Int64.self)
            expect(other, equals: count)
        }
    }

    @Test("What has vanished leaves the last good values and is reported once, also where it's optional")
    func vanished() async throws {
        let folder = NSTemporaryDirectory() + "fugu-gone-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder + "/secrets", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + name))
        }
        try write("port = 1", "/app.toml")
        try write("2", "/secrets/other25p")
        let other = PropertyKey("other25p", defaultValue: 0)
        try container.apply(TOMLSource(path: folder + "/app.toml", isOptional: true))
        try container.apply(FolderSource(path: folder + "/secrets", isOptional: true).markingSecrets("x"))
        expect(container.port, equals: 1)
        expect(container[other], equals: 2)
        try await polling { step in
            try FileManager.default.removeItem(atPath: folder + "/app.toml")
            for _ in 0..<3 { await step() }
            expect(container.port, equals: 1)
            expect(reports.all.count, equals: 1)
            expect(reports.all.first?.contains("\(folder)/app.toml: "), equals: true)
            try write("port = 3", "/app.toml")
            await step()
            expect(container.port, equals: 3)
            expect(reports.all.count, equals: 1)
            try FileManager.default.removeItem(atPath: folder + "/secrets")
            for _ in 0..<3 { await step() }
            expect(container[other], equals: 2)
            expect(reports.all.count, equals: 2)
        }
        #expect(throws: PropertyErrors.self) { try container.reload() }
        expect(container[other], equals: 2)
    }

    @Test("A source that has vanished holds up no other")
    func vanishedBeside() async throws {
        let path = NSTemporaryDirectory() + "fugu-beside-\(UUID()).toml"
        try "other25b = 1".write(toFile: path, atomically: true, encoding: .utf8)
        let source = ChangingSource(["port": 1])
        let other = PropertyKey("other25b", defaultValue: 0)
        try container.apply(TOMLSource(path: path))
        try container.apply(source)
        expect(container.port, equals: 1)
        expect(container[other], equals: 1)
        try await polling { step in
            try FileManager.default.removeItem(atPath: path)
            await step()
            expect(reports.all.count == 1 && reports.all[0].contains("\(path): "), "\(reports.all)")
            source.change(to: ["port": 2])
            await step()
            expect(container.port, equals: 2)
            expect(container[other], equals: 1)
            expect(reports.all.count, equals: 1)
            source.fail("broken")
            for _ in 0..<2 { await step() }
            expect(container.port, equals: 2)
            expect(reports.all.count, equals: 2)
        }
    }

    @Test("A source that changes between polls, but never rests for long enough, is reported, too")
    func shortInterval() async throws {
        let restless = ChangingSource(["other": 0], name: "restless")
        try container.apply(restless)
        let task = Task { [container] in await container.reload(every: .milliseconds(10)) }
        await clock.sleepers(atLeast: 1)
        func look(_ times: Int) async {
            for _ in 0..<times {
                clock.advance(by: .milliseconds(10))
                await clock.sleepers(atLeast: 1)
            }
        }
        // Five polls without a change are needed.
        for count in 1..<200 {
            restless.change(to: ["other": .integer(Int64(count))])
            await look(3)
        }
        expect(restless.loads, equals: 1)
        expect(reports.all.count == 1 && reports.all[0].contains("restless"), "\(reports.all)")
        await look(6)
        expect(restless.loads, equals: 2)
        restless.fail("broken")
        await look(600)
        expect(reports.all.count, equals: 2, "\(reports.all)")
        task.cancel()
        await task.value
    }

    func closed() async throws {
        let source = ChangingSource(["port": 1])
        let child = container.child()
        try child.apply(source)
        let task = Task { await child.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        try await child.close()
        await task.value
        await child.reload(every: .seconds(5))
    }

    func alreadyClosed() async throws {
        let container = Container()
        let reports = container.reports()
        try container.apply(ChangingSource(["port": 1]))
        try await container.close()
        await container.reload(every: .seconds(5))
        expect(reports.all.isEmpty)
    }
}
#endif
