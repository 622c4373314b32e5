import Fugu
import FuguScopes
import Support
import Testing

private enum Password: Property { static var defaultValue: String { "one" } }

/// How a kind of feature is read, of which one opens a pool with the password.
private enum Pool: CaseIterable, Sendable {
    case plain, throwing, async, mainActor

    func read(_ container: Container) async throws -> Thing {
        switch self {
        case .plain: container[Plain.self]
        case .throwing: try container[Throwing.self]
        case .async: try await container[Async.self]
        case .mainActor: await container[OnMain.self]
        }
    }

    private enum Plain: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Thing { open(in: container) }
    }
    private enum Throwing: ThrowingFeature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) throws -> Thing { open(in: container) }
    }
    private enum Async: AsyncFeature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) async throws -> Thing { open(in: container) }
    }
    private enum OnMain: MainActorFeature {
        static var reloadsWhenInputsChange: Bool { true }
        @MainActor static func load(in container: any FeatureContainer) -> Thing { open(in: container) }
    }

    private static func open(in container: any FeatureContainer) -> Thing {
        let (log, password, tenant) = (container.stage.log, container[Password.self], container[Tenant.self])
        let name = tenant == "root" ? password : "\(password) of \(tenant)"
        container.onClose { log.add("close \(name)") }
        return Thing(name)
    }
}

@Suite("What an operation has read stays open for those above that may have got it (law 18)", .timeLimit(.minutes(1)))
struct ClosingNestedTests {}

extension ClosingNestedTests {
    /// Runs `body` in operations within one another.
    private func nest<R: Sendable>(
        _ depth: Int, in container: Container, _ body: @escaping @Sendable (Container) async throws -> R
    ) async throws -> R {
        try await container.withChild { child in
            depth == 1 ? try await body(child) : try await nest(depth - 1, in: child, body)
        }
    }

    /// Replaces what reads the password, and gives what is then closed the opportunity.
    private func replace(_ root: Container, _ kind: Pool) async throws {
        root[Password.self] = "two"
        _ = try await kind.read(root)
        await root.untilClosersRan()
        await giveOthersTime()
    }

    @Test("Read further in and returned, or replaced there, it's closed at the end of the outermost (law 18)")
    func returned() async throws {
        // Read one to three operations further in and returned, it's closed at the end of the outermost.
        do {
            for kind in Pool.allCases {
                for depth in 1...3 {
                    let root = Container().unreported
                    let log = root.stage.log
                    try await root.withChild { outer in
                        let pool = try await nest(depth, in: outer) { try await kind.read($0) }
                        expect(pool.name, equals: "one")
                        try await replace(root, kind)
                        log.add("end")
                    }
                    try await finishing { await expect(log.first(2), equals: ["end", "close one"]) }
                    try await root.close()
                    expect(log.all, equals: ["end", "close one", "close two"])
                }
            }
        }
        // So is one that's read further in and replaced there, before the inner one ends.
        do {
            for kind in Pool.allCases {
                let root = Container().unreported
                let log = root.stage.log
                try await root.withChild { outer in
                    try await nest(2, in: outer) { inner in
                        _ = try await kind.read(inner)
                        try await replace(root, kind)
                    }
                    await root.untilClosersRan()
                    await giveOthersTime()
                    log.add("end")
                }
                try await finishing { await expect(log.first(2), equals: ["end", "close one"]) }
            }
        }
    }

    @Test(
        "What lives in the operation's own child stays open, and what belongs further in is closed with that (law 18)")
    func own() async throws {
        // What lives in the operation's own child stays open, if an operation within was first to read it.
        do {
            for kind in Pool.allCases {
                for depth in 1...3 {
                    let root = Container().unreported
                    let log = root.stage.log
                    try await root.withChild {
                        $0[Tenant.self] = "request"
                    } operation: { request in
                        try await nest(depth, in: request) { _ = try await kind.read($0) }
                        try await expect(kind.read(request).name, equals: "one of request")
                        try await replace(root, kind)
                        log.add("end")
                    }
                    expect(log.all, equals: ["end", "close one of request"])
                }
            }
        }
        // What belongs to an operation within, or to a child between, is closed with that.
        do {
            for kind in Pool.allCases {
                let root = Container().unreported
                let log = root.stage.log
                try await root.withChild { outer in
                    let middle = outer.child { $0[Tenant.self] = "middle" }
                    try await middle.withChild { _ = try await kind.read($0) }
                    root[Password.self] = "two"
                    await root.untilClosersRan()
                    await giveOthersTime()
                    log.add("end of middle")
                    try await middle.close()
                    try await outer.withChild {
                        $0[Tenant.self] = "inner"
                    } operation: {
                        _ = try await kind.read($0)
                    }
                    log.add("end")
                    expect(outer.keptReads, equals: 0)
                }
                expect(log.all, equals: ["end of middle", "close one of middle", "close two of inner", "end"])
            }
        }
    }

    @Test("Operations with children by key below it hand on what they have read, too (law 18)")
    func childrenByKey() async throws {
        for kind in Pool.allCases {
            for depth in 0...2 {
                let root = Container().unreported
                let log = root.stage.log
                try await root.withChild { request in
                    let tenants = request.children(by: \.shard)
                    let pool = try await tenants.withChild(for: 1) { child in
                        depth == 0
                            ? try await kind.read(child) : try await nest(depth, in: child) { try await kind.read($0) }
                    }
                    await tenants.evictAll()
                    expect(pool.name, equals: "one")
                    try await replace(root, kind)
                    log.add("end")
                }
                try await finishing { await expect(log.first(2), equals: ["end", "close one"]) }
            }
        }
    }

    @Test("An operation within that outlives the outer one keeps what it has read until it ends (law 18)")
    func outlives() async throws {
        let root = Container().unreported
        let (log, began, goesOn) = (root.stage.log, Gate(), Gate())
        let inner = try await root.withChild { outer in
            let middle = root.child()
            let inner = Task {
                try await middle.withChild { inner in
                    _ = try await Pool.plain.read(inner)
                    began.open()
                    await goesOn.opened()
                    log.add("end of inner")
                }
            }
            await began.opened()
            _ = try await Pool.plain.read(outer)
            return inner
        }
        try await replace(root, .plain)
        expect(log.all, equals: [])
        goesOn.open()
        try await inner.value
        try await finishing { await expect(log.first(2), equals: ["end of inner", "close one"]) }
    }

    @Test("A long operation with others inside keeps each replaced pool once (laws 18 and 20)")
    func socket() async throws {
        let root = Container().unreported
        let log = root.stage.log
        try await root.withChild { socket in
            for number in 1...3 {
                root[Password.self] = "\(number)"
                for _ in 0..<3 { try await nest(2, in: socket) { _ = try await Pool.plain.read($0) } }
            }
            expect(socket.keptReads, equals: 3)
            await giveOthersTime()
            log.add("end")
        }
        try await root.close()
        expect(log.all.first, equals: "end")
        expect(log.all.count, equals: 4)
    }
}

extension ContainerKeys {
    fileprivate var shard: PropertyKey<Int> { .init(defaultValue: 0) }
}
