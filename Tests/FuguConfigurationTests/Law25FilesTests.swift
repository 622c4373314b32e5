import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

private let limit = PropertyKey("law25.limit", defaultValue: -1)

@Suite(.timeLimit(.minutes(5))) struct Law25FilesTests {
    static let cases: [Case<Law25FilesTests>] = [
        Case(
            "A source that changes while it is read is read again later, and what was read is dropped (law 25)",
            changedMeanwhile),
        Case("A read that failed is tried again at every look, though nothing has changed since (law 25)", triedAgain),
        Case("Polling neither reads nor decodes on the main actor, whoever calls (law 25)", offMainActor),
        Case("A pipe and a device are refused at once, and a path with a zero in it (law 25)", noFiles),
        Case("A link that leads back to itself is reported in the system's own words", loop),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law25FilesTests>) async throws { try await stated.run(self) }

    private let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    private func polling(
        _ container: Container, _ body: (_ step: () async -> Void) async throws -> Void
    ) async rethrows {
        let clock = ManualClock()
        container.clock = ErasedClock(clock)
        let task = Task { await container.reload(every: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        try await body {
            clock.advance(by: .seconds(1))
            await clock.sleepers(atLeast: 1)
        }
        task.cancel()
        await task.value
    }

    @Test("A file that grows between two looks is read only when it has stopped to (law 25)")
    func growing() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try write("# all\n[law25]\nlimit = 100\n")
        let container = Container()
        try container.apply(TOMLSource(path: path))
        let seen = Log<Int>()
        expect(container[limit], equals: 100)
        container.observe(limit) { seen.add($0) }
        try await polling(container) { step in
            try write("# half")
            await step()
            try write("# half of it")
            await step()
            expect(container[limit], equals: 100)
            try write("# half of it, and the rest\n[law25]\nlimit = 101\n")
            await step()
            expect(container[limit], equals: 100)
            await step()
            expect(container[limit], equals: 101)
        }
        expect(seen.all, equals: [101])
    }

    func changedMeanwhile() async throws {
        let container = Container()
        let box = Locked<ChangingSource?>(nil)
        let interrupts = Locked(0)
        let source = ChangingSource(["law25": ["limit": 1]]) {
            let isWritten = interrupts.withLock { count in
                count += 1
                return count == 2
            }
            if isWritten { box.withLock { $0 }?.change(to: ["law25": ["limit": 3]]) }
        }
        box.withLock { $0 = source }
        try container.apply(source)
        let seen = Log<Int>()
        container.observe(limit) { seen.add($0) }
        await polling(container) { step in
            source.change(to: ["law25": ["limit": 2]])
            for _ in 0..<5 { await step() }
        }
        expect(container[limit] == 3 && seen.all == [3])
    }

    func triedAgain() async throws {
        let container = Container()
        let reports = container.reports()
        let isLocked = Locked(false)
        let source = LockedSource(isLocked: isLocked)
        try container.apply(source)
        await polling(container) { step in
            isLocked.withLock { $0 = true }
            source.version.withLock { $0 = 2 }
            for _ in 0..<4 { await step() }
            expect(container[limit], equals: 1)
            expect(reports.all.count, equals: 1)
            isLocked.withLock { $0 = false }
            await step()
            expect(container[limit], equals: 2)
        }
    }

    func offMainActor() async throws {
        let container = Container()
        let threads = Log<Bool>()
        let source = ChangingSource(["law25": ["limit": 1]]) { threads.add(Thread.isMainThread) }
        try container.apply(source)
        let clock = ManualClock()
        container.clock = ErasedClock(clock)
        let task = Task { @MainActor in await container.reload(every: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        source.change(to: ["law25": ["limit": 2]])
        for _ in 0..<3 {
            clock.advance(by: .seconds(1))
            await clock.sleepers(atLeast: 1)
        }
        task.cancel()
        await task.value
        expect(container[limit], equals: 2)
        expect(threads.all.count, equals: 2)
        expect(threads.all.last, equals: false)
    }

    func noFiles() throws {
        let pipe = path + ".pipe"
        expect(mkfifo(pipe, 0o600), equals: 0)
        defer { unlink(pipe) }
        let noFile = "can't be read: it's a pipe or a device, not a regular file"
        expect(thrown { try Container().apply(TOMLSource(path: pipe)) }, equals: "\(pipe): \(noFile)")
        expect(thrown { try Container().apply(JSONSource(path: "/dev/zero")) }, equals: "/dev/zero: \(noFile)")
        try write("a = 1")
        defer { unlink(path) }
        expect(
            thrown { try Container().apply(TOMLSource(path: path + "\0x")) },
            equals: "\(path)\\u0000x: can't be read: the path contains a null character")
        #expect(throws: PropertyError.self) { try Container().apply(TOMLSource(path: path + "\0x", isOptional: true)) }
    }

    func loop() throws {
        expect(symlink(path, path), equals: 0)
        defer { unlink(path) }
        expect(
            thrown { try Container().apply(TOMLSource(path: path)) },
            equals: "\(path): can't be read: too many levels of symbolic links")
    }
}

/// A source that is there and cannot be read for a while.
private final class LockedSource: PropertySource {
    let name = "locked"
    let isLocked: Locked<Bool>
    let version = Locked<Int64>(1)

    init(isLocked: Locked<Bool>) { self.isLocked = isLocked }

    func load() throws(PropertyError) -> PropertySnapshot {
        guard !isLocked.withLock({ $0 }) else { throw PropertyError("locked", source: name) }
        return try PropertySnapshot(["law25": ["limit": .integer(version.withLock { $0 })]], source: name)
    }

    func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp(version.withLock { $0 }) }
}
