import Fugu
import FuguConfiguration
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var first: PropertyKey<Int> { .init("first", defaultValue: 0) }
    fileprivate var second: PropertyKey<String> { .init("second", defaultValue: "0") }
    fileprivate var late: PropertyKey<Int> { .init("late", defaultValue: 0) }
    fileprivate var list: PropertyKey<[Int]> { .init("list", defaultValue: [Int]()) }
}

/// The same numbers as a word, as a box and in the order in which a reader asks.
private final class Numbers: PropertySource {
    let name = "numbers"
    private let number = Locked(0)

    func load() throws(PropertyError) -> PropertySnapshot {
        let next = number.withLock { number in
            number += 1
            return Int128(number)
        }
        let values: [String: PropertyValue] = [
            "first": .integer(next), "second": .string("\(next)"), "list": [.integer(next)],
        ]
        return try PropertySnapshot(values, source: name)
    }
}

@Suite("A reload is all or nothing (law 16)", .timeLimit(.minutes(5))) struct SourceReloadTests {}

extension SourceReloadTests {
    @Test(
        "4 threads that read two values changing together in many reloads never see an old one after a new one (law 16)"
    )
    func allOrNothing() async throws {
        let container = Container()
        let child = container.child()
        try container.apply(Numbers())
        let heard = Log<Int>()
        container.observe(\.first) { heard.add($0) }
        let isDone = Locked(false)
        let failures = Log<String>()
        let reloads = rounds(1_000, few: 300)
        await onThreads(5) { index in
            if index == 4 {
                for _ in 0..<reloads {
                    if (try? container.reload()) == nil { failures.add("a reload failed") }
                }
                return isDone.withLock { $0 = true }
            }
            // Two read the container, two a child, each its values in another order.
            let reader = index < 2 ? container : child
            var newest = 0
            repeat {
                let seen =
                    index.isMultiple(of: 2)
                    ? [reader.first, Int(reader.second)!, reader.list[0]]
                    : [reader.list[0], Int(reader.second)!, reader.first]
                for number in seen {
                    if number < newest { failures.add("\(number) after \(newest)") }
                    newest = max(newest, number)
                }
            } while !isDone.withLock { $0 }
        }
        let last = reloads + 1
        expect(failures.all.isEmpty)
        expect(container.first, equals: last)
        expect(child.second, equals: "\(last)")
        expect(child.list, equals: [last])
        expect(heard.all, equals: heard.all.sorted())
        expect(heard.all.last, equals: last)
        expect(heard.all.count >= reloads)
    }

    @Test("A name that is read for the first time during a reload is of one side of it")
    func firstRead() throws {
        // The source's own load reads the name, which is after the reload began and before it ends.
        let container = Container()
        let counting = ChangingSource(["late": 1]) { _ = container.late }
        try container.apply(counting)
        expect(container.late, equals: 1)
    }

    @Test("A default read while the first source is being applied does not stay")
    func firstApply() throws {
        struct Asking: Decodable {
            @TaskLocal static var container = Container()
            init(from decoder: any Decoder) throws { _ = Self.container.late }
        }
        let container = Container()
        let key = PropertyKey<Asking?>("asking")
        expect(container[key] == nil)
        try Asking.$container.withValue(container) {
            // Its decoding, which is part of applying, reads another name: the default, for there is no source yet.
            try container.apply(DictionarySource(["asking": 1, "late": 5], name: "x"))
        }
        expect(container.late, equals: 5)
    }

    @Test("Sources that are applied by many threads at once, and reloads meanwhile, lose none of each other")
    func together() throws {
        let container = Container()
        onThreads(8) { index in
            try? container.apply(
                DictionarySource(["first": 1, "name\(index)": .integer(Int128(index))], name: "\(index)"))
            _ = try? container.reload()
        }
        for index in 0..<8 { try expect(container.property("name\(index)"), equals: index) }
        expect(container.first, equals: 1)
    }

    @Test("Threads that ask for a name for the first time together get the source's value")
    func asking() throws {
        for _ in 0..<50 {
            let container = Container()
            let child = container.child()
            try container.apply(DictionarySource(["first": 5], name: "x"))
            try child.apply(DictionarySource(["second": "6"], name: "y"))
            let seen = Log<String>()
            onThreads(4) { index in seen.add("\((index < 2 ? container : child).first) \(child.second)") }
            expect(Set(seen.all), equals: ["5 6"])
        }
    }
}

private typealias Pair = (certificate: String, key: String)

extension ContainerKeys {
    fileprivate var certificate: PropertyKey<String> { .init("tls.certificate", defaultValue: "none") }
    fileprivate var privateKey: PropertyKey<String> { .init("tls.key", defaultValue: "none") }
}

/// What the test does between the first read and the second of the first attempt.
///
/// It's a class, since the optimizer of Swift 6.3.1 miscompiles a task-local closure that a generic function binds.
private final class Between: Sendable {
    @TaskLocal static var current: Between?
    let act: @Sendable (_ attempt: Int) -> Void
    init(_ act: @escaping @Sendable (_ attempt: Int) -> Void) { self.act = act }
}

extension PropertyContainer {
    fileprivate func pair() -> Pair {
        let attempts = Counter()
        return snapshot { container in
            let certificate = container.certificate
            Between.current?.act(attempts.add())
            return (certificate, container.privateKey)
        }
    }
}

private struct Server: Feature {
    let pair: Pair
    static func load(in container: any FeatureContainer) -> Server { Server(pair: container.pair()) }
}

private struct ReloadingServer: Feature {
    let pair: Pair
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) -> ReloadingServer {
        ReloadingServer(pair: container.pair())
    }
}

private struct ServerOfChild: Feature {
    let pair: Pair
    static func load(in container: any FeatureContainer) -> ServerOfChild {
        ServerOfChild(pair: Container.current.child().pair())
    }
}

private struct Outer: Feature {
    let server: Server
    static func load(in container: any FeatureContainer) -> Outer {
        Outer(server: container.snapshot { $0[Server.self] })
    }
}

private struct Refusing: ThrowingFeature {
    struct Mismatch: Error {}
    let pair: Pair
    static func load(in container: any FeatureContainer) throws -> Refusing {
        let attempts = Counter()
        return try container.snapshot { container in
            let certificate = container.certificate
            Between.current?.act(attempts.add())
            let key = container.privateKey
            if certificate != key { throw Mismatch() }
            return Refusing(pair: (certificate, key))
        }
    }
}

@Suite("A snapshot has the values of one moment (law 16)", .timeLimit(.minutes(5))) struct SourceMomentTests {
    private let container = Container().unreported
    private let source = MutableSource(["tls.certificate": "1", "tls.key": "1"], name: "secrets")
    init() throws { try container.apply(source) }
}

extension SourceMomentTests {
    private func renew(to value: String) {
        source.update { $0 = ["tls.certificate": .string(value), "tls.key": .string(value)] }
    }

    /// Loads while the pair is renewed after the first read of the first attempt.
    private func renewing<R>(_ body: () throws -> R) rethrows -> R {
        let between = Between { attempt in if attempt == 1 { self.renew(to: "2") } }
        return try Between.$current.withValue(between, operation: body)
    }

    private func entry(_ name: String) -> ContainerGraph.Entry? {
        container.graph.entries.first { $0.name.hasSuffix(name) }
    }

    @Test("A reload between two reads in a load gives both new values, never one old and one new (law 16)")
    func load() {
        let server = renewing { container[Server.self] }
        expect(server.pair == ("2", "2"))
        expect(container[Server.self].pair == ("2", "2"))
    }

    @Test("A value that changes between two reads of a snapshot has changed during the load, which isn't kept (law 12)")
    func inputs() throws {
        _ = renewing { container[Server.self] }
        expect(entry("Server") == nil)
        _ = container[Server.self]
        let loaded = try #require(entry("Server"))
        expect(!loaded.isStale && loaded.inputs.count == 2, "\(loaded)")
    }

    @Test("What a load reads in a snapshot is its input: it reloads when one of the values changes (law 12)")
    func reloads() {
        expect(renewing { container[ReloadingServer.self].pair } == ("2", "2"))
        renew(to: "3")
        expect(container[ReloadingServer.self].pair == ("3", "3"))
    }

    @Test("A child that overrides what a snapshot read has its own instance (law 10)")
    func overrides() {
        _ = renewing { container[Server.self] }
        let child = container.child { $0.privateKey = "own" }
        expect(child[Server.self].pair == ("2", "own"))
        expect(container[Server.self].pair == ("2", "2"))
    }

    @Test("A snapshot of a child that a load makes is of one moment (law 16)")
    func children() { expect(renewing { container[ServerOfChild.self].pair } == ("2", "2")) }

    @Test("A load inside a snapshot is an input of the load around it (law 11)")
    func nested() {
        expect(renewing { container[Outer.self].server.pair } == ("2", "2"))
        _ = container[Outer.self]
        expect(entry("Outer")?.inputs.count, equals: 1)
        let child = container.child { $0.privateKey = "own" }
        expect(child[Outer.self].server.pair == ("2", "own"))
    }

    @Test("What a snapshot throws because of values of two moments isn't thrown: it reads again (law 16)")
    func thrown() throws {
        try expect(renewing { try container[Refusing.self].pair } == ("2", "2"))
        source["tls.key"] = "3"
        container.reset(Refusing.self)
        #expect(throws: Refusing.Mismatch.self) { try container[Refusing.self] }
    }

    @Test("Threads that load while the pair is renewed again and again never see an old and a new value (law 16)")
    func storm() async {
        let (container, source, count) = (container, source, rounds(2_000, few: 600))
        let isDone = Locked(false)
        let torn = Counter()
        await onThreads(3) { thread in
            if thread == 0 {
                for number in 1...count {
                    source.update { $0 = ["tls.certificate": .string("\(number)"), "tls.key": .string("\(number)")] }
                }
                return isDone.withLock { $0 = true }
            }
            repeat {
                let child = container.child()
                for pair in [
                    container[ReloadingServer.self].pair, container[ServerOfChild.self].pair, child.pair(),
                    Server.load(in: child).pair,
                ] where pair.certificate != pair.key {
                    torn.add()
                }
                container.reset(ServerOfChild.self)
            } while !isDone.withLock { $0 }
        }
        expect(torn.add(0), equals: 0)
        expect(container[ReloadingServer.self].pair == ("\(count)", "\(count)"))
    }
}
