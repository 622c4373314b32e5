import Fugu
import Support
import Testing

@Suite("Cycles between tasks are found (law 6)", .timeLimit(.minutes(5))) struct AsyncCycleTests {
    static let cases: [Case<AsyncCycleTests>] = [
        Case("A load that needs itself throws, and the message says the way and what to do (law 6)", itself),
        Case("A cycle through several loads is listed from the one that was asked (law 6)", ring),
        Case("A load that needs a cycle lists the path to it (law 6)", wayToTheRing),
        Case(
            "Tasks that each load a part of the ring and wait for the next all end with the path (law 6)", betweenTasks),
        Case("Tasks of different children end with the path, too (law 6)", betweenChildren),
        Case("A cycle is not kept: when its cause is gone, the features load (laws 6 and 27)", cycleIsNotKept),
        Case("A child that overrides the cause away has none; the same key twice on one way is one (law 6)", overrides),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<AsyncCycleTests>) async throws { try await stated.run(self) }

    struct Narcissus: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            try await container[Narcissus.self]
        }
    }
    struct Session: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.gate("Session").open()
            await container.stage.gate("Session may go on").opened()
            return Thing("Session", parts: [try await container[Account.self]])
        }
    }
    struct Account: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.gate("Account").open()
            await container.stage.gate("Account may go on").opened()
            return Thing("Account", parts: [try await container[Store.self]])
        }
    }
    struct Store: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            stage.gate("Store").open()
            await stage.gate("Store may go on").opened()
            let needsSession = container[Tenant.self] == "root"
            return Thing("Store", parts: needsSession ? [try await container[Session.self]] : [])
        }
    }

    private func open(_ names: String..., in container: Container) {
        for name in names { container.stage.gate("\(name) may go on").open() }
    }

    /// Whether the path is a way round these, from any of them.
    private func isRound(_ path: [String]) -> Bool {
        let ring = ["Session", "Account", "Store"]
        guard path.count == 4, path.first == path.last, let start = ring.firstIndex(of: path[0]) else { return false }
        return (0..<4).allSatisfy { path[$0] == ring[(start + $0) % 3] }
    }

    func itself() async throws {
        let error = try #require(
            await #expect(throws: LoadError.self) { try await Container()[Narcissus.self] })
        expect(error.path, equals: ["Narcissus", "Narcissus"])
        expect(error.description.contains("Narcissus → Narcissus"))
        expect(error.description.contains("Fix: let one of them read"))
    }

    func ring() async throws {
        let container = Container()
        open("Session", "Account", "Store", in: container)
        let error = try #require(await #expect(throws: LoadError.self) { try await container[Session.self] })
        expect(error.path, equals: ["Session", "Account", "Store", "Session"])
        expect(error.description.contains("Session → Account → Store → Session"))
    }

    func wayToTheRing() async throws {
        let container = Container()
        open("Session", "Account", "Store", in: container)
        let error = try #require(await #expect(throws: LoadError.self) { try await container[App.self] })
        expect(error.path, equals: ["App", "Session", "Account", "Store", "Session"])
    }

    struct App: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Session.self] }
    }

    func betweenTasks() async throws {
        let container = Container()
        let stage = container.stage
        let session = Task { try await container[Session.self] }
        let account = Task { try await container[Account.self] }
        let store = Task { try await container[Store.self] }
        for name in ["Session", "Account", "Store"] { await stage.gate(name).opened() }
        // One after the other begins to wait for the next; the last wait would close the circle.
        open("Session", in: container)
        await container.untilWaiting(for: Account.self, 2)
        open("Account", in: container)
        await container.untilWaiting(for: Store.self, 2)
        open("Store", in: container)
        for reader in [session, account, store] {
            let error = try #require(await #expect(throws: LoadError.self) { try await reader.value })
            expect(isRound(error.path.suffix(4).map { $0 }), "\(error.path)")
        }
        expect(container.loadsUnderWay, equals: 0)
    }

    func betweenChildren() async throws {
        let root = Container()
        let stage = root.stage
        let (one, two) = (root.child(), root.child())
        let session = Task { try await one[Session.self] }
        await stage.gate("Session").opened()
        let account = Task { try await two[Account.self] }
        await stage.gate("Account").opened()
        open("Session", in: root)
        await root.untilWaiting(for: Account.self, 2)
        open("Account", "Store", in: root)
        for reader in [session, account] {
            let error = try #require(await #expect(throws: LoadError.self) { try await reader.value })
            expect(isRound(error.path.suffix(4).map { $0 }), "\(error.path)")
        }
    }

    func cycleIsNotKept() async throws {
        let container = Container()
        open("Session", "Account", "Store", in: container)
        await #expect(throws: LoadError.self) { try await container[Account.self] }
        container[Tenant.self] = "other"
        try await expect(container[Session.self].parts[0].parts[0].name, equals: "Store")
    }

    func overrides() async throws {
        let root = Container()
        open("Session", "Account", "Store", in: root)
        let child = root.child { $0[Tenant.self] = "child" }
        try await expect(child[Session.self].name, equals: "Session")
        await #expect(throws: LoadError.self) { try await root[Session.self] }
    }
}
