import FuguConfiguration
import FuguInspection
import FuguScopes
import Support
import Testing

@testable import Fugu

extension ContainerKeys {
    fileprivate var timeout: PropertyKey<Int> { .init("api.timeout", defaultValue: 30) }
    fileprivate var host: PropertyKey<String> { .init("api.host", defaultValue: "default") }
    fileprivate var limitKey: PropertyKey<Int> { .init("api.limit", defaultValue: 1) }
}

/// Which of several sources and containers gives a value (law 15).
struct PrecedenceTests {
    private let container = Container()

    private func source(_ timeout: Int128, _ name: String = "x") -> DictionarySource {
        DictionarySource(["api.timeout": .integer(timeout)], name: name)
    }

    @Test(
        "Code comes before sources, the latest source before earlier ones, these before the default, for types too (law 15)"
    )
    func order() throws {
        // Code comes before sources, the latest source before earlier ones, these before the default.
        do {
            expect(container.timeout, equals: 30)
            try container.apply(source(1))
            expect(container.timeout, equals: 1)
            try container.apply(source(2))
            expect(container.timeout, equals: 2)
            try container.apply(DictionarySource(["other": 1], name: "without"))
            expect(container.timeout, equals: 2)
            container.timeout = 3
            expect(container.timeout, equals: 3)
        }
        // The order holds before the first read too, and for types.
        do {
            let container = Container()
            container.limitKey = 5
            try container.apply(DictionarySource(["api": ["timeout": 1, "limit": 2, "host": "a"]], name: "x"))
            expect(container.timeout, equals: 1)
            expect(container.host, equals: "a")
            expect(container.limitKey, equals: 5)
            container.reset(\.limitKey)
            expect(container.limitKey, equals: 2)
        }
    }

    @Test("From the child up: its code, its sources, its parent's code, its parent's sources, the default")
    func children() throws {
        let child = container.child()
        let grandchild = child.child()
        expect(grandchild.timeout, equals: 30)
        try container.apply(source(1))
        expect(grandchild.timeout, equals: 1)
        container.timeout = 2
        expect(grandchild.timeout, equals: 2)
        try child.apply(source(3))
        expect(grandchild.timeout, equals: 3)
        expect(child.timeout, equals: 3)
        expect(container.timeout, equals: 2)
        child.timeout = 4
        expect(grandchild.timeout, equals: 4)
        expect(child.timeout, equals: 4)
        expect(container.timeout, equals: 2)
        try grandchild.apply(source(5))
        expect(grandchild.timeout, equals: 5)
        expect(child.timeout, equals: 4)
        child.reset(\.timeout)
        expect(grandchild.timeout, equals: 5)
        expect(child.timeout, equals: 3)
        expect(container.timeout, equals: 2)
        container.reset(\.timeout)
        expect(child.timeout, equals: 3)
        expect(container.timeout, equals: 1)
    }

    @Test("A child's source is an input of what a container above made from its code's value (laws 10 and 15)")
    func belowCode() throws {
        let doubled = FeatureKey<Int>(id: UniqueID()) { $0[ContainerKeys().timeout] * 2 }
        let next = PropertyKey<Int>(defaultValue: Container.current.timeout + 1, id: UniqueID())
        for appliesFirst in [false, true] {
            for root in [Container(), Container.program()] {
                let (child, changing) = (root.child(), MutableSource(name: "y"))
                if appliesFirst { try child.apply(changing) }
                root.timeout = 6
                expect(root[doubled], equals: 12)
                expect(root[next], equals: 7)
                if !appliesFirst { try child.apply(changing) }
                changing["api.timeout"] = 1
                expect(child[doubled], equals: 2)
                expect(child[next], equals: 2)
                expect(root[doubled], equals: 12)
            }
        }
    }

    @Test("The default is kept in the root")
    func defaults() throws {
        final class Identity: Sendable {}
        let key = PropertyKey(defaultValue: Identity())
        let child = container.child()
        try child.apply(source(1))
        expect(child[key], is: container[key])
        expect(child.host, equals: "default")
        expect(container.ifLoaded(\.host), equals: "default")
    }

    @Test("A source never overwrites what code set; a reset uncovers the source's value, which observers hear")
    func uncovered() throws {
        // A source never overwrites what code set, and reset uncovers the source's value.
        do {
            container.timeout = 7
            try container.apply(source(1))
            expect(container.timeout, equals: 7)
            container.reset(\.timeout)
            expect(container.timeout, equals: 1)
            container.timeout = 8
            try container.reload()
            expect(container.timeout, equals: 8)
            container.resetAll()
            expect(container.timeout, equals: 1)
            container.reset(\.timeout)
            expect(container.timeout, equals: 1)
        }
        // Observers hear what a reset uncovers, and of a new source.
        do {
            let container = Container()
            let heard = Log<Int>()
            container.observe(\.timeout) { heard.add($0) }
            try container.apply(source(1))
            container.timeout = 2
            container.reset(\.timeout)
            try container.apply(source(3))
            container.child().timeout = 9
            expect(heard.all, equals: [1, 2, 1, 3])
            try container.reload()
            expect(heard.all, equals: [1, 2, 1, 3])
        }
    }

    @Test("Who begins to observe after a reset hears what sources above give from then on (laws 9 and 15)")
    func observedAfterReset() throws {
        _ = container.timeout
        let child = container.child()
        let grandchild = child.child()
        child.timeout = 3
        try child.apply(DictionarySource(["other": 1], name: "without"))
        child.reset(\.timeout)
        let heard = Log<Int>()
        let token = grandchild.observe(\.timeout) { heard.add($0) }
        expect(heard.all, equals: [])
        try container.apply(source(12))
        expect(heard.all, equals: [12])
        token.cancel()
    }

    @Test("A reset inside an update uncovers the source's value, from which a modify starts and then counts as code")
    func update() throws {
        // A reset inside an update uncovers the source's value at its end.
        do {
            try container.apply(source(1))
            container.timeout = 2
            container.update { pending in
                pending.reset(\.timeout)
                expect(pending.timeout, equals: 2)
                expect(container.timeout, equals: 2)
            }
            expect(container.timeout, equals: 1)
        }
        // A modify starts from the source's value and then counts as code.
        do {
            let container = Container()
            try container.apply(source(1))
            container.modify(\.timeout) { $0 += 10 }
            try container.apply(source(2))
            expect(container.timeout, equals: 11)
        }
    }

    @Test("In a scope code comes before rules, rules before its sources, and these before its parent's code")
    func scopes() throws {
        let scope = container.scope("/a")
        container.timeout = 1
        try scope.apply(source(2))
        expect(scope.timeout, equals: 2)
        container.configureScopes("/a") { $0.timeout = 3 }
        expect(scope.timeout, equals: 3)
        scope.timeout = 4
        expect(scope.timeout, equals: 4)
        scope.reset(\.timeout)
        expect(scope.timeout, equals: 3)
        expect(container.timeout, equals: 1)
        expect(
            "\(scope.explain(\.timeout))",
            equals: """
                api.timeout = 3 (set by a rule)
                  hides 2 (x)
                  hides 1 (set by code)
                """)
    }

    @Test("A copy takes the sources, each container's before what stands behind it, and no default for a wrong value")
    func copies() throws {
        // A copy takes the sources, each container's before what stands behind it, and is independent.
        do {
            let source = ChangingSource(["api.timeout": 1])
            let child = container.child()
            container.timeout = 7
            container.host = "code"
            try child.apply(source)
            let copy = Container(copying: child)
            expect(copy.timeout, equals: 1)
            expect(copy.host, equals: "code")
            source.change(to: ["api.timeout": 2])
            try copy.reload()
            expect(copy.timeout, equals: 2)
            expect(child.timeout, equals: 1)
            let other = Container()
            try other.apply(DictionarySource(["api": ["host": "other"]], name: "y"))
            let both = Container(copying: child, other)
            expect(both.host, equals: "other")
            expect(both.timeout, equals: 1)
            child.timeout = 9
            expect(Container(copying: child).timeout, equals: 9)
        }
        // A copy takes no default that stood for a wrong value.
        do {
            let container = Container()
            let reports = container.reports()
            try container.apply(DictionarySource(["api.timeout": "x"], name: "x"))
            expect(container.timeout, equals: 30)
            expect(reports.all.count, equals: 1)
            let copy = Container(copying: container)
            let copied = copy.reports()
            try copy.apply(source(5))
            expect(copy.timeout, equals: 5)
            expect(copied.all.isEmpty)
        }
    }

    @Test("A reader is not held up while a value is decoded or sources are replaced, and no lock is held (law 15)")
    func decoding() throws {
        // A reader is not held up while a value is decoded, and no lock is held.
        do {
            struct Probe: Decodable {
                init(from decoder: any Decoder) throws {
                    // Reading and setting other keys would stop here if the family were locked.
                    Self.container.host = "from init"
                    expect(Self.container.timeout, equals: 30)
                }
                @TaskLocal static var container = Container()
            }
            let key = PropertyKey<Probe?>("probe")
            try Probe.$container.withValue(container) {
                try container.apply(DictionarySource(["probe": 1], name: "x"))
                expect(container[key] != nil)
                try container.reload()
            }
            expect(container.host, equals: "from init")
        }
        // Who asks sources that are replaced meanwhile gets what the new ones say.
        do {
            let container = Container()
            struct Slow: PropertySource {
                let name = "slow"
                let meanwhile: @Sendable () -> Void
                func load() throws(PropertyError) -> PropertySnapshot {
                    PropertySnapshot(source: name) { asked in
                        guard asked == "api.timeout" else { return nil }
                        meanwhile()
                        return "1"
                    }
                }
            }
            let once = Counter()
            let newer = source(2)
            try container.apply(
                Slow {
                    guard once.add() == 1 else { return }
                    onAnotherThread { #expect(throws: Never.self) { try container.apply(newer) } }
                })
            expect(container.timeout, equals: 2)
        }
    }
}

extension ContainerKeys {
    fileprivate var size: PropertyKey<Int> { .init("pool.size", defaultValue: 4) }
    fileprivate var other: PropertyKey<Int> { .init("pool.other", defaultValue: 0) }
}

private final class Pool: Feature, Sendable {
    let size: Int
    init(size: Int) { self.size = size }
    static func load(in container: any FeatureContainer) -> Pool { Pool(size: container.size) }
}

private final class Service: Feature, Sendable {
    let pool: Pool
    init(pool: Pool) { self.pool = pool }
    static func load(in container: any FeatureContainer) -> Service { Service(pool: container[Pool.self]) }
}

private final class Reloading: Feature, Sendable {
    let size: Int
    init(size: Int) { self.size = size }
    static let reloadsWhenInputsChange = true
    static func load(in container: any FeatureContainer) -> Reloading { Reloading(size: container.size) }
}

/// Waits in its load of the root until the test lets it go on.
private final class Slow: Feature, Sendable {
    struct Gates: Sendable {
        let began = Gate()
        let goOn = Gate()
    }
    @TaskLocal static var gates: Gates?
    let size: Int
    init(size: Int) { self.size = size }
    static func load(in container: any FeatureContainer) -> Slow {
        let slow = Slow(size: container.size)
        if let gates {
            gates.began.open()
            gates.goOn.wait()
        }
        return slow
    }
}

private struct Later: AsyncFeature {
    let size: Int
    static func load(in container: any FeatureContainer) async throws -> Later { Later(size: container.size) }
}

extension Container {
    /// How many wait for loads of the feature that are under way in the family.
    fileprivate func waiterCount<F: Feature>(of _: F.Type) -> Int {
        let family = node.family
        return family.lock.withLock { token in
            let loads = family.record(token, of: Key(raw: Key.feature(F.self)))?.loads.all.compactMap(\.load) ?? []
            return loads.reduce(0) { $0 + ($1.state[token].rare?.waiters.count ?? 0) }
        }
    }
}

/// Where instances live that are made from values of sources (law 15).
struct PrecedenceHomesTests {
    private let container = Container()

    private func source(_ size: Int128) -> DictionarySource {
        DictionarySource(["pool.size": .integer(size)], name: "x")
    }

    @Test(
        "A child gets its own copy of what reads a name that its own source has, and else shares its parent's (laws 10, 11, 15)"
    )
    func root() throws {
        // What is made from a value of the root's source lives in the root and is shared.
        do {
            try container.apply(source(1))
            let (first, second) = (container.child(), container.child())
            expect(first[Service.self].pool.size, equals: 1)
            expect(first[Service.self], is: second[Service.self])
            expect(container[Service.self], is: first[Service.self])
        }
        // A child with its own source gets its own copy of what reads the name, whoever asks first.
        do {
            for isChildFirst in [true, false] {
                let root = Container()
                let child = root.child()
                try child.apply(source(2))
                if !isChildFirst { expect(root[Service.self].pool.size, equals: 4) }
                expect(child[Service.self].pool.size, equals: 2)
                expect(root[Service.self].pool.size, equals: 4)
                expect(child.child()[Service.self], is: child[Service.self])
            }
        }
        // A child whose source does not have the name shares its parent's instance.
        do {
            let container = Container()
            let child = container.child()
            try child.apply(DictionarySource(["pool.other": 1], name: "x"))
            expect(child[Service.self], is: container[Service.self])
            expect(child.other, equals: 1)
            expect(container.other, equals: 0)
        }
    }

    @Test("A source's value that nobody has read decides where a declared home is, too (laws 11, 15)")
    func declaredHome() async throws {
        final class Pool: Feature, Sendable {
            static var home: Home { .with(\.size) }
            static func load(in container: any FeatureContainer) -> Pool { Pool() }
        }
        final class Session: AsyncFeature, Sendable {
            static var home: Home { .with(\.size) }
            static func load(in container: any FeatureContainer) async throws -> Session { Session() }
        }
        let (first, second) = (container.child(), container.child())
        try first.apply(source(1))
        try second.apply(source(2))
        let reports = container.reports()
        try await expect(first[Session.self] !== second[Session.self])
        try await expect(first.child()[Session.self], is: first[Session.self])
        expect(reports.all, equals: [])
        // In another family, since the name is known now.
        let root = Container()
        let child = root.child()
        let made = root[Pool.self]
        try child.apply(source(1))
        expect(child[Pool.self] !== made)
        expect(child.child()[Pool.self], is: child[Pool.self])
        expect(root.child()[Pool.self], is: made)
    }

    @Test("So it does if the source is applied after the read, or gives a wrong value (laws 10, 15, 16)")
    func appliedLater() throws {
        // A source that is applied after the child read the feature gives it its own copy.
        do {
            let child = container.child()
            expect(child[Service.self], is: container[Service.self])
            try child.apply(source(2))
            expect(child[Service.self].pool.size, equals: 2)
            expect(container[Service.self].pool.size, equals: 4)
        }
        // A wrong value in a child's source is its own input too: the child's copy is made with the default.
        do {
            let container = Container()
            try container.apply(source(1))
            let child = container.child()
            let reports = container.reports()
            try child.apply(DictionarySource(["pool.size": "many"], name: "child"))
            expect(child[Service.self].pool.size, equals: 4)
            expect(container[Service.self].pool.size, equals: 1)
            expect(reports.all, equals: ["child: pool.size: expected Int, found string \"many\""])
        }
    }

    @Test(
        "A child that waits for its parent's load gets its own copy if its source has what that load read (laws 3, 10)"
    )
    func waiting() async throws {
        let child = container.child()
        try child.apply(source(2))
        let gates = Slow.Gates()
        let sizes = Log<Int>()
        await onThreads(3) { [container] index in
            switch index {
            case 0: sizes.add(Slow.$gates.withValue(gates) { container[Slow.self].size })
            case 1:
                gates.began.wait()
                sizes.add(child[Slow.self].size)
            default:
                awaitState { container.waiterCount(of: Slow.self) == 1 }
                gates.goOn.open()
            }
        }
        expect(sizes.all.sorted(), equals: [2, 4])
        expect(container[Slow.self].size, equals: 4)
        expect(child[Slow.self].size, equals: 2)
    }

    @Test("Async features heed a child's source as well")
    func async() async throws {
        let child = container.child()
        try child.apply(source(2))
        try await expect(container[Later.self].size, equals: 4)
        try await expect(child[Later.self].size, equals: 2)
    }

    @Test(
        "A feature stays when its source changes, and a name that the source no longer has is the parent's again (laws 10, 12)"
    )
    func changes() throws {
        // A feature stays when its source changes, unless it reloads; in the graph it is stale.
        do {
            let container = container.unreported
            let source = ChangingSource(["pool.size": 1])
            try container.apply(source)
            expect(container[Pool.self].size, equals: 1)
            expect(container[Reloading.self].size, equals: 1)
            let heard = Log<Int>()
            container.observe(Reloading.self) { heard.add($0.size) }
            source.change(to: ["pool.size": 2])
            try container.reload()
            expect(container[Pool.self].size, equals: 1)
            expect(container[Reloading.self].size, equals: 2)
            expect(heard.all, equals: [2])
            expect(container.graph.entries.first { $0.name == "Pool" }?.isStale, equals: true)
        }
        // A name that a source no longer has is the parent's again, and so is what was made from it.
        do {
            let container = Container()
            let source = ChangingSource(["pool.size": 2])
            let child = container.child()
            try child.apply(source)
            expect(child[Pool.self].size, equals: 2)
            source.change(to: [:])
            try child.reload()
            expect(child.size, equals: 4)
            expect(child[Pool.self], is: container[Pool.self])
        }
    }

    @Test("What asks for a name without a key inside a load is made from the answer, even if there is none (law 11)")
    func untyped() throws {
        struct Asker: ThrowingFeature {
            let size: Int?
            static func load(in container: any FeatureContainer) throws -> Asker {
                Asker(size: try Container.current.property("pool.untyped"))
            }
        }
        let child = container.child()
        try expect(container[Asker.self].size == nil)
        try child.apply(DictionarySource(["pool.untyped": 3], name: "x"))
        try expect(child[Asker.self].size, equals: 3)
        try expect(container[Asker.self].size == nil)
    }
}
