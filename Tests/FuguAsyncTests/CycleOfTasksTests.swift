import Fugu
import Support
import Testing

@Suite("Cycles between tasks are found (law 5)", .timeLimit(.minutes(5))) struct CycleOfTasksTests {}

extension CycleOfTasksTests {
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

    @Test(
        "A load that needs itself, at once or through others, throws the way to and around the cycle, and what to do (law 5)"
    )
    func itself() async throws {
        // A load that needs itself throws, and the message says the way and what to do.
        do {
            let error = try #require(
                await #expect(throws: LoadError.self) { try await Container()[Narcissus.self] })
            expect(error.path, equals: ["Narcissus", "Narcissus"])
            expect(error.description.contains("Narcissus → Narcissus"))
            expect(error.description.contains("Fix: let one of them read"))
        }
        // A cycle through several loads is listed from the one that was asked.
        do {
            let container = Container()
            open("Session", "Account", "Store", in: container)
            let error = try #require(await #expect(throws: LoadError.self) { try await container[Session.self] })
            expect(error.path, equals: ["Session", "Account", "Store", "Session"])
            expect(error.description.contains("Session → Account → Store → Session"))
        }
        // A load that needs a cycle lists the path to it.
        do {
            let container = Container()
            open("Session", "Account", "Store", in: container)
            let error = try #require(await #expect(throws: LoadError.self) { try await container[App.self] })
            expect(error.path, equals: ["App", "Session", "Account", "Store", "Session"])
        }
    }

    struct App: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Session.self] }
    }

    @Test(
        "Tasks that each load a part of the ring, in children too, and wait for the next all end with the path (law 5)")
    func betweenTasks() async throws {
        // Tasks that each load a part of the ring and wait for the next all end with the path.
        do {
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
        // Tasks of different children end with the path, too.
        do {
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
    }

    @Test("Without its cause there is no cycle: when it is gone, or overridden away, the features load (laws 4 and 5)")
    func cycleIsNotKept() async throws {
        // A cycle is not kept: when its cause is gone, the features load.
        do {
            let container = Container()
            open("Session", "Account", "Store", in: container)
            await #expect(throws: LoadError.self) { try await container[Account.self] }
            container[Tenant.self] = "other"
            try await expect(container[Session.self].parts[0].parts[0].name, equals: "Store")
        }
        // A child that overrides the cause away has none; the same key twice on one way is one.
        do {
            let root = Container()
            open("Session", "Account", "Store", in: root)
            let child = root.child { $0[Tenant.self] = "child" }
            try await expect(child[Session.self].name, equals: "Session")
            await #expect(throws: LoadError.self) { try await root[Session.self] }
        }
    }
}

@Suite("Cycles are found whatever way the need goes (law 5)", .timeLimit(.minutes(5))) struct CycleWaysTests {}

extension CycleWaysTests {
    struct Descending: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            // Another container of the family with another value: still the same key on one way.
            let child = Container.current.child { $0[Tenant.self] = "below" }
            return try await child[Descending.self]
        }
    }

    @Test("The same key through a child made in the load is a cycle whatever the child overrides (law 5)")
    func throughAChild() async throws {
        let error = try #require(
            await #expect(throws: LoadError.self) { try await Container()[Descending.self] })
        expect(error.path, equals: ["Descending", "Descending"])
    }

    enum Way: String, CaseIterable, Sendable {
        case asyncLet, group, task, detached, thread
    }
    enum WayProperty: Property {
        static var defaultValue: Way { .asyncLet }
    }
    struct Outer: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            switch container[WayProperty.self] {
            case .asyncLet:
                async let inner = container[Inner.self]
                return try await inner
            case .group:
                return try await withThrowingTaskGroup(of: Thing.self) { group in
                    group.addTask { try await container[Inner.self] }
                    return try await group.next()!
                }
            case .task: return try await Task { try await container[Inner.self] }.value
            case .detached: return try await Task.detached { try await container[Inner.self] }.value
            case .thread: return try await onThread { Result { try container[InnerThrowing.self] } }.get()
            }
        }
    }
    struct Inner: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Outer.self] }
    }
    struct InnerThrowing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { try container[InnerThrowing.self] }
    }

    @Test("The need may go through any task or thread by way of the handle (law 5)", arguments: Way.allCases)
    func throughTasks(_ way: Way) async throws {
        let container = Container()
        container[WayProperty.self] = way
        let error = try #require(await #expect(throws: LoadError.self) { try await container[Outer.self] })
        let inner = way == .thread ? ["InnerThrowing", "InnerThrowing"] : ["Inner", "Outer"]
        expect(error.path, equals: ["Outer"] + inner)
    }

    struct Diamond: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            async let left = container[LeftSide.self]
            async let right = container[RightSide.self]
            async let again = container[LeftSide.self]
            return Thing("Diamond", parts: [try await left, try await right, try await again])
        }
    }
    struct LeftSide: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing("left", parts: [try await container[Bottom.self]])
        }
    }
    struct RightSide: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing("right", parts: [try await container[Bottom.self]])
        }
    }
    struct Bottom: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Bottom").add()
            await Task.yield()
            return Thing("bottom")
        }
    }

    @Test("Ways that meet again are no cycle and load once (law 5)")
    func diamond() async throws {
        for _ in 0..<50 {
            let container = Container()
            let diamond = try await container[Diamond.self]
            expect(diamond.parts[0], is: diamond.parts[2])
            expect(diamond.parts[0].parts[0], is: diamond.parts[1].parts[0])
            expect(container.stage.tally("Bottom").value, equals: 1)
        }
    }
}

// Law 5: a load that needs itself is found when the need goes through any container of the family on the load's own
// thread, in its task, or in a task started from it.
@Suite("Cycles through tasks that a load starts (law 5)", .timeLimit(.minutes(5))) struct CycleOfStartedTasksTests {}

extension CycleOfStartedTasksTests {
    enum Way: CaseIterable {
        case itself, task, immediateTask, childTask, asyncLet, taskOfATask

        func read(_ container: Container) async throws -> Int {
            switch self {
            case .itself: return try await container[Looping.self]
            case .task: return try await Task { try await container[Looping.self] }.value
            case .immediateTask: return try await Task.immediate { try await container[Looping.self] }.value
            case .childTask:
                return try await withThrowingTaskGroup { group in
                    group.addTask { try await container[Looping.self] }
                    return try await group.next() ?? 0
                }
            case .asyncLet:
                async let number = container[Looping.self]
                return try await number
            case .taskOfATask:
                return try await Task { try await Task { try await container[Looping.self] }.value }.value
            }
        }
    }
    enum WayProperty: Property {
        static var defaultValue: @Sendable () async throws -> Int { { 0 } }
    }
    struct Looping: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int {
            try await container[WayProperty.self]()
        }
    }

    @Test(
        "A container captured beside the handle leads back to the load: the cycle is found with its way (law 5)",
        arguments: Way.allCases)
    func captured(_ way: Way) async throws {
        for throughAChild in [false, true] {
            let root = Container()
            let captured = throughAChild ? root.child() : root
            root.handleReports { _ in }
            root[WayProperty.self] = { [unowned captured] in try await way.read(captured) }
            let error = try await finishing {
                await #expect(throws: LoadError.self) { try await root[Looping.self] }
            }
            expect(error?.path, equals: ["Looping", "Looping"], "\(String(describing: error))")
            withExtendedLifetime(captured) {}
        }
    }

    @Test("A task that a load starts and that reads something else reads it, also after the load's end (law 5)")
    func somethingElse() async throws {
        let root = Container()
        root.handleReports { _ in }
        let (ended, read) = (Gate(), Log<String>())
        root[WayProperty.self] = { [unowned root] in
            Task {
                await ended.opened()
                read.add(root[Tenant.self])
                read.add("\(try await root[Looping.self])")
            }
            return 7
        }
        try await expect(root[Looping.self], equals: 7)
        ended.open()
        try await finishing { await expect(read.first(2), equals: ["root", "7"]) }
    }

    @Test("values(of:) inside a load that waits for the load itself is given the path or ends with the load (law 5)")
    func values() async throws {
        let root = Container()
        root.handleReports { _ in }
        root[WayProperty.self] = { [unowned root] in
            // The key of the load has no value yet: whoever awaits the first one awaits the load.
            var values = root.values(of: Looping.self).makeAsyncIterator()
            let first = Task { await values.next(isolation: nil) }
            await giveOthersTime()
            first.cancel()
            _ = await first.value
            return 3
        }
        try await expect(finishing { try? await root[Looping.self] } != nil)
    }
}
