import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    fileprivate var tenant: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var address: PropertyKey<String> { .init(defaultValue: "localhost") }
    fileprivate var index: FeatureKey<HomeKeyTests.Index> {
        .init(home: .with(\.tenant)) { _ in HomeKeyTests.Index() }
    }
}

/// Law 11: features that live where a key is set.
struct HomeKeyTests {}

extension HomeKeyTests {
    /// Reads the address, and not the tenant by which it lives.
    final class Pool: ThrowingFeature, Sendable {
        static var home: Home { .with(\.tenant) }
        let address: String
        init(_ address: String) { self.address = address }
        static func load(in container: any FeatureContainer) throws -> Pool {
            container.onClose {}
            return Pool(container.address)
        }
    }

    /// Reloads, and needs what lives by the tenant.
    final class Reloading: ThrowingFeature, Sendable {
        static var reloadsWhenInputsChange: Bool { true }
        let pool: Pool
        init(_ pool: Pool) { self.pool = pool }
        static func load(in container: any FeatureContainer) throws -> Reloading {
            Reloading(try container[Pool.self])
        }
    }

    final class Queue: AsyncFeature, Sendable {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) async throws -> Queue {
            _ = container.address
            return Queue()
        }
    }

    final class Index: Sendable {}

    struct Region: Property { static var defaultValue: Int { 0 } }
    final class Map: Feature, Sendable {
        static var home: Home { .with(Region.self) }
        static func load(in container: any FeatureContainer) -> Map {
            _ = container.address
            return Map()
        }
    }

    final class Report: ThrowingFeature, Sendable {
        let pool: Pool
        init(_ pool: Pool) { self.pool = pool }
        static func load(in container: any FeatureContainer) throws -> Report { Report(try container[Pool.self]) }
    }

    @Test("It lives in the nearest container that sets the key, or else in the root, whoever asks first (law 11)")
    func nearest() async throws {
        // It lives in the nearest container that sets the key, whoever asks first, and all below share it.
        do {
            let root = Container().unreported
            let tenants = ["a", "b"].map { name in root.child { $0.tenant = name } }
            let requests = tenants.map { $0.child() }
            let pools = try requests.map { try $0.child()[Pool.self] }
            expect(pools[0] !== pools[1])
            for (index, tenant) in tenants.enumerated() {
                expect(tenant.ifLoaded(Pool.self), is: pools[index])
                try expect(requests[index][Pool.self], is: pools[index])
                try expect(tenant[Pool.self], is: pools[index])
                try await expect(requests[index][Queue.self], is: tenant[Queue.self])
                expect(requests[index].index, is: tenant.index)
            }
            expect(root.ifLoaded(Pool.self) == nil)
            expect(root.ifLoaded(\.index) == nil)
            try await expect(tenants[0][Queue.self] !== tenants[1][Queue.self])
            let region = root.child { $0[Region.self] = 1 }
            expect(region.child()[Map.self], is: region[Map.self])
            expect(region[Map.self] !== root[Map.self])
        }
        // It lives in the root where no container sets the key, also if it was loaded there first.
        do {
            let family = Drawing(
                """
                root                → root: localhost
                  child             → root: localhost
                    below           → root: localhost
                  tenant   tenant=a → tenant: localhost
                    request         → tenant: localhost
                """, Self.held
            ) { try $0[Store.self] }
            family.show(
                """
                root                → root kept: localhost
                  tenant   tenant=a → tenant kept: localhost
                    request         → tenant kept: localhost
                """)
        }
    }

    private static let held: [String: Drawing.Held] = [
        "tenant": Drawing.Held(set: { $0.tenant = $1 }, reset: { $0.reset(\.tenant) }),
        "address": Drawing.Held(set: { $0.address = $1 }, reset: { $0.reset(\.address) }),
    ]
    private struct Store: ThrowingFeature {
        static var home: Home { .with(\.tenant) }
        static func load(in container: any FeatureContainer) throws -> Thing { Thing(container.address, container) }
    }

    @Test("It lives where the nearest tenant is set, and no lower; one further down has its own (laws 10 and 11)")
    func drawn() throws {
        // It lives where the nearest tenant is set, and no lower, whatever is set there.
        do {
            let family = Drawing(
                """
                root                         → root: localhost
                  outer      tenant=outer    → outer: localhost
                    inner    tenant=inner    → inner: localhost
                      below                  → inner: localhost
                    other    address=other   → ! Store → \\.address
                """, Self.held
            ) { try $0[Store.self] }
            family.show(
                """
                root                         → root kept: localhost
                  outer      tenant=outer    → outer kept: localhost
                    inner                    → outer: localhost
                      below                  → outer: localhost
                    other                    → outer: localhost
                """)
        }
        // A container further down that sets the key again has its own, and what is made from it lives there.
        do {
            let root = Container().unreported
            let outer = root.child { $0.tenant = "outer" }
            let inner = outer.child { $0.tenant = "inner" }
            let report = try inner.child()[Report.self]
            expect(inner.ifLoaded(Report.self), is: report)
            expect(inner.ifLoaded(Pool.self), is: report.pool)
            expect(outer.ifLoaded(Report.self) == nil)
            try expect(outer[Report.self].pool, is: outer[Pool.self])
            try expect(outer[Pool.self] !== report.pool)
        }
    }

    @Test("It goes when the key is reset, or set above one where it lives by a replaced loader (laws 10 and 11)")
    func reset() throws {
        // It goes when the key is reset, and the one above is shared again.
        do {
            let root = Container().unreported
            let pool = try root[Pool.self]
            let tenant = root.child { $0.tenant = "a" }
            let request = tenant.child()
            try expect(request[Pool.self] !== pool)
            tenant.reset(\.tenant)
            try expect(request[Pool.self], is: pool)
            try expect(tenant[Pool.self], is: pool)
        }
        // It goes when a container above sets the key, if it lives there by a replaced loader.
        do {
            let replaced = Container().unreported.child()
            replaced.replace(Pool.self) { Pool($0.address) }
            let middle = replaced.child()
            let child = middle.child { $0.address = "child.example" }
            try expect(child[Pool.self].address, equals: "child.example")
            middle.tenant = "a"
            expect(#expect(throws: LoadError.self) { try child[Pool.self] }?.code, equals: .inputOverridden)
            middle.reset(\.tenant)
            try expect(child[Pool.self].address, equals: "child.example")
        }
    }

    @Test("It goes with the key even where other inputs are set, whatever kind it is and whoever asks (laws 10 and 11)")
    func resetAmongOthers() async throws {
        for depth in 0...2 {
            let tenant = Container().unreported.child {
                $0.tenant = "a"
                $0[Region.self] = 1
                $0.address = "a.example"
            }
            let asker = (0..<depth).reduce(tenant) { container, _ in container.child() }
            let (pool, queue, map) = try await (asker[Pool.self], asker[Queue.self], asker[Map.self])
            let reload = try asker[Reloading.self]
            tenant.reset(\.tenant)
            tenant.reset(Region.self)
            // As in a new container, where the home is the root, which has another address.
            for container in [asker, tenant] {
                expect(#expect(throws: LoadError.self) { try container[Pool.self] }?.code, equals: .inputOverridden)
                expect(
                    #expect(throws: LoadError.self) { try container[Reloading.self] }?.code, equals: .inputOverridden)
                let error = await #expect(throws: LoadError.self) { try await container[Queue.self] }
                expect(error?.code, equals: .inputOverridden)
                expect(container.ifLoaded(Map.self) == nil)
            }
            tenant.tenant = "b"
            tenant[Region.self] = 2
            try expect(asker[Pool.self] !== pool)
            try expect(asker[Reloading.self] !== reload)
            try await expect(asker[Queue.self] !== queue)
            expect(asker[Map.self] !== map)
        }
    }

    @Test("A read through a container further down that overrides an input is an error with the way there (law 11)")
    func overriddenInput() async throws {
        let root = Container().unreported
        let tenant = root.child {
            $0.tenant = "a"
            $0.address = "a.example"
        }
        let request = tenant.child { $0.address = "elsewhere" }
        let error = #expect(throws: LoadError.self) { try request.child()[Report.self] }
        expect(error?.code, equals: .inputOverridden)
        expect(error?.path, equals: ["Report", "Pool", #"\.address"#])
        expect(error?.description.contains(#"has the home .with(\.tenant)"#), equals: true)
        try expect(tenant[Pool.self].address, equals: "a.example")
        let other = await #expect(throws: LoadError.self) { try await request[Queue.self] }
        expect(other?.path, equals: ["Queue", #"\.address"#])
        request.reset(\.address)
        try expect(request[Report.self].pool, is: tenant[Pool.self])
        request.tenant = "b"
        request.address = "b.example"
        try expect(request.child()[Pool.self].address, equals: "b.example")
    }

    @Test("A child can set it for itself, and sees one that an ancestor has set (laws 10 and 11)")
    func isSet() throws {
        let root = Container().unreported
        let double = Pool("double")
        root.set(Pool.self, to: double)
        let tenant = root.child { $0.tenant = "a" }
        try expect(tenant.child()[Pool.self], is: double)
        root.reset(Pool.self)
        try expect(tenant.child()[Pool.self] !== double)
        let own = Pool("own")
        let request = tenant.child { $0.set(Pool.self, to: own) }
        try expect(request[Pool.self], is: own)
        try expect(tenant[Pool.self] !== own)
    }

    @Test("Thirty-two threads of two tenants load it once for each (laws 3 and 11)")
    func threads() async throws {
        let root = Container().unreported
        let tenants = ["a", "b"].map { name in root.child { $0.tenant = name } }
        let pools = await withTaskGroup(of: (Int, ObjectIdentifier?).self) { group in
            for number in 0..<32 {
                group.addTask {
                    let request = tenants[number % 2].child()
                    return (number % 2, (try? request[Pool.self]).map { ObjectIdentifier($0) })
                }
            }
            return await group.reduce(into: [Set<ObjectIdentifier?>](repeating: [], count: 2)) { $0[$1.0].insert($1.1) }
        }
        for (index, tenant) in tenants.enumerated() {
            expect(pools[index], equals: [tenant.ifLoaded(Pool.self).map { ObjectIdentifier($0) }])
        }
        expect(pools[0] != pools[1])
    }

    #if DEBUG
    @Test(
        "A debug build reports, once, a read through a child where nobody sets the key, and none where somebody does (law 11)"
    )
    func unset() throws {
        // A debug build reports, once, a read through a child where nobody sets the key.
        do {
            let root = Container()
            let reports = root.logReports()
            let index = root.child { $0.tenant = "a" }.index
            expect(reports.all, equals: [])
            for _ in 1...2 { expect(root.child().index !== index) }
            expect(
                reports.all,
                equals: [
                    #"Fugu: \.index was read in a child container and has the home .with(\.tenant), but neither that child nor a "#
                        + #"container above it sets \.tenant, so it lives in the root, and all who don't set it share one."#
                        + "\nFix: "
                        + #"set \.tenant in the child; or in the root, if they are meant to share one."#
                ])
            let other = Container()
            let others = other.logReports()
            other.tenant = "all"
            _ = other.child().index
            expect(others.all, equals: [])
        }
        // No debug build reports that it loads again for a container that sets the key.
        do {
            let root = Container()
            let reports = Log<String>()
            root.handleReports { reports.add($0) }
            _ = try root[Pool.self]
            for name in ["a", "b", "c"] { _ = try root.child { $0.tenant = name }[Pool.self] }
            expect(!reports.all.contains { $0.contains("loads again for a child container") })
        }
    }
    #endif
}

extension ContainerKeys {
    fileprivate var color: PropertyKey<String> { .init(defaultValue: "grey") }
    fileprivate var paint: FeatureKey<String> { .init { "\($0.color) paint" } }
}

private enum Size: Property { static var defaultValue: Int { 1 } }

private struct Brush: Feature {
    let color: String
    static func load(in container: any FeatureContainer) -> Brush { Brush(color: container.color) }
}

/// Reads late, through wrappers that are made while it loads.
private struct Painter: Feature {
    @Injected(\.color) var color
    @Injected(\.paint) var paint
    @Injected(\.paint.count) var count
    @Injected(Size.self) var size
    @Injected(Brush.self) var brush

    static func load(in container: any FeatureContainer) -> Painter { Painter() }
}

/// A home in whoever sets the size.
private struct Local: Feature {
    let size: Int
    @Injected(\.color) var color
    static func load(in container: any FeatureContainer) -> Local { Local(size: container[Size.self]) }
}

/// Law 11: @Injected asks at each access.
struct HomeInjectedTests {}

extension HomeInjectedTests {
    @Test(
        "Made in a container, it asks that one and those below, and where nothing is bound, whoever is current (law 11)"
    )
    func unbound() async {
        // Made where nothing is bound, it asks whoever is current.
        do {
            let painter = Painter()
            expect(
                Container.with {
                    $0.color = "red"
                } operation: {
                    painter.color
                }, equals: "red")
            let other = Container()
            other[Size.self] = 7
            expect(Container.with(other) { painter.size }, equals: 7)
            expect(painter.color, equals: "grey")
            expect(painter.count, equals: 10)
        }
        // Made in a container, it asks that one and those below, and no other.
        do {
            let root = Container()
            root.color = "red"
            let painter = Container.with(root) { Painter() }
            expect(painter.color, equals: "red")
            let child = root.child { $0.color = "blue" }
            expect(Container.with(child) { painter.color }, equals: "blue")
            expect(Container.with(child.child()) { painter.paint }, equals: "blue paint")
            expect(Container.with(child) { painter.brush.color }, equals: "blue")
            let stranger = Container()
            stranger.color = "green"
            expect(Container.with(stranger) { painter.color }, equals: "red")
            let below = Container.with(child) { Painter() }
            expect(Container.with(root) { below.color }, equals: "blue")
            await expect(Container.with(child) { await Task { painter.color }.value }, equals: "blue")
        }
    }

    @Test(
        "A feature's home is what counts, not who asked for it, and made in a load it follows the caller's overrides (law 11)"
    )
    func inFeature() {
        // Made while a feature loads, it follows the overrides of the feature's caller.
        do {
            let root = Container()
            root.color = "red"
            let painter = root[Painter.self]
            expect(painter.color, equals: "red")
            let child = root.child { $0.color = "blue" }
            expect(Container.with(child) { painter.color }, equals: "blue")
            expect(Container.with(child) { painter.count }, equals: 10)
            expect(Container.with(Container()) { painter.color }, equals: "red")
            root.color = "white"
            expect(painter.paint, equals: "white paint")
        }
        // A feature's home is what counts, not who asked for it.
        do {
            let root = Container()
            let child = root.child { $0[Size.self] = 2 }
            let grandchild = child.child { $0.color = "blue" }
            let local = grandchild[Local.self]
            expect(local.size, equals: 2)
            expect(local.color, equals: "grey")
            expect(Container.with(grandchild) { local.color }, equals: "blue")
            root.color = "red"
            expect(Container.with(root) { local.color }, equals: "red")
            child.color = "pink"
            expect(Container.with(root) { local.color }, equals: "pink")
            expect(Container.with(child.child { $0.color = "green" }) { local.color }, equals: "green")
        }
    }

    @Test("A read while another feature loads is that feature's input; a given container is always asked (law 11)")
    func recorded() {
        // A read while another feature loads is that feature's input.
        do {
            struct Reader: Feature {
                let color: String
                static func load(in container: any FeatureContainer) -> Reader {
                    Reader(color: container[Painter.self].color)
                }
            }
            let root = Container()
            expect(root[Reader.self].color, equals: "grey")
            expect(root.child { $0.color = "blue" }[Reader.self].color, equals: "blue")
            expect(root[Reader.self].color, equals: "grey")
        }
        // A given container is always asked.
        do {
            let (root, other) = (Container(), Container())
            root.color = "red"
            other.color = "green"
            let wrapper = Injected(\.color, in: root)
            expect(Container.with(other) { wrapper.wrappedValue }, equals: "red")
            expect(Container.with(root.child { $0.color = "blue" }) { wrapper.wrappedValue }, equals: "red")
        }
    }
}

// Law 11: what load(in:) reads is recorded, and nothing else. @Injected asks `Container.current` if the wrapper was made
// where nothing was bound, or if that is the container it was made in or a descendant; else the one it was made in.
@Suite("Law 11: whose reads are recorded", .timeLimit(.minutes(5))) struct HomeThreadsTests {}

extension HomeThreadsTests {
    struct Number: Property { static var defaultValue: Int { 0 } }

    @Test(
        "Reads through a scope that a load took are not the load's inputs, on other threads or later (laws 11 and 14)")
    func scopeInALoad() async throws {
        // Other threads' reads through a scope that a load was the first to take aren't inputs of the load.
        do {
            for rules in [false, true] {
                let (taken, goesOn) = (Gate(), Gate())
                let root = Container()
                root[Number.self] = 1
                if rules { root.configureScopes { _ in } }
                let key = FeatureKey(reloadsWhenInputsChange: true, id: "takes a scope, \(rules)") { _ in
                    let scope = Container.current.scope("/a")
                    taken.open()
                    goesOn.wait()
                    return scope
                }
                try await finishing {
                    let loading = startThread { _ = root[key] }
                    taken.wait()
                    expect(root.scope("/a")[Number.self], equals: 1)
                    goesOn.open()
                    loading.wait()
                }
                let scope = try #require(root.ifLoaded { _ in key })
                root[Number.self] = 2
                expect(root.ifLoaded { _ in key }, is: scope)
                expect(root.graph.entries.first { $0.name.contains("takes a scope") }?.isStale != true)
            }
        }
        // Later reads by a scope that a load took aren't inputs either, and its rules apply.
        do {
            let root = Container()
            root.configureScopes("/a") { $0[Number.self] = 10 }
            let key = FeatureKey(reloadsWhenInputsChange: true) { _ in Container.current.scope("/a") }
            let scope = root[key]
            expect(scope[Number.self], equals: 10)
            root[Number.self] = 5
            expect(root.ifLoaded { _ in key }, is: scope)
            expect(root.scope("/a")[Number.self], equals: 10)
        }
    }

    private struct Reader {
        @Injected(Number.self) var number
    }

    @Test("A wrapper made where Container.shared is bound asks that one, or a descendant that is current (law 11)")
    func injectedWhereSharedIsBound() {
        let other = Container()
        other[Number.self] = 5
        let reader = Container.with(.shared) { Reader() }
        let expected = Container.shared[Number.self]
        expect(Container.with(other) { reader.number }, equals: expected)
        let below = Container.shared.child { $0[Number.self] = 7 }
        expect(Container.with(below) { reader.number }, equals: 7)
        let madeBelow = Container.with(below) { Reader() }
        expect(Container.with(other) { madeBelow.number }, equals: 7)
        expect(Container.with(.shared) { madeBelow.number }, equals: 7)
    }
}

/// Reads that a load starts elsewhere: no race decides where an instance lives (law 11).
struct HomeTaskReadsTests {}

extension ContainerKeys {
    fileprivate var raceUser: PropertyKey<String> { .init(defaultValue: "nobody") }
    fileprivate var raceShared: FeatureKey<Token> {
        .init(home: .shared) { $0[HomeTaskReadsTests.Order.self].startTask() }
    }
    fileprivate var raceInferred: FeatureKey<Token> { .init { $0[HomeTaskReadsTests.Order.self].startTask() } }
    fileprivate var raceInUpdate: FeatureKey<Token> {
        .init { handle in
            var made: Token?
            Container().update { _ in made = handle[HomeTaskReadsTests.Order.self].startTask() }
            return made!
        }
    }
    fileprivate var raceOuter: FeatureKey<Token> { .init { $0.raceInferred } }
    fileprivate var raceDefault: PropertyKey<Token> {
        .init(defaultValue: Container.current[HomeTaskReadsTests.Order.self].startTask())
    }
}

extension HomeTaskReadsTests {
    @Test("On a bare thread and in a detached task, Container.current is Container.shared, also during a load (law 11)")
    func bareThreads() async {
        let detached = await Container.with(Container()) { await Task.detached { Container.current }.value }
        expect(detached, is: Container.shared)
        let key = FeatureKey { _ in
            let seen = Log<Container>()
            startThread { seen.add(Container.current) }.wait()
            return seen.all[0]
        }
        expect(Container()[key], is: Container.shared)
    }
}

extension HomeTaskReadsTests {
    /// When a task that a load starts reads, as it happens to run: before the load ends, or afterward.
    struct Order: Property { static var defaultValue: Steps { Steps(isBeforeEnd: true) } }
    final class Steps: Sendable {
        let isBeforeEnd: Bool
        let (mayRead, hasRead) = (Gate(), Gate())
        let seen = Log<String>()
        init(isBeforeEnd: Bool) { self.isBeforeEnd = isBeforeEnd }

        func startTask() -> Token {
            Task {
                await mayRead.opened()
                seen.add(Container.current.raceUser)
                _ = Container.current.child().raceUser
                hasRead.open()
            }
            if isBeforeEnd {
                mayRead.open()
                hasRead.wait()
            }
            return Token()
        }
    }

    struct Throwing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Token { container[Order.self].startTask() }
    }

    struct Kind: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Whether the home asks, since it's declared.
        var runsInHome = false
        let read: @Sendable (Container) throws -> Token

        static let all = [
            Kind(testDescription: "declared to be shared", runsInHome: true) { $0.raceShared },
            Kind(testDescription: "without a declared home") { $0.raceInferred },
            Kind(testDescription: "in an update") { $0.raceInUpdate },
            Kind(testDescription: "through another feature") { $0.raceOuter },
            Kind(testDescription: "a default") { $0.raceDefault },
            Kind(testDescription: "throwing") { try $0[Throwing.self] },
        ]
    }

    @Test(
        "What a task reads through Container.current that a load started is no input, before the end of the load either (law 11)",
        arguments: Kind.all, [true, false])
    func tasks(kind: Kind, isBeforeEnd: Bool) async throws {
        let root = Container().unreported
        let steps = Steps(isBeforeEnd: isBeforeEnd)
        root[Order.self] = steps
        let child = root.child { $0.raceUser = "ada" }
        let made = Log<Token?>()
        // The load may block its thread.
        await startThread { made.add(try? kind.read(child)) }.opened()
        steps.mayRead.open()
        await steps.hasRead.opened()
        expect(made.all[0] != nil)
        expect(made.all[0], is: try kind.read(root))
        expect(made.all[0], is: try kind.read(root.child { $0.raceUser = "grace" }))
        // The values are those of the container that asked, and afterward of the home.
        let isOfChild = isBeforeEnd && !kind.runsInHome
        expect(steps.seen.all, equals: [isOfChild ? "ada" : "nobody"])
    }

    @Test(
        "What a load reads through its handle on a thread, or in child tasks, for which it waits is its input (law 11)")
    func handles() async throws {
        // What a plain load reads on a thread for which it waits is an input, through the handle that it was given.
        do {
            let root = Container()
            let key = FeatureKey(id: UniqueID()) { handle in Thing(onAnotherThread { handle.raceUser }, handle) }
            let child = root.child { $0.raceUser = "ada" }
            expect(child[key].text, equals: "ada")
            expect(root[key].text, equals: "nobody")
        }
        // Child tasks of an async load read inputs, and what they load reads its own.
        do {
            let root = Container()
            let child = root.child { $0.raceUser = "ada" }
            try await expect(child[Profile.self], equals: "ada, hello ada")
            try await expect(root[Profile.self], equals: "nobody, hello nobody")
            try await expect(root.child()[Profile.self], equals: "nobody, hello nobody")
        }
    }

    struct Profile: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String {
            async let first = Container.current.raceUser
            let rest = await withTaskGroup(of: String.self) { group in
                group.addTask { Container.current.raceGreeting }
                return await group.next()!
            }
            return await first + rest
        }
    }
}

extension ContainerKeys {
    fileprivate var raceGreeting: FeatureKey<String> { .init { _ in ", hello \(Container.current.raceUser)" } }
}
