import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var slow: PropertyKey<Int> { .init("race16.slow", defaultValue: 0) }
    fileprivate var flag: PropertyKey<Int> { .init("race16.flag", defaultValue: 0) }
}

/// A source that reads the number of its reads, during which another source of the container changes.
private struct Overtaken: PropertySource {
    let name = "overtaken"
    let flags: MutableSource
    let reads = Counter()

    func load() throws(PropertyError) -> PropertySnapshot {
        let number = reads.add()
        // A reload that reads again would be overtaken many times.
        if number < 100 { flags["race16.flag"] = .integer(Int128(number)) }
        return try PropertySnapshot(["race16.slow": .integer(Int128(number))], source: name)
    }
}

private struct Fetched: AsyncPropertySource {
    let source: Overtaken
    var name: String { source.name }
    func fetch() async throws -> PropertySnapshot { try source.load() }
}

@Suite("A reload beside other changes of the sources (law 16)", .timeLimit(.minutes(5)))
struct SourceRaceTests {
    private let container = Container()
    private let flags = MutableSource(["race16.flag": 0], name: "flags")

    @Test("A reload uses what it has read, though another source changes meanwhile (law 16)")
    func reload() throws {
        let source = Overtaken(flags: flags)
        try container.apply(flags)
        try container.apply(source)
        expect([container.slow, container.flag], equals: [1, 1])
        expect(try container.reload().changedNames, equals: ["race16.slow"])
        expect([container.slow, container.flag, source.reads.value], equals: [2, 2, 2])
    }

    @Test("A refresh uses what it has fetched, though another source changes or is reloaded meanwhile (law 16)")
    func refresh() async throws {
        let source = Overtaken(flags: flags)
        try container.apply(flags)
        try await container.apply(Fetched(source: source))
        expect(container.slow, equals: 1)
        try await container.refresh()
        expect([container.slow, container.flag, source.reads.value], equals: [2, 2, 2])
        try container.reload()
        expect([container.slow, source.reads.value], equals: [2, 2])
    }

    @Test("A value that another reload has read later isn't replaced by an older one (law 16)")
    func later() throws {
        /// A source that another reload reads while this one is about to return the values.
        struct Later: PropertySource {
            let name = "later"
            let reads = Counter()
            let container: Container
            func load() throws(PropertyError) -> PropertySnapshot {
                let number = reads.add()
                if number == 2 { _ = try? container.reload() }
                return try PropertySnapshot(["race16.slow": .integer(Int128(number))], source: name)
            }
        }
        let source = Later(container: container)
        try container.apply(source)
        let seen = Log<Int>()
        let token = container.observe(\.slow) { seen.add($0) }
        defer { token.cancel() }
        expect(container.slow, equals: 1)
        try container.reload()
        expect(container.slow, equals: 3)
        expect(seen.all.last, equals: 3)
        expect(source.reads.value, equals: 3)
    }

    @Test("A reload asks for each name once, though others read new names meanwhile (law 16)")
    func names() throws {
        /// A source of texts; whoever asks it for one reads a new name.
        struct Texts: PropertySource {
            let name = "texts"
            let loads = Counter(), asks = Counter()
            let container: Container
            func load() throws(PropertyError) -> PropertySnapshot {
                let load = loads.add()
                return PropertySnapshot(source: name) { name in
                    guard name == "race16.slow" else { return "\(load)" }
                    let ask = asks.add()
                    if load == 2, ask < 100 { _ = try? container.property("race16.late\(ask)", as: Int.self) }
                    return "\(load)"
                }
            }
        }
        let source = Texts(container: container)
        try container.apply(source)
        expect(container.slow, equals: 1)
        try container.reload()
        expect(container.slow, equals: 2)
        expect(source.asks.value < 10, "\(source.asks.value)")
    }
}
