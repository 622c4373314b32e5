@testable import Fugu
import FuguInspection
import FuguScopes
import Observation
import Support
import Testing

extension ContainerKeys {
    fileprivate var tenant: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var worker: PropertyKey<MeetingsTests.Worker> { .init(defaultValue: MeetingsTests.Worker {}) }
}

/// Meetings that `Engine/README.md` lists, each with a case that once went wrong.
struct MeetingsTests {
    private let container = Container()
}

extension MeetingsTests {
    struct Failure: Error {}
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }

    struct Name: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "loaded" }
    }

    struct Slow: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String { "loaded" }
    }

    struct Keeper: Feature {
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Keeper { Keeper(handle: container) }
    }

    struct Gates: Property {
        static var defaultValue: (began: Gate, goesOn: Gate) { (Gate(), Gate()) }
    }

    struct OfTenant: AsyncFeature {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) async throws -> String {
            container[Gates.self].began.open()
            await container[Gates.self].goesOn.opened()
            return "loaded"
        }
    }

    struct Waiting: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String {
            container[Gates.self].began.open()
            await container[Gates.self].goesOn.opened()
            return "loaded"
        }
    }

    struct Shared: Feature {
        static var home: Home { .shared }
        static func load(in container: any FeatureContainer) -> String { "shared" }
    }

    struct Page: Feature {
        static func load(in container: any FeatureContainer) -> String { container[Shared.self] }
    }

    struct Doubled: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { 2 * container[Number.self] }
    }

    final class Worker: Sendable {
        private let onDeinit: @Sendable () -> Void
        init(_ onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
        deinit { onDeinit() }
    }

    @Test("kept handle × release: a load that a kept handle began ends after its container was released (law 7)")
    func survivesItsRoot() async throws {
        var root: Container? = Container()
        let (began, goesOn) = (Gate(), Gate())
        root?.replace(Slow.self) { _ in
            began.open()
            await goesOn.opened()
            return "late"
        }
        let keeper = try #require(root)[Keeper.self]
        let reader = Task { try await keeper.handle[Slow.self] }
        await began.opened()
        root = nil
        goesOn.open()
        expect((try? await reader.value) ?? "late", equals: "late")
    }

    @Test(
        "home × reset: a reader that waited in a child and is sent to the root leaves nothing under way (laws 11 and 18)"
    )
    func sentAbove() async throws {
        let child = container.child { $0.tenant = 1 }
        let gates = container[Gates.self]
        async let first = child[OfTenant.self]
        await gates.began.opened()
        async let second = child[OfTenant.self]
        while child.waiterCount(for: Key(raw: Key.asyncFeature(OfTenant.self))) < 2 { await Task.yield() }
        child.reset(\.tenant)
        gates.goesOn.open()
        try await expect([first, second], equals: ["loaded", "loaded"])
        let node = child.node
        expect(node.family.lock.withLock { token in node.storage[token].inProgress }, equals: 0)
    }

    @Test(
        "replace × load: a replacement above or between counts for the next read, and what began before is not kept (laws 4 and 10)"
    )
    func replacedBetween() async throws {
        // replace × load: what is replaced between asker and home during a load is what the asker reads next.
        do {
            let middle = container.child()
            let child = middle.child()
            let gates = container[Gates.self]
            async let former = child[Waiting.self]
            await gates.began.opened()
            middle.replace(Waiting.self) { _ in "replaced" }
            gates.goesOn.open()
            _ = try await former
            try await expect(child[Waiting.self], equals: "replaced")
            try await expect(container[Waiting.self], equals: "loaded")
        }
        // replace × load: a load below that began before a replacement above isn't kept.
        do {
            let container = Container()
            let gates = container[Gates.self]
            let child = container.child { $0[Gates.self] = gates }
            async let former = child[Waiting.self]
            await gates.began.opened()
            container.replace(Waiting.self) { _ in "replaced" }
            gates.goesOn.open()
            _ = try await former
            try await expect(child[Waiting.self], equals: "replaced")
        }
    }

    @Test(
        "cancel × replace: a load that nobody waits for any more doesn't become the replaced instance (law 4)")
    func abandonedAndReplaced() async throws {
        let gates = container[Gates.self]
        let ended = Gate()
        let token = container.observeEvents { if $0.kind == .notKept || $0.kind == .loaded { ended.open() } }
        let reader = Task { try await container[Waiting.self] }
        await gates.began.opened()
        reader.cancel()
        _ = await reader.result
        container.replace(Waiting.self) { _ in "replaced" }
        gates.goesOn.open()
        await ended.opened()
        token.cancel()
        try await expect(container[Waiting.self], equals: "replaced")
    }

    /// A child that sees past an instance in the middle, because it has another value of one of its inputs.
    private struct PastCopy {
        static func key(_ name: String) -> PropertyKey<Int> { PropertyKey(defaultValue: 0, id: name) }
        static let (mode, middles, overridden, own) = (key("mode"), key("middles"), key("overridden"), key("own"))

        let container = Container().unreported
        let middle: Container
        let child: Container
        let copied: FeatureKey<Int>
        /// Reloads, and lives in the child.
        let reader: FeatureKey<Int>

        init() {
            let made = Counter()
            let copied = FeatureKey(id: UniqueID()) { handle in
                if handle[Self.mode] == 0 { _ = (handle[Self.middles], handle[Self.overridden]) }
                return made.add()
            }
            self.copied = copied
            reader = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { ($0[copied], $0[Self.own]).0 }
            middle = container.child { $0[Self.middles] = 1 }
            expect(middle[copied], equals: 1)
            // The next instance lives in the root.
            container[Self.mode] = 1
            child = middle.child {
                $0[Self.overridden] = 1
                $0[Self.own] = 1
            }
        }
    }

    @Test(
        "reset × copy: a reset reaches what sees past an instance in between, and not what sees that (laws 12 and 13)")
    func pastCopy() {
        let world = PastCopy()
        let (container, middle, child, copied) = (world.container, world.middle, world.child, world.copied)
        let (seen, others) = (Log<Int>(), Log<Int>())
        child.observe({ _ in copied }) { seen.add($0) }
        let sibling = middle.child()
        sibling.observe({ _ in copied }) { others.add($0) }
        expect(child[copied], equals: 2)
        expect(child[world.reader], equals: 2)
        expect(container[copied], equals: 2)
        expect(middle[copied], equals: 1)
        container.reset { _ in copied }
        expect(child[world.reader], equals: 3)
        expect(child[copied], equals: 3)
        expect(container[copied], equals: 3)
        expect(middle[copied], equals: 1)
        expect(seen.all, equals: [2, 3])
        expect(others.all.isEmpty)
    }

    @Test("home × reset: what reloads is loaded again when a reset uncovers another instance of an input (law 12)")
    func uncoversInstance() {
        let world = PastCopy()
        let (child, copied, reader) = (world.child, world.copied, world.reader)
        expect(child[reader], equals: 2)
        expect(child[copied], equals: 2)
        child.reset { _ in PastCopy.overridden }
        expect(child[copied], equals: 1)
        expect(child[reader], equals: 1)
        child[PastCopy.overridden] = 1
        expect(child[copied], equals: 2)
        expect(child[reader], equals: 2)
    }

    @Test("home × local: a child has its own instance beside one that is local to its parent (laws 10 and 11)")
    func besideLocalInstance() {
        final class Made: Sendable {}
        let own = FeatureKey(home: .local, id: UniqueID()) { _ in Made() }
        let reader = FeatureKey(id: UniqueID()) { container -> Made in
            _ = container[own]
            return Made()
        }
        let outer = FeatureKey(id: UniqueID()) { container in container[reader] }
        let container = Container().unreported
        let local = container[reader]
        container[own] = Made()
        let child = container.child()
        let made = child[outer]
        expect(made !== local)
        expect(child[reader], is: made)
        expect(child[outer], is: made)
        expect(container[reader], is: local)
        expect(container[outer], is: local)
    }

    @Test("update × release: an update that begins while another one publishes is no part of it (law 6)")
    func updateWhilePublishing() {
        let container = container
        container.worker = Worker {
            try? container.update { changes in
                changes[Number.self] = 1
                throw Failure()
            }
        }
        container.update { $0.worker = Worker {} }
        expect(container[Number.self], equals: 0)
    }

    @Test("observer × load of another container: a modify is delivered before that load ends (law 9)")
    func modifiedElsewhere() {
        let (container, hasSet, goesOn, heard) = (container, Gate(), Gate(), Log<Int>())
        container[Number.self] = 0
        container.observe(Number.self) { heard.add($0) }
        let thread = startThread {
            _ =
                Container()[
                    FeatureKey { _ in
                        container[Number.self] = 1
                        hasSet.open()
                        goesOn.wait()
                        return 0
                    }]
        }
        hasSet.wait()
        container.modify(Number.self) { $0 = 2 }
        expect(heard.all, equals: [1, 2])
        goesOn.open()
        thread.wait()
    }

    @Test(
        "home × handle: a shared feature that a load reads through its handle is recorded, and nothing is reported (law 11)"
    )
    func sharedThroughAHandle() {
        let reports = container.logReports()
        expect(container.child()[Page.self], equals: "shared")
        expect(reports.all.isEmpty)
    }

    @Test("reset × tracking: a reset that uncovers the parent's value is a change for trackers (laws 9 and 13)")
    func uncovered() {
        _ = container[Number.self]
        let child = container.child { $0[Number.self] = 1 }
        let changes = Counter()
        withObservationTracking {
            _ = child.observable[Number.self]
        } onChange: {
            changes.add()
        }
        child.reset(Number.self)
        expect(changes.value, equals: 1)
        expect(child.observable[Number.self], equals: 0)
    }

    @Test(
        "reset × observer: to reset all is one change, and no instance is made from a value that goes (laws 9 and 12)")
    func resetsAtOnce() {
        container[Number.self] = 4
        let heard = Log<Int>()
        container.observe(Doubled.self) { heard.add($0) }
        _ = container[Doubled.self]
        heard.removeAll()
        container.resetAll()
        expect(heard.all, equals: [0])
    }

    @Test("child by key × close: a child that its user has closed isn't handed out again")
    func closedByItsUser() async throws {
        let children = container.children(by: \.tenant)
        try await children.withChild(for: 1) { try await $0.close() }
        try await children.withChild(for: 1) { _ = try await $0[Slow.self] }
    }

    @Test("close × release: a closing waits for the closers of a child that was released (law 18)")
    func releasedChild() async throws {
        let (goesOn, closed) = (Gate(), Gate())
        var child: Container? = container.child()
        child?.replace(Name.self) { handle in
            handle.onClose {
                await goesOn.opened()
                closed.open()
            }
            return "closing"
        }
        _ = try child?[Name.self]
        child?.reset(Name.self)
        child = nil
        let container = container
        let closing = Task {
            try await container.close()
            return closed.isOpen
        }
        goesOn.open()
        try await expect(closing.value)
    }

    struct Base: Feature {
        let tenant: Int
        static var home: Home { .with(\.tenant) }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Base { Base(tenant: container.tenant) }
    }
    struct User: Feature {
        let tenant: Int
        static func load(in container: any FeatureContainer) -> User { User(tenant: container[Base.self].tenant) }
    }
    struct Unsure: ThrowingFeature {
        static var home: Home { .shared }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) throws -> Int {
            if container[Number.self] < 0 { throw Failure() }
            return container[Number.self]
        }
    }
    struct Fallback: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { (try? container[Unsure.self]) ?? -100 }
    }
    struct Settled: Feature {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) -> Int { 1 }
    }

    @Test(
        "home × child: what a child reads from its home is an input, and what failed there is tried again (laws 10, 11, and 12)"
    )
    func inputFromItsHome() {
        // home × child: a feature that a child reads from its home is an input, so a tenant has its own.
        do {
            let container = container.unreported
            _ = container.child()[User.self]
            let tenant = container.child { $0.tenant = 5 }
            expect(tenant[Base.self].tenant, equals: 5)
            expect(tenant[User.self].tenant, equals: 5)
        }
        // home × failed load: what failed for a child in its home is tried again by the child's instance.
        do {
            let container = Container()
            container[Number.self] = -1
            let child = container.child()
            expect(child[Fallback.self], equals: -100)
            expect(container.child { $0.set(Unsure.self, to: 8) }[Fallback.self], equals: 8)
            container[Number.self] = 3
            expect(child[Fallback.self], equals: 3)
            expect(container[Fallback.self], equals: 3)
        }
    }

    @Test("home × default: the first read of the key that a feature lives with is no change (laws 3 and 12)")
    func firstReadOfItsKey() {
        _ = container[Base.self]
        _ = container[Settled.self]
        _ = container.tenant
        let graph = container.graph
        expect(graph.entries.first { $0.name.hasSuffix("Base") }?.loadCount, equals: 1)
        expect(!graph.entries.contains { $0.isStale })
        _ = container[Base.self]
        expect(container.graph.entries.first { $0.name.hasSuffix("Base") }?.loadCount, equals: 1)
    }

    @Test("set × children: a set doesn't reach the children that hide it (law 20)")
    func hidden() {
        container[Number.self] = 0
        let children = (1...3).map { number in container.child { $0[Number.self] = number } }
        let heard = Log<Int>()
        for child in children { child.observe(Number.self) { heard.add($0) } }
        let node = container.node
        let key = Key(raw: Number._key.raw)
        expect(node.family.lock.withLock { token in node.place(token, key)[token].watchers.isEmpty })
        container[Number.self] = 5
        expect(heard.all.isEmpty)
        children[1].reset(Number.self)
        container[Number.self] = 6
        expect(withExtendedLifetime(children) { heard.all }, equals: [5, 6])
    }

    @Test("release × closers: the report of a container that was released without close() names 20 features at most")
    func manyClosers() {
        let messages = Messages.neverClosed(Array(repeating: nil, count: 50), "root", nil)
        expect(messages.contains("and 30 more"))
    }
}
