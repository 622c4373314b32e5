import Fugu
import FuguInspection
import Support
import Testing

/// Law 12: what is in doubt meets the rest.
struct DoubtTests {}

extension ContainerKeys {
    fileprivate var level: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var user: PropertyKey<String> { .init(defaultValue: "guest") }
    fileprivate var stage: PropertyKey<Stage> { .init(defaultValue: Stage()) }
    /// The same for every even level; the test may stop it there.
    fileprivate var parity: FeatureKey<Int> {
        .init(reloadsWhenInputsChange: true) { container in
            let level = container.level
            container.stage.pass(level)
            return level % 2
        }
    }
    fileprivate var page: FeatureKey<String> {
        .init(reloadsWhenInputsChange: true) { $0.level == 0 ? "guest" : $0.user }
    }
    fileprivate var title: PropertyKey<String> {
        .init(defaultValue: Container.current.level == 0 ? "guest" : Container.current.user)
    }
    fileprivate var pool: FeatureKey<Pool> {
        .init(reloadsWhenInputsChange: true) { Pool.open(in: $0) }
    }
}

private final class Pool: Sendable {
    let parity: Int
    let closed = Gate()
    init(_ parity: Int) { self.parity = parity }

    /// Opens a pool that's closed with the instance that's being loaded.
    static func open(in container: any FeatureContainer) -> Pool {
        let stage = container.stage
        let pool = Pool(container.parity)
        stage.opened.add()
        container.onClose {
            stage.closed.add()
            pool.closed.open()
        }
        return pool
    }
}

/// What the loads of a test do, and where they wait.
private final class Stage: Sendable {
    let (opened, closed) = (Counter(), Counter())
    private let stop = Locked<(level: Int, body: @Sendable () -> Void)?>(nil)

    /// Runs `body` once, within the load that reads a level.
    func at(_ level: Int, _ body: @escaping @Sendable () -> Void) { stop.withLock { $0 = (level, body) } }

    func pass(_ level: Int) {
        let body = stop.withLock { stop -> (@Sendable () -> Void)? in
            guard let body = stop?.body, stop?.level == level else { return nil }
            stop = nil
            return body
        }
        body?()
    }
}

private struct Down: Error {}

private struct Base: ThrowingFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) throws -> Base {
        let (level, stage) = (container.level, container.stage)
        stage.opened.add()
        if level == 1 { throw Down() }
        return Base()
    }
}

private struct On<Input: ThrowingFeature>: ThrowingFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) throws -> On {
        _ = try container[Input.self]
        return On()
    }
}

/// A pool that plain features get by `loaded(_:)`.
private struct Database: AsyncFeature, Sendable {
    let pool: Pool
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) async throws -> Database {
        Database(pool: .open(in: container))
    }
}

private struct Users: Feature {
    static var reloadsWhenInputsChange: Bool { true }
    let pool: Pool
    static func load(in container: any FeatureContainer) -> Users { Users(pool: container.loaded(Database.self).pool) }
}

@MainActor private final class Board: MainActorFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) -> Board {
        _ = container.parity
        return Board()
    }
}

extension DoubtTests {
    @Test(
        "A child that sets what an instance was made from since has its own, though the value was equal (laws 10 and 11)"
    )
    func childOverrides() {
        for readsRootFirst in [false, true] {
            let root = Container()
            let child = root.child { $0.user = "ada" }
            let grandchild = child.child()
            for container in [root, child, grandchild] {
                expect(container.page == "guest" && container.title == "guest")
            }
            root.level = 1
            if readsRootFirst { expect(root.page == "guest" && root.title == "guest") }
            for container in [child, grandchild] { expect(container.page == "ada" && container.title == "ada") }
            child.user = "zoe"
            expect(grandchild.page == "zoe" && grandchild.title == "zoe" && root.page == "guest")
        }
    }

    @Test("Features made one from the other fail with as many loads as there are, and the next read with one (law 20)")
    func failingChain() {
        func attempts<F: ThrowingFeature>(_: F.Type) -> [Int] {
            let container = Container().unreported
            _ = try? container[F.self]
            let opened = container.stage.opened
            container.level = 1
            return (1...2).map { _ in
                let before = opened.value
                #expect(throws: Down.self) { try container[F.self] }
                return opened.value - before
            }
        }
        expect(attempts(Base.self), equals: [1, 1])
        expect(attempts(On<On<On<On<Base>>>>.self), equals: [5, 1])
        expect(attempts(On<On<On<On<On<On<On<On<Base>>>>>>>>.self), equals: [9, 1])
    }

    @Test(
        "An operation's reader gets an instance that stays open, though it was reset while it was asked about (laws 4 and 18)",
        arguments: 0..<3)
    func resetWhileAsked(_ manner: Int) async throws {
        let root = Container()
        let stage = root.stage
        root.stage = stage
        let former = root.pool
        root.level = 2
        stage.at(2) {
            onAnotherThread {
                switch manner {
                case 0: root.reset(\.pool)
                case 1: root.replace(\.pool) { _ in Pool(0) }
                default: root.decorate(\.pool) { pool, _ in pool }
                }
            }
        }
        try await root.withChild { child in
            let pool = child.pool
            expect(pool === former || manner == 1)
            expect(!former.closed.isOpen)
        }
        if manner != 1 { await former.closed.opened() }
        try await root.close()
        expect(stage.closed.value, equals: stage.opened.value)
    }

    @Test(
        "An instance in doubt is there for loaded(_:), and what is made from it follows (laws 3 and 12)"
    )
    func loaded() async throws {
        let container = Container().unreported
        let pool = try await container[Database.self].pool
        expect(container[Users.self].pool, is: pool)
        container.level = 2
        expect(container[Users.self].pool, is: pool)
        try await expect(container[Database.self].pool, is: pool)
        expect(container[Users.self].pool, is: pool)
        container.level = 3
        expect(container[Users.self].pool, is: pool)
        let other = try await container[Database.self].pool
        expect(other !== pool)
        expect(container[Users.self].pool, is: other)
        try await container.close()
    }

    @Test("Observers of a main-actor feature hear nothing of an instance that stays (laws 9 and 12)")
    @MainActor func mainActor() {
        let container = Container()
        let heard = Counter()
        let board = container[Board.self]
        container.observe(Board.self) { _ in heard.add() }
        container.level = 2
        expect(container[Board.self] === board && heard.value == 0)
        container.level = 3
        expect(container[Board.self] !== board && heard.value == 1)
    }

    @Test("A reload that another thread's change overtakes tells observers of no value that they have (law 9)")
    func overtaken() {
        let container = Container()
        let heard = Log<Int>()
        expect(container.parity, equals: 0)
        container.observe(\.parity) { heard.add($0) }
        container.stage.at(1) { onAnotherThread { container.level = 2 } }
        container.level = 1
        expect(container.parity == 0 && heard.all.isEmpty)
    }

    @Test(
        "Who begins to observe or to iterate in doubt isn't told of what stays, and is told of what doesn't (laws 9 and 12)"
    )
    func observedInDoubt() async {
        // One who begins to observe in doubt doesn't hear what stays, and hears what doesn't.
        do {
            let container = Container()
            let heard = Log<Int>()
            _ = container.parity
            container.level = 2
            container.observe(\.parity) { heard.add($0) }
            expect(container.parity == 0 && heard.all.isEmpty)
            container.level = 3
            expect(heard.all, equals: [1])
        }
        // A sequence that begins in doubt yields what stays, and observers don't hear it again.
        do {
            let container = Container()
            let heard = Log<Int>()
            _ = container.parity
            container.level = 2
            var values = container.values(of: \.parity).makeAsyncIterator()
            expect(await values.next(), equals: 0)
            container.observe(\.parity) { heard.add($0) }
            container.level = 4
            expect(heard.all.isEmpty)
            container.level = 5
            expect(await values.next() == 1 && heard.all == [1])
        }
    }

    @Test("A graph doesn't call an instance stale that was asked about (law 12)")
    func graph() async throws {
        let container = Container()
        _ = container.pool
        container.level = 2
        _ = container.pool
        expect(container.graph.entries.count { $0.isStale }, equals: 0)
        try await container.close()
    }
}
