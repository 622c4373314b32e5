import Foundation
import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

/// A source that changes right after it was first read.
private struct LateSource: PropertySource {
    let source: MutableSource
    var name: String { source.name }

    func load() throws(PropertyError) -> PropertySnapshot {
        defer { if source["more.port"] == 1 { source["more.port"] = 2 } }
        return try source.load()
    }

    func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        source.observeChanges(body)
    }
}

struct DotEnvSourceTests {
    private func read(_ text: String, prefix: String = "") throws -> Container {
        let container = Container()
        try container.apply(DotEnvSource(text: text, name: ".env", prefix: prefix))
        return container
    }

    @Test(
        "Mistakes in a .env file are reported with line and column",
        arguments: [
            ("A=1\nA=2", ".env:2:1: the name appears twice; the first is on line 1"),
            ("A=\"x", ".env:1:3: the string that begins here isn't closed"),
            ("A", ".env:1:2: expected =, found the end of the text"),
            ("=1", ".env:1:1: expected a name, found \"=\""),
            ("A='x' y", ".env:1:7: expected the end of the line, found \"y\""),
        ])
    func mistakes(text: String, message: String) {
        expect(thrown { _ = try read(text) }, equals: message)
    }

    @Test("A wrong value and an unknown name of a .env file have their place (law 16)")
    func places() throws {
        let container = try read("APP_PORT=x\nAPP_PROT=1\nOTHER=1", prefix: "APP")
        expect(
            thrown { try container.validate([PropertyKey("port", defaultValue: 1)]) },
            equals: """
                .env:1:10: APP_PORT: expected Int, found text "x"
                .env:2:1: APP_PROT: unknown name; did you mean APP_PORT?
                """)
        expect(
            thrown { _ = try container.require { _ in PropertyKey<Bool?>("dotenv.none") } }.contains(
                "APP_DOTENV_NONE in .env"))
    }
}

@Suite(.serialized) struct FolderSourceTests {
    private let folder = NSTemporaryDirectory() + "fugu-folder-\(UUID())"
}

extension FolderSourceTests {
    private func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: folder + "/" + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    @Test("A folder of files gives one value each, under any spelling of the name, as secrets (law 17)")
    func values() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write("hunter2\n", to: "database-password")
        try write("80", to: "SERVER_PORT")
        try write("x", to: ".hidden")
        try write("x", to: "deeper/file")
        let container = Container().unreported
        try container.apply(FolderSource(path: folder))
        try expect(container.property("database.password"), equals: "hunter2")
        try expect(container.property("server.port"), equals: 80)
        try expect(container.property("hidden", as: String.self) == nil)
        let key = PropertyKey<Int?>("database.password")
        expect(
            thrown { _ = try container.require { _ in key } },
            equals: "\(folder)/database-password: database.password: expected Int, found text")
        expect("\(container.explain { _ in key })".contains("hunter2"), equals: false)
        try write("y", to: "database.password")
        expect(thrown { try container.reload() }.contains("spelled differently"))
        #expect(throws: PropertyError.self) { try Container().apply(FolderSource(path: folder + "/none")) }
        try Container().apply(FolderSource(path: folder + "/none", isOptional: true))
    }

    @Test("A mounted volume that is turned to another folder changes as a whole (law 16)")
    func swap() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write("1", to: "..one/a")
        try write("1", to: "..one/b")
        try write("2", to: "..two/a")
        try write("2", to: "..two/b")
        try FileManager.default.createSymbolicLink(atPath: folder + "/..data", withDestinationPath: "..one")
        for name in ["a", "b"] {
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/" + name, withDestinationPath: "..data/" + name)
        }
        let source = FolderSource(path: folder)
        let container = Container()
        try container.apply(source)
        try expect(container.property("a"), equals: 1)
        let before = source.modificationStamp()
        expect(source.modificationStamp(), equals: before)
        try FileManager.default.createSymbolicLink(atPath: folder + "/..new", withDestinationPath: "..two")
        expect(rename(folder + "/..new", folder + "/..data"), equals: 0)
        expect(source.modificationStamp() != before)
        try container.reload()
        try expect(container.property("a"), equals: 2)
        try expect(container.property("b"), equals: 2)
    }
}

struct MoreSourcesTests {
    private let port = PropertyKey("more.port", defaultValue: 0)
    private let host = PropertyKey("more.host", defaultValue: "none")

    @Test("A mutable source is read again at each change that can be used, and keeps no container that follows it")
    func mutable() throws {
        // A mutable source is read again at each change, and a change that cannot be used is reported and changes nothing.
        do {
            let container = Container()
            let reports = container.reports()
            let source = MutableSource(["more.port": 1], name: "flags")
            try container.apply(source)
            let seen = Log<Int>()
            container.observe({ _ in port }) { seen.add($0) }
            source["more.port"] = 2
            source["more.port"] = 2
            source.update { values in
                values["more.port"] = 3
                values["more.host"] = "h"
            }
            expect(container[port] == 3 && container[host] == "h" && seen.all == [2, 3])
            source["more.port"] = "x"
            expect(container[port] == 3 && reports.all.count == 1 && reports.all[0].contains("more.port: expected Int"))
            source["more.port"] = nil
            expect(container[port] == 0 && seen.all == [2, 3, 0])
        }
        // A mutable source does not keep the containers that follow it.
        do {
            let source = MutableSource(["more.port": 1], name: "flags")
            weak var gone: Container?
            do {
                let container = Container()
                try container.apply(source)
                gone = container
            }
            expect(gone == nil)
            source["more.port"] = 2
        }
    }

    @Test("A change that a source notifies of while it's applied isn't missed")
    func changedMeanwhile() throws {
        let container = Container()
        let flags = MutableSource(["more.port": 1], name: "flags")
        try container.apply(LateSource(source: flags))
        expect(container[port], equals: 2)
        flags["more.port"] = 3
        expect(container[port], equals: 3)
    }

    @Test("Sources are taken away by their name, and what they hid is read again")
    func removed() throws {
        let container = Container()
        let flags = MutableSource(["more.port": 3], name: "flags")
        try container.apply(DictionarySource(["more.port": 1], name: "base"))
        try container.apply(flags.scoped(to: "none"))
        try container.apply(flags.mappingNames { $0 })
        try container.apply(DictionarySource(["more.host": "h"], name: "site"))
        let seen = Log<Int>()
        container.observe({ _ in port }) { seen.add($0) }
        expect(container[port], equals: 3)
        expect(container[host], equals: "h")
        try container.removeSources(named: "flags")
        try container.removeSources(named: "none")
        flags["more.port"] = 4
        expect(container[port] == 1 && container[host] == "h" && seen.all == [1])
        try container.removeSources(named: "base")
        expect(container[port] == 0 && seen.all == [1, 0])
    }

    @Test("A source can be seen under a prefix and with its own names")
    func views() throws {
        let container = Container()
        let source = DictionarySource(["database": ["port": 5], "H": "h"], name: "x")
        try container.apply(source.mappingNames { $0 == "more.host" ? "H" : nil })
        expect(container[host], equals: "h")
        expect(container[port], equals: 0)
        try container.apply(DictionarySource(["old": ["more": ["port": 7]]], name: "y").scoped(to: "old"))
        expect(container[port], equals: 7)
        try expect(container.section("more").property("port"), equals: 7)
        try expect(Container().section("a").section("b").property("c", as: Int.self) == nil)
    }

    private final class Remote: AsyncPropertySource {
        let name = "remote"
        let values = Locked<Result<[String: PropertyValue], PropertyError>>(.success(["more.port": 1]))

        func fetch() async throws -> PropertySnapshot {
            try PropertySnapshot(values.withLock { $0 }.get(), source: name)
        }
    }

    @Test("A source that is fetched counts like any other, and is fetched again as a whole or not at all (law 16)")
    func fetched() async throws {
        let container = Container()
        let remote = Remote()
        try await container.apply(remote)
        expect(container[port], equals: 1)
        remote.values.withLock { $0 = .success(["more.port": 2]) }
        try container.reload()
        expect(container[port], equals: 1)
        try await container.refresh()
        expect(container[port], equals: 2)
        remote.values.withLock { $0 = .success(["more.port": "x"]) }
        await #expect(throws: PropertyErrors.self) { try await container.refresh() }
        remote.values.withLock { $0 = .failure(PropertyError("offline")) }
        await #expect(throws: PropertyError.self) { try await container.refresh() }
        expect(container[port], equals: 2)
    }

    @Test("What is asked of the sources can be logged, without its value (law 17)")
    func log() throws {
        let container = Container()
        let reads = Log<String>()
        container.handleSourceReads { name, origin in reads.add("\(name): \(origin?.description ?? "nothing")") }
        try container.apply(TOMLSource(text: "more.port = 5", name: "x"))
        expect(container[port], equals: 5)
        expect(container[host], equals: "none")
        expect(container[port], equals: 5)
        expect(reads.all, equals: ["more.port: x:1:13", "more.host: nothing"])
        container.handleSourceReads(by: nil)
        try container.apply(TOMLSource(text: "more.port = 6", name: "y"))
        expect(container[port], equals: 6)
        expect(reads.all.count, equals: 2)
    }

    @Test("Every spelling of a name with capitals is one")
    func spellings() throws {
        for spelling in ["--server-idle-timeout", "--server.idleTimeout", "--server_idle_timeout"] {
            let source = ArgumentsSource([spelling, "1"])
            try expect(source.load().property("server.idleTimeout", as: Int.self), equals: 1)
        }
        let container = Container()
        try container.apply(EnvironmentSource(environment: ["API_BASE_URL_PATH": "new", "MAXBODY": "one"]))
        try expect(container.property("api.baseURLPath"), equals: "new")
        let (one, other) = (
            try container.property("maxbody", as: String.self), try container.property("maxBody", as: String.self)
        )
        expect(one, equals: "one")
        expect(other == nil)
    }

    private struct Point: TextDecodable, LosslessStringConvertible, Equatable {
        var x: Int
        init?(_ text: String) {
            guard text.hasPrefix("@"), let x = Int(text.dropFirst()) else { return nil }
            self.x = x
        }
        var description: String { "@\(x)" }
        static var textForm: String { "a point, such as @3" }
    }

    @Test("A type reads itself from a string, and bytes are read from Base64")
    func texts() throws {
        let container = Container()
        try container.apply(
            TOMLSource(text: "p = '@3'\nq = '3'\nb = 'aGk'\nw = 'x'", name: "x"))
        try expect(container.property("p", as: Point.self)?.x, equals: 3)
        expect(
            thrown { _ = try container.require { _ in PropertyKey<Point?>("q") } },
            equals: "x:2:5: q: expected a point, such as @3, found string \"3\"")
        try expect(container.property("b", as: Data.self), equals: Data("hi".utf8))
        #expect(throws: PropertyError.self) { try container.property("q", as: Data.self) }
    }
}

private let first = PropertyKey("faults.first", defaultValue: -1)
private let second = PropertyKey("faults.second", defaultValue: -1)

@Suite("What happens to files (law 16)", .timeLimit(.minutes(5))) struct FileFaultTests {
    private let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"
}

extension FileFaultTests {
    private static func text(_ number: Int) -> String { "[faults]\nfirst = \(number)\nsecond = \(number)\n" }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// A container with the file applied and both keys read.
    private func container(_ number: Int) throws -> Container {
        try write(Self.text(number))
        let container = Container()
        try container.apply(TOMLSource(path: path))
        expect(container[first], equals: number)
        expect(container[second], equals: number)
        return container
    }

    @Test("A file that vanishes, becomes a folder or a dead link fails the reload, which changes nothing (law 16)")
    func becomesSomethingElse() throws {
        let container = try container(1)
        defer { remove() }
        let faults: [(make: () throws -> Void, message: String)] = [
            ({}, "the file doesn't exist"),
            (
                { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) },
                "it's a directory"
            ),
            (
                { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".no") },
                "the file doesn't exist"
            ),
        ]
        for fault in faults {
            remove()
            try fault.make()
            expect(thrown { try container.reload() }, equals: "\(path): can't be read: \(fault.message)")
            expect(container[first], equals: 1)
            expect(container[second], equals: 1)
        }
        remove()
        try write(Self.text(2))
        try container.reload()
        expect(container[first], equals: 2)
        expect(container[second], equals: 2)
    }

    @Test("A file that shrinks, or may no longer be read, fails the reload, which changes nothing (law 16)")
    func shrinks() async throws {
        // A file that shrinks to a part that is no document fails the reload, which changes nothing.
        do {
            let container = try container(1)
            defer { remove() }
            let whole = Self.text(2)
            for length in whole.indices {
                try write(String(whole[..<length]))
                let before = [container[first], container[second]]
                let message = thrown { try container.reload() }
                let now = [container[first], container[second]]
                // A part of a document can be a document: what it leaves out has its default.
                expect(
                    message == "nothing" ? [[-1, -1], [2, -1], [2, 2]].contains(now) : now == before, "\(message)")
            }
            try write(whole)
            try container.reload()
            expect(container[first], equals: 2)
            expect(container[second], equals: 2)
        }
        // A file that may no longer be read fails the reload, which changes nothing.
        do {
            // As nobody, in a process of its own: nothing is forbidden to the superuser.
            let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let path = NSTemporaryDirectory() + "fugu-\(UUID()).toml"
                if getuid() == 0 { precondition(setgid(65_534) == 0 && setuid(65_534) == 0) }
                let container = Container()
                try Data(FileFaultTests.text(1).utf8).write(to: URL(fileURLWithPath: path))
                defer { unlink(path) }
                try container.apply(TOMLSource(path: path))
                precondition(container[first] == 1)
                precondition(chmod(path, 0) == 0)
                let message = thrown { try container.reload() }
                precondition(message == "\(path): can't be read: permission denied", message)
                precondition(container[first] == 1 && container[second] == 1)
                chmod(path, 0o600)
                try container.reload()
            }
            if let result, let text = String(validating: result.standardErrorContent, as: UTF8.self), !text.isEmpty {
                print(text)
            }
        }
    }

    @Test("A file that is replaced in the middle of a reload is read whole, as it was or as it is (law 16)")
    func replacedMeanwhile() throws {
        let container = try container(0)
        defer { remove() }
        let numbers = Locked(0)
        // Applied later, so that one of the two is read after the file has changed.
        let meddling = ChangingSource([:]) {
            let next = numbers.withLock { number in
                number += 1
                return number
            }
            try? write(Self.text(next))
        }
        try container.apply(meddling)
        for _ in 0..<50 {
            try container.reload()
            let present = numbers.withLock { $0 }
            expect(container[first], equals: container[second])
            expect([present - 1, present].contains(container[first]))
        }
        let isDone = Locked(false)
        let writer = startThread {
            var number = 1_000
            while !isDone.withLock({ $0 }) {
                number += 1
                try? write(Self.text(number))
            }
        }
        for _ in 0..<50 {
            try container.reload()
            expect(container[first], equals: container[second])
        }
        isDone.withLock { $0 = true }
        writer.wait()
    }
}

struct SourceConformanceTests {
    private struct Instance {
        struct Inner { var port = 80 }
        var server = Inner()
        var name: String? = "x"
        var none: Int?
    }

    private let text: [String: PropertyValue] = ["server.port": "80", "name": "x"]
    private let typed: [String: PropertyValue] = ["server.port": 80, "name": "x", "server": ["port": 80]]

    @Test(
        "The sources of this library conform, and those of one's own; one that gives something else each time does not")
    func builtIn() throws {
        // The sources of this library conform.
        do {
            try expectConformance(
                of: JSONSource(text: #"{"server": {"port": 80}, "name": "x"}"#, name: "json"), holding: typed,
                lacking: ["server.host", "port"])
            try expectConformance(
                of: TOMLSource(text: "name = 'x'\n[server]\nport = 80", name: "toml"), holding: typed,
                lacking: ["server.port.x"])
            try expectConformance(
                of: DictionarySource(["server": ["port": 80], "name": "x"], name: "dictionary"), holding: typed,
                lacking: ["server.host"])
            try expectConformance(
                of: DictionarySource(["server.port": 80, "name": "x"], name: "dotted"), holding: typed,
                lacking: ["host"])
            try expectConformance(of: StructSource(reflecting: Instance()), holding: typed, lacking: ["none"])
            try expectConformance(
                of: EnvironmentSource(
                    prefix: "APP", environment: ["APP_SERVER_PORT": "80", "APP_NAME": "x", "PORT": "1"]),
                holding: text, lacking: ["port", "server"])
            try expectConformance(
                of: ArgumentsSource(["program", "--server-port", "80", "--name=x", "--", "--port=1"]), holding: text,
                lacking: ["port", "server"])
        }
        // Files conform, and those that are optional and missing.
        do {
            let path = NSTemporaryDirectory() + "fugu-\(UUID()).json"
            try expectConformance(of: JSONSource(path: path, isOptional: true), holding: [:], lacking: ["name"])
            try Data(#"{"name": "x"}"#.utf8).write(to: URL(fileURLWithPath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            try expectConformance(of: JSONSource(path: path), holding: ["name": "x"], lacking: ["server"])
        }
        // A source of one's own conforms.
        do {
            try expectConformance(
                of: ChangingSource(["server.port": 80, "name": "x"]), holding: typed, lacking: ["server.host"])
        }
        // A source that gives something else at each load does not.
        do {
            let failures = Log<String>()
            try Failure.$recorder.withValue(Failure.Recorder { text, _ in failures.add(text) }) {
                try expectConformance(of: CountingSource(["a"]), holding: ["a": 1], lacking: [])
            }
            expect(!failures.all.isEmpty)
        }
    }
}
