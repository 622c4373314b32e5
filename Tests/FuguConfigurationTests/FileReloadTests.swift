import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

private let limit = PropertyKey("law25.limit", defaultValue: -1)

@Suite("Sources that change while they are looked at (law 16)", .timeLimit(.minutes(5))) struct FileReloadTests {
    private let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"
}

extension FileReloadTests {
    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

    private func polling(
        _ container: Container, _ body: (_ step: () async -> Void) async throws -> Void
    ) async rethrows {
        let clock = ManualClock()
        container.clock = AnyClock(clock)
        let task = Task { await container.reload(every: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        try await body {
            clock.move(by: .seconds(1))
            await clock.sleepers(atLeast: 1)
        }
        task.cancel()
        await task.value
    }

    @Test("A file that grows between two looks is read only when it has stopped to (law 16)")
    func growing() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try write("# all\n[law25]\nlimit = 100\n")
        let container = Container()
        try container.apply(TOMLSource(path: path))
        let seen = Log<Int>()
        expect(container[limit], equals: 100)
        container.observe({ _ in limit }) { seen.add($0) }
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

    @Test("A source that changes while it is read is read again later, and what was read is dropped (law 16)")
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
        container.observe({ _ in limit }) { seen.add($0) }
        await polling(container) { step in
            source.change(to: ["law25": ["limit": 2]])
            for _ in 0..<5 { await step() }
        }
        expect(container[limit] == 3 && seen.all == [3])
    }

    @Test("A read that failed is tried again at every look, though nothing has changed since (law 16)")
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

    @Test("Polling neither reads nor decodes on the main actor, whoever calls (law 16)")
    func offMainActor() async throws {
        let container = Container()
        let threads = Log<Bool>()
        let source = ChangingSource(["law25": ["limit": 1]]) { threads.add(Thread.isMainThread) }
        try container.apply(source)
        let clock = ManualClock()
        container.clock = AnyClock(clock)
        let task = Task { @MainActor in await container.reload(every: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        source.change(to: ["law25": ["limit": 2]])
        for _ in 0..<3 {
            clock.move(by: .seconds(1))
            await clock.sleepers(atLeast: 1)
        }
        task.cancel()
        await task.value
        expect(container[limit], equals: 2)
        expect(threads.all.count, equals: 2)
        expect(threads.all.last, equals: false)
    }

    @Test(
        "A path with a zero in it is refused, and a link that leads back to itself reported in the system's words (law 16)"
    )
    func noFiles() throws {
        // A path with a zero in it is refused.
        do {
            try write("a = 1")
            defer { unlink(path) }
            expect(
                thrown { try Container().apply(TOMLSource(path: path + "\0x")) },
                equals: "\(path)\\u0000x: can't be read: the path contains a null character")
            #expect(throws: PropertyError.self) {
                try Container().apply(TOMLSource(path: path + "\0x", isOptional: true))
            }
        }
        // A link that leads back to itself is reported in the system's own words.
        do {
            expect(symlink(path, path), equals: 0)
            defer { unlink(path) }
            expect(
                thrown { try Container().apply(TOMLSource(path: path)) },
                equals: "\(path): can't be read: too many levels of symbolic links")
        }
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
        return try PropertySnapshot(["law25": ["limit": .integer(Int128(version.withLock { $0 }))]], source: name)
    }

    func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp(version.withLock { $0 }) }
}

extension ContainerKeys {
    fileprivate var folderWord: PropertyKey<String?> { .init("word25") }
    fileprivate var folderOther: PropertyKey<String?> { .init("other25") }
    fileprivate var folderData: PropertyKey<Data?> { .init("store25") }
    fileprivate var folderBytes: PropertyKey<[UInt8]?> { .init("bytes25") }
}

/// A folder of values: what is odd about one file concerns its name alone (law 16).
struct FileFolderTests {
    private let folder = NSTemporaryDirectory() + "fugu-odd-\(UUID())"
    private let container = Container()

    private func write(_ bytes: [UInt8], to name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    private func cleanUp() { try? FileManager.default.removeItem(atPath: folder) }

    @Test("Bytes that differ only in the last line break are a change, and the text without it is none")
    func lineBreak() throws {
        defer { cleanUp() }
        try write(Array("a".utf8), to: "bytes25")
        try write(Array("a".utf8), to: "word25")
        try container.apply(FolderSource(path: folder))
        let (bytes, words) = (Log<Int>(), Log<String?>())
        container.observe(\.folderBytes) { bytes.add($0?.count ?? 0) }
        container.observe(\.folderWord) { words.add($0) }
        expect(container.folderBytes?.count, equals: 1)
        expect(container.folderWord, equals: "a")
        for name in ["bytes25", "word25"] { try write(Array("a\n".utf8), to: name) }
        try container.reload()
        expect(container.folderBytes == Array("a\n".utf8) && bytes.all == [2] && words.all.isEmpty)
    }

    @Test("A file that isn't text is data, exactly as it is, and a mistake for a key of text")
    func binary() throws {
        defer { cleanUp() }
        try write([0x30, 0x82, 0xFF, 0x00, 0x0A], to: "store25")
        try write(Array("text\n".utf8), to: "bytes25")
        try write(Array("hunter2\n".utf8), to: "word25")
        try write([0xFF], to: "other25")
        let reports = container.reports()
        try container.apply(FolderSource(path: folder))
        expect(container.folderWord, equals: "hunter2")
        expect(container.folderOther == nil)
        expect(container.folderData, equals: Data([0x30, 0x82, 0xFF, 0x00, 0x0A]))
        expect(container.folderBytes, equals: Array("text\n".utf8))
        expect(reports.all, equals: ["\(folder)/other25: other25: expected String, found bytes that aren't UTF-8 text"])
        expect(
            thrown { try container.validate(\.folderWord, \.folderOther, \.folderData) },
            equals: "\(folder)/other25: other25: expected String, found bytes that aren't UTF-8 text")
    }

    @Test(
        "A file that cannot be read, or is there twice, is a mistake for its name alone; one in place of a folder is a mistake"
    )
    func odd() throws {
        // A file that can't be read, or is there twice, is a mistake for its name alone.
        do {
            defer { cleanUp() }
            try write(Array("hunter2".utf8), to: "word25")
            try write(Array("a".utf8), to: "other25")
            try write(Array("b".utf8), to: "OTHER25")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/store25", withDestinationPath: folder + "/none")
            try container.apply(FolderSource(path: folder))
            let reports = container.reports()
            expect(container.folderWord, equals: "hunter2")
            expect(container.folderOther == nil)
            expect(container.folderData == nil)
            expect(reports.all.count, equals: 2)
            let text = thrown { try container.validate(\.folderWord, \.folderOther, \.folderData) }
            expect(text.split(separator: "\n").count, equals: 2)
            expect(text.contains("spelled differently") && text.contains("store25: can't be read"), "\(text)")
        }
        // A file in place of a folder is a mistake, optional or not.
        do {
            let container = Container()
            defer { cleanUp() }
            try write([], to: "file")
            for isOptional in [false, true] {
                let text = thrown { try container.apply(FolderSource(path: folder + "/file", isOptional: isOptional)) }
                expect(text, equals: "\(folder)/file: can't be read: it isn't a directory")
            }
            try container.apply(FolderSource(path: folder + "/none", isOptional: true))
        }
    }
}

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.

#if DEBUG || UNOPTIMIZED

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
}

@Suite("Polling reloads what has changed (law 16)", .timeLimit(.minutes(5))) struct FilePollingTests {
    private let container = Container()
    private let clock = ManualClock()
    private let reports: Log<String>
    init() {
        container.clock = AnyClock(clock)
        reports = container.reports()
    }
}

extension FilePollingTests {
    /// Runs the loop; `step` lets it look twice, since what has changed counts only once it stays as it is.
    private func polling(_ body: (_ step: () async -> Void) async throws -> Void) async rethrows {
        let task = Task { [container] in await container.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        try await body {
            for _ in 0..<2 {
                clock.move(by: .seconds(5))
                await clock.sleepers(atLeast: 1)
            }
        }
        task.cancel()
        await task.value
    }

    @Test("The loop reloads when a source has changed, and only then, no sooner than after the interval (law 16)")
    func changed() async throws {
        // The loop reloads when a source has changed, and only then.
        do {
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
        // It polls no sooner than after the interval.
        do {
            let fresh = Self()
            let (container, clock) = (fresh.container, fresh.clock)
            let source = ChangingSource(["port": 1])
            try container.apply(source)
            await fresh.polling { step in
                source.change(to: ["port": 2])
                clock.move(by: .seconds(4.9))
                expect(clock.sleeperCount, equals: 1)
                expect(source.loads, equals: 1)
                await step()
                expect(container.port, equals: 2)
            }
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

    @Test("A mistake that is made again after it was put right is reported again, the same one in a new file is not")
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

    @Test("Sources that are applied while the loop runs are watched too, also if there were none")
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

    @Test("A source that cannot tell of changes is read when another has changed")
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
            var count: Int128 = 0
            func look() async {
                for _ in 0..<2 {
                    count += 1
                    restless.change(to: ["other": .integer(count)])
                    clock.move(by: .seconds(5))
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
            let other = try container.property("other", as: Int128.self)
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

    @Test(
        "A source that changes between polls, but never rests for long enough, is reported, too",
        .enabled(if: rounds(1, few: 0) == 1, "its looks keep a processor busy; FUGU_THOROUGH runs it"))
    func shortInterval() async throws {
        let restless = ChangingSource(["other": 0], name: "restless")
        try container.apply(restless)
        let task = Task { [container] in await container.reload(every: .milliseconds(25)) }
        await clock.sleepers(atLeast: 1)
        func look(_ times: Int) async {
            for _ in 0..<times {
                clock.move(by: .milliseconds(25))
                await clock.sleepers(atLeast: 1)
            }
        }
        // Two polls without a change are needed, and 200 without a rest are reported.
        for count in 1...101 {
            restless.change(to: ["other": .integer(Int128(count))])
            await look(2)
        }
        expect(restless.loads, equals: 1)
        expect(reports.all.count == 1 && reports.all[0].contains("restless"), "\(reports.all)")
        await look(3)
        expect(restless.loads, equals: 2)
        restless.fail("broken")
        await look(250)
        expect(reports.all.count, equals: 2, "\(reports.all)")
        task.cancel()
        await task.value
    }

    @Test("Polling ends when the container is closed, and ends at once in one that is closed already")
    func closed() async throws {
        let source = ChangingSource(["port": 1])
        let child = container.child()
        try child.apply(source)
        let task = Task { await child.reload(every: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        try await child.close()
        await task.value
        await child.reload(every: .seconds(5))
        expect(reports.all.isEmpty)
    }
}

#endif
