import Fugu
import FuguInspection
import Support
import Testing

@Suite("Plain, throwing and async features are one in families", .timeLimit(.minutes(5))) struct AsyncFamilyTests {}

extension AsyncFamilyTests {
    private static let kinds = Kind.all(NoTrait.self)

    @Test("A set wins, a reset loads again, a replaced loader counts as set (laws 4, 10, 13)", arguments: kinds)
    func setAndReset(_ kind: Kind) async throws {
        let container = Container()
        let made = container.stage.tally("made")
        expect(kind.ifLoaded(container) == nil)
        let first = try await kind.load(container)
        expect(kind.ifLoaded(container), is: first)
        let mine = Thing("mine")
        kind.set(container, mine)
        try await expect(kind.load(container), is: mine)
        kind.reset(container)
        expect(kind.ifLoaded(container) == nil)
        try await expect(kind.load(container) !== first)
        expect(made.value, equals: 2)
        kind.replace(container) { Thing("in place of \($0[Tenant.self])") }
        let replaced = try await kind.load(container)
        expect(replaced.name, equals: "in place of root")
        try await expect(kind.load(container), is: replaced)
        container.resetAll()
        // The stage has been reset, too.
        try await expect(kind.load(container).name, equals: "root")
        expect(made.value, equals: 2)
        expect(container.stage.tally("made").value, equals: 1)
    }

    @Test("It lives where its inputs live; overriding one gives the child its own (laws 10 and 11)", arguments: kinds)
    func homes(_ kind: Kind) async throws {
        let root = Container()
        let child = root.child { $0[Tenant.self] = "child" }
        let grandchild = child.child()
        let own = try await kind.load(grandchild)
        expect(own.name, equals: "child")
        expect(kind.ifLoaded(child), is: own)
        expect(kind.ifLoaded(root) == nil)
        let shared = try await kind.load(root)
        expect(shared.name, equals: "root")
        try await expect(kind.load(root.child()), is: shared)
        child.reset(Tenant.self)
        try await expect(kind.load(grandchild), is: shared)
        child[Tenant.self] = "again"
        try await expect(kind.load(grandchild).name, equals: "again")
        expect(kind.ifLoaded(root), is: shared)
        expect(root.stage.tally("made").value, equals: 3)
    }

    @Test("Observers hear sets, resets and first loads, here and below (laws 9 and 10)", arguments: kinds)
    func observers(_ kind: Kind) async throws {
        let root = Container()
        let child = root.child()
        let (seen, below) = (Log<String>(), Log<String>())
        let token = kind.observe(root) { seen.add($0.name) }
        _ = kind.observe(child) { below.add($0.name) }
        _ = try await kind.load(child)
        await expect(seen.first(1), equals: ["root"])
        kind.set(root, Thing("one"))
        kind.set(child, Thing("two"))
        kind.set(root, Thing("three"))
        // The thread that loaded may still be delivering, and then delivers these, too.
        await expect(seen.first(3), equals: ["root", "one", "three"])
        await expect(below.first(3), equals: ["root", "one", "two"])
        token.cancel()
        kind.set(root, Thing("four"))
        kind.reset(child)
        await expect(below.first(4).last, equals: "four")
        expect(seen.all.count, equals: 3)
    }

    @Test("values(of:) gives the present one, later ones, and ends with the container (law 9)", arguments: kinds)
    func values(_ kind: Kind) async throws {
        let container = Container()
        let values = kind.values(container)
        var iterator = values.makeAsyncIterator()
        await expect(iterator.next()?.name, equals: "root")
        kind.set(container, Thing("next"))
        await expect(iterator.next()?.name, equals: "next")
        try await container.close()
        await expect(iterator.next() == nil)
    }

    @Test("values(of:) yields successes only (law 9)", arguments: Kind.failing(NoTrait.self))
    func valuesAreSuccesses(_ kind: Kind) async throws {
        let container = Container()
        container.stage.fail("root")
        var iterator = kind.values(container).makeAsyncIterator()
        await container.stage.tally("made").reaches(1)
        while container.loadsUnderWay > 0 { await Task.yield() }
        let made = try await kind.load(container)
        await expect(iterator.next(), is: made)
    }

    @Test("Kept when an input changes, and marked stale in the graph (law 12)", arguments: kinds)
    func stale(_ kind: Kind) async throws {
        let container = Container().unreported
        let kept = try await kind.load(container)
        func staleness() -> [Bool] { container.graph.entries.filter { $0.name.contains("Thing") }.map(\.isStale) }
        expect(staleness(), equals: [false])
        container[Tenant.self] = "next"
        try await expect(kind.load(container), is: kept)
        expect(staleness(), equals: [true])
    }

    @Test(
        "With the wish to reload it is dropped when an input changes, and loaded at the next read, or at once if observed (law 12)",
        arguments: Kind.all(Reloading.self))
    func reloads(_ kind: Kind) async throws {
        // With the wish to reload it is dropped and loads at the next read.
        do {
            let root = Container()
            let child = root.child()
            try await expect(kind.load(child).name, equals: "root")
            root[Tenant.self] = "next"
            expect(kind.ifLoaded(root) == nil)
            expect(root.stage.tally("made").value, equals: 1)
            try await expect(kind.load(child).name, equals: "next")
        }
        // If it is observed, it reloads at once, once per change.
        do {
            let container = Container()
            let seen = Log<String>()
            _ = try await kind.load(container)
            _ = kind.observe(container) { seen.add($0.name) }
            container[Tenant.self] = "one"
            await expect(seen.first(1), equals: ["one"])
            container[Tenant.self] = "two"
            await expect(seen.first(2), equals: ["one", "two"])
            expect(container.stage.tally("made").value, equals: 3)
        }
    }

    @Test("A failed eager reload is reported and leaves it unloaded (law 12)", arguments: Kind.failing(Reloading.self))
    func failedReload(_ kind: Kind) async throws {
        let container = Container()
        let (seen, reports) = (Log<String>(), container.logReports())
        _ = try await kind.load(container)
        _ = kind.observe(container) { seen.add($0.name) }
        container.stage.fail("bad")
        container[Tenant.self] = "bad"
        let report = await reports.first(1)
        expect(report.count, equals: 1)
        expect(report[0].contains("failed to reload"))
        expect(report[0].contains("bad"))
        expect(kind.ifLoaded(container) == nil)
        try await expect(kind.load(container).name, equals: "bad")
        await expect(seen.first(1), equals: ["bad"])
    }

    @Test("A copy takes what was set, a replaced loader too, and nothing that was loaded (law 2)", arguments: kinds)
    func copies(_ kind: Kind) async throws {
        let container = Container()
        let loaded = try await kind.load(container)
        let fresh = Container(copying: container)
        fresh[Tenant.self] = "copy"
        expect(kind.ifLoaded(fresh) == nil)
        try await expect(kind.load(fresh).name, equals: "copy")
        let mine = Thing("mine")
        kind.set(container, mine)
        let copy = Container(copying: container.child())
        try await expect(kind.load(copy), is: mine)
        kind.replace(container) { Thing("double for \($0[Tenant.self])") }
        let replaced = Container(copying: container)
        replaced[Tenant.self] = "copy"
        try await expect(kind.load(replaced).name, equals: "double for copy")
        try await expect(kind.load(copy), is: mine)
        expect(loaded.name, equals: "root")
    }

    @Test("A set during an update is published at its end (law 6)", arguments: kinds)
    func update(_ kind: Kind) async throws {
        let container = Container()
        let (seen, mine) = (Log<String>(), Thing("mine"))
        _ = kind.observe(container) { seen.add($0.name) }
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try container.update { handle throws(Refused) in
                handle.set(AsyncThing<NoTrait>.self, to: mine)
                throw Refused()
            }
        }
        expect(container.ifLoaded(AsyncThing<NoTrait>.self) == nil)
        container.update { handle in
            handle[PlainThing<NoTrait>.self] = mine
            handle.set(ThrowingThing<NoTrait>.self, to: mine)
            handle.set(AsyncThing<NoTrait>.self, to: mine)
            expect(kind.ifLoaded(container) == nil)
            expect(seen.all, equals: [])
        }
        try await expect(kind.load(container), is: mine)
        expect(seen.all, equals: ["mine"])
    }
}

/// One of the kinds of features, with what can be done to one of that kind: the tests say once what holds for all.
struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let load: @Sendable (Container) async throws -> Thing
    let ifLoaded: @Sendable (Container) -> Thing?
    let set: @Sendable (Container, Thing) -> Void
    let replace: @Sendable (Container, @escaping @Sendable (any FeatureContainer) -> Thing) -> Void
    let reset: @Sendable (Container) -> Void
    let observe: @Sendable (Container, @escaping @Sendable (Thing) -> Void) -> ObservationToken
    let values: @Sendable (Container) -> AsyncStream<Thing>
}

/// Whether features reload.
protocol Trait: SendableMetatype {
    static var reloads: Bool { get }
}
enum NoTrait: Trait {
    static var reloads: Bool { false }
}
enum Reloading: Trait {
    static var reloads: Bool { true }
}

/// Names the thing by the tenant that it read.
private func make(in container: any FeatureContainer) throws -> Thing {
    let stage = container.stage
    stage.tally("made").add()
    let thing = Thing(container[Tenant.self])
    try stage.mayFail(thing.name)
    return thing
}

struct PlainThing<T: Trait>: Feature {
    static var reloadsWhenInputsChange: Bool { T.reloads }
    static func load(in container: any FeatureContainer) -> Thing {
        do { return try make(in: container) } catch { fatalError("\(error)") }
    }
}
struct ThrowingThing<T: Trait>: ThrowingFeature {
    static var reloadsWhenInputsChange: Bool { T.reloads }
    static func load(in container: any FeatureContainer) throws -> Thing { try make(in: container) }
}
struct AsyncThing<T: Trait>: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { T.reloads }
    static func load(in container: any FeatureContainer) async throws -> Thing {
        await Task.yield()
        return try make(in: container)
    }
}

extension Kind {
    static func all<T: Trait>(_: T.Type) -> [Kind] { [plain(T.self)] + failing(T.self) }
    static func failing<T: Trait>(_: T.Type) -> [Kind] { [throwing(T.self), async(T.self)] }

    private static func plain<T: Trait>(_: T.Type) -> Kind {
        Kind(
            testDescription: "plain", load: { $0[PlainThing<T>.self] }, ifLoaded: { $0.ifLoaded(PlainThing<T>.self) },
            set: { $0[PlainThing<T>.self] = $1 }, replace: { $0.replace(PlainThing<T>.self, load: $1) },
            reset: { $0.reset(PlainThing<T>.self) },
            observe: { $0.observe(PlainThing<T>.self, observer: $1) },
            values: { stream($0.values(of: PlainThing<T>.self)) })
    }

    private static func throwing<T: Trait>(_: T.Type) -> Kind {
        Kind(
            testDescription: "throwing", load: { try $0[ThrowingThing<T>.self] },
            ifLoaded: { $0.ifLoaded(ThrowingThing<T>.self) }, set: { $0.set(ThrowingThing<T>.self, to: $1) },
            replace: { $0.replace(ThrowingThing<T>.self, load: $1) }, reset: { $0.reset(ThrowingThing<T>.self) },
            observe: { $0.observe(ThrowingThing<T>.self, observer: $1) },
            values: { stream($0.values(of: ThrowingThing<T>.self)) })
    }

    private static func async<T: Trait>(_: T.Type) -> Kind {
        Kind(
            testDescription: "async", load: { try await $0[AsyncThing<T>.self] },
            ifLoaded: { $0.ifLoaded(AsyncThing<T>.self) }, set: { $0.set(AsyncThing<T>.self, to: $1) },
            replace: { container, load in container.replace(AsyncThing<T>.self) { load($0) } },
            reset: { $0.reset(AsyncThing<T>.self) },
            observe: { $0.observe(AsyncThing<T>.self, observer: $1) },
            values: { stream($0.values(of: AsyncThing<T>.self)) })
    }

    /// Names the type of a sequence; ends with it.
    private static func stream(_ values: some AsyncSequence<Thing, Never> & Sendable) -> AsyncStream<Thing> {
        let (stream, continuation) = AsyncStream.makeStream(of: Thing.self)
        let task = Task {
            for await value in values { continuation.yield(value) }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

extension ContainerKeys {
    fileprivate var tenant: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var region: PropertyKey<Int> { .init(defaultValue: 0) }
}

/// Reads the tenant, except in a container without one.
private struct Sometimes: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Thing {
        let (stage, region) = (container.stage, container.region)
        stage.tally("sometimes").add()
        if region > 0 { return Thing("region \(region)") }
        let tenant = container.tenant
        if tenant < 100 { await stage.gate("sometimes").opened() }
        return Thing("tenant \(tenant)")
    }
}

/// Reads something else in its second life, so that its last instance no longer shows where it lives.
private struct Moved: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Thing {
        let stage = container.stage
        let isSecond = stage.tally("moved").value > 0
        let name = isSecond ? "region \(container.region)" : "tenant \(container.tenant)"
        stage.tally("begun").add()
        await stage.gate("moved").opened()
        return Thing(name)
    }
}

@Suite("Many homes load one key at once (law 3)", .timeLimit(.minutes(5))) struct FamilyManyHomesTests {
    private let root = Container()
    private let stage = Stage()
    private let children: [Container]
    init() {
        root[StageProperty.self] = stage
        children = (0..<12).map { [root] number in root.child { $0.tenant = number + 1 } }
    }
}

extension FamilyManyHomesTests {
    @Test(
        "However many loads are in progress, each container gets an instance of the values it sees (laws 3, 10 and 11)")
    func otherInputs() async throws {
        // If inputs have changed since the last load, each container still gets an instance of the values it sees.
        do {
            stage.gate("moved").open()
            for child in children { try await expect(child[Moved.self].name.hasPrefix("tenant")) }
            for (number, child) in children.enumerated() {
                child.reset(Moved.self)
                child.region = number + 1
            }
            stage.tally("moved").add()
            let tasks = children.flatMap { child in (0..<3).map { _ in Task { try await child[Moved.self] } } }
            for (index, task) in tasks.enumerated() {
                try await expect(task.value.name, equals: "region \(index / 3 + 1)")
            }
        }
        // However many loads are in progress, a reader joins its container's, whatever the last one read.
        do {
            let fresh = Self()
            let (root, stage, children) = (fresh.root, fresh.stage, fresh.children)
            _ = try await root.child { $0.tenant = 100 }[Sometimes.self]
            let tasks = children.map { child in Task { try await child[Sometimes.self] } }
            await stage.tally("sometimes").reaches(13)
            _ = try await root.child { $0.region = 1 }[Sometimes.self]
            let others = children.map { child in Task { try await child[Sometimes.self] } }
            await root.untilWaiting(for: Sometimes.self, 24)
            stage.gate("sometimes").open()
            for (task, other) in zip(tasks, others) { try await expect(task.value === other.value) }
            expect(stage.tally("sometimes").value, equals: 14)
        }
        // Each child begins its own load of a local feature without waiting for another's.
        do {
            let fresh = Self()
            let (stage, children) = (fresh.stage, fresh.children)
            let tasks = children.map { child in Task { try await child[Cache.self] } }
            await stage.tally("caches").reaches(12)
            stage.gate("caches").open()
            var caches: [Thing] = []
            for task in tasks { caches.append(try await task.value) }
            expect(Set(caches.map(ObjectIdentifier.init)).count, equals: 12)
        }
    }
}

/// One for each container that asks.
private struct Cache: AsyncFeature {
    static var home: Home { .local }
    static func load(in container: any FeatureContainer) async throws -> Thing {
        let stage = container.stage
        stage.tally("caches").add()
        await stage.gate("caches").opened()
        return Thing("cache")
    }
}
