import Fugu
import Support
import Testing

@Suite("Success is kept, failure is not (law 4)", .timeLimit(.minutes(5))) struct LoadFailureTests {}

extension LoadFailureTests {
    struct Database: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            stage.tally("Database").add()
            await stage.gate("Database").opened()
            try stage.mayFail("Database")
            return Thing("Database")
        }
    }
    struct Search: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Search").add()
            return Thing("Search", parts: [try await container[Database.self]])
        }
    }

    @Test(
        "A load that fails is tried again at the next read, and its success is kept (law 4)",
        arguments: Kind.failing(NoTrait.self))
    func retries(_ kind: Kind) async throws {
        let container = Container()
        container.stage.fail("root", times: 2)
        for _ in 0..<2 { await #expect(throws: Boom("root")) { try await kind.load(container) } }
        let made = try await kind.load(container)
        try await expect(kind.load(container), is: made)
        expect(container.stage.tally("made").value, equals: 3)
        expect(kind.ifLoaded(container), is: made)
    }

    @Test(
        "A failure reaches all the tasks that waited for it, in children, too, after one load (law 4)",
        arguments: [false, true])
    func failureReachesWaitingTasks(inChildren: Bool) async throws {
        let container = Container()
        container.stage.fail("Database")
        let askers = (0..<16).map { _ in inChildren ? container.child() : container }
        let readers = askers.map { asker in Task { try await asker[Database.self] } }
        await container.untilWaiting(for: Database.self, 16)
        container.stage.gate("Database").open()
        for reader in readers { await #expect(throws: Boom("Database")) { try await reader.value } }
        expect(container.stage.tally("Database").value, equals: 1)
        expect(container.ifLoaded(Database.self) == nil)
        try await expect(container[Database.self].name, equals: "Database")
    }

    struct Slow: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing {
            container.stage.tally("Slow").add()
            let hold = container[HoldProperty.self]
            hold.wait()
            throw Boom("Slow")
        }
    }
    /// Blocks a thread until it is let go.
    final class Hold: Sendable {
        private let isOver = Locked(false)
        func release() { isOver.withLock { $0 = true } }
        func wait() { while !isOver.withLock({ $0 }) { pause() } }
    }
    enum HoldProperty: Property {
        static var defaultValue: Hold { Hold() }
    }

    @Test("A failure reaches all the threads that waited for it, after one load (law 4)")
    func failureReachesWaitingThreads() async throws {
        let container = Container()
        let hold = container[HoldProperty.self]
        let outcomes = await withTaskGroup(of: Boom?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await onThread {
                        do { _ = try container[Slow.self] } catch { return error as? Boom }
                        return nil
                    }
                }
            }
            await container.untilWaiting(for: Slow.self, 7)
            hold.release()
            return await group.reduce(into: []) { $0.append($1) }
        }
        expect(outcomes, equals: Array(repeating: Boom("Slow"), count: 8))
        expect(container.stage.tally("Slow").value, equals: 1)
    }

    @Test("A feature that failed because its input failed loads again together with it (law 4)")
    func failureOfAnInputIsNotKept() async throws {
        let container = Container()
        container.stage.gate("Database").open()
        container.stage.fail("Database")
        await #expect(throws: Boom("Database")) { try await container[Search.self] }
        let search = try await container[Search.self]
        expect(search.parts[0], is: container.ifLoaded(Database.self))
        expect(container.stage.tally("Search").value, equals: 2)
        expect(container.stage.tally("Database").value, equals: 2)
    }

    struct Tenanted: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let tenant = container[Tenant.self]
            container.stage.tally("Tenanted").add()
            await container.stage.gate(tenant).opened()
            try container.stage.mayFail(tenant)
            return Thing(tenant)
        }
    }

    @Test("A failure reaches the waiters whose home it concerns; others load on (law 4)")
    func othersLoadOn() async throws {
        let root = Container()
        let stage = root.stage
        stage.fail("bad")
        let bad = root.child { $0[Tenant.self] = "bad" }
        let good = root.child { $0[Tenant.self] = "good" }
        let first = Task { try await bad[Tenanted.self] }
        await stage.tally("Tenanted").reaches(1)
        // Nobody knows yet what it reads, so all wait for the first load.
        let second = Task { try await good[Tenanted.self] }
        let third = Task { try await root[Tenanted.self] }
        await root.untilWaiting(for: Tenanted.self, 3)
        for name in ["good", "root", "bad"] { stage.gate(name).open() }
        await #expect(throws: Boom("bad")) { try await first.value }
        try await expect(second.value.name, equals: "good")
        try await expect(third.value.name, equals: "root")
        expect(stage.tally("Tenanted").value, equals: 3)
    }

    @Test("A value set during a load that fails is what everyone gets (law 4)")
    func setDuringFailingLoad() async throws {
        let container = Container()
        container.stage.fail("Database")
        let readers = (0..<4).map { _ in Task { try await container[Database.self] } }
        await container.untilWaiting(for: Database.self, 4)
        let mine = Thing("mine")
        container.set(Database.self, to: mine)
        container.stage.gate("Database").open()
        for reader in readers { try await expect(reader.value, is: mine) }
    }
}

@Suite("Cancelling releases one waiter, the last one cancels the load (law 4)", .timeLimit(.minutes(5)))
struct LoadCancellationTests {}

extension LoadCancellationTests {
    /// Waits at a gate of the stage, and returns whether it was cancelled meanwhile.
    struct Model: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            stage.tally("Model").add()
            stage.gate("Model began").open()
            do {
                try await stage.gate("Model").openedUnlessCancelled()
            } catch {
                stage.gate("Model is cancelled").open()
                throw error
            }
            return Thing("Model")
        }
    }
    struct Ranking: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Ranking").add()
            return Thing("Ranking", parts: [try await container[Model.self]])
        }
    }

    @Test("Cancelling an asker, the first or a later one, releases it at once and alone (law 4)")
    func cancellingTheFirstAsker() async throws {
        // Cancelling the first asker releases it at once and alone.
        do {
            let container = Container()
            let first = Task { try await container[Model.self] }
            await container.untilWaiting(for: Model.self, 1)
            let others = (0..<4).map { _ in Task { try await container[Model.self] } }
            await container.untilWaiting(for: Model.self, 5)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            expect(container.loadsUnderWay, equals: 1)
            container.stage.gate("Model").open()
            for other in others { try await expect(other.value, is: container.ifLoaded(Model.self)) }
            expect(container.stage.tally("Model").value, equals: 1)
            expect(!container.stage.gate("Model is cancelled").isOpen)
        }
        // Cancelling a later asker releases it at once and alone.
        do {
            let container = Container()
            let first = Task { try await container[Model.self] }
            await container.untilWaiting(for: Model.self, 1)
            let later = Task { try await container[Model.self] }
            await container.untilWaiting(for: Model.self, 2)
            later.cancel()
            await #expect(throws: CancellationError.self) { try await later.value }
            container.stage.gate("Model").open()
            try await expect(first.value.name, equals: "Model")
            expect(container.stage.tally("Model").value, equals: 1)
        }
    }

    @Test(
        "When the last one leaves, the load is cancelled and nothing is kept; a joiner who leaves does not cancel the starter (law 4)"
    )
    func lastOneLeaves() async throws {
        // When the last one leaves, the load is cancelled and nothing is kept.
        do {
            let container = Container()
            let readers = (0..<4).map { _ in Task { try await container[Model.self] } }
            await container.untilWaiting(for: Model.self, 4)
            await container.stage.gate("Model began").opened()
            for reader in readers { reader.cancel() }
            await container.stage.gate("Model is cancelled").opened()
            for reader in readers { await #expect(throws: CancellationError.self) { try await reader.value } }
            container.stage.gate("Model").open()
            try await expect(container[Model.self].name, equals: "Model")
            expect(container.stage.tally("Model").value, equals: 2)
        }
        // The starter is not cancelled by a joiner who leaves, whenever that happens.
        do {
            for _ in 0..<300 {
                let container = Container()
                let starter = Task.detached { try await container[Model.self] }
                let joiner = Task.detached { try await container[Model.self] }
                joiner.cancel()
                container.stage.gate("Model").open()
                try await expect(starter.value.name, equals: "Model")
                _ = try? await joiner.value
            }
        }
    }

    @Test("A depending load is a waiter, which leaves if cancelled and keeps the load that others have left (law 4)")
    func dependingLoadLeaves() async throws {
        // A depending load is a waiter: cancelled, it leaves, and the last one cancels.
        do {
            let container = Container()
            let reader = Task { try await container[Ranking.self] }
            await container.untilWaiting(for: Model.self, 1)
            await container.stage.gate("Model began").opened()
            reader.cancel()
            await container.stage.gate("Model is cancelled").opened()
            await #expect(throws: CancellationError.self) { try await reader.value }
        }
        // A depending load that is cancelled leaves the load to the other waiters.
        do {
            let container = Container()
            let depending = Task { try await container[Ranking.self] }
            await container.untilWaiting(for: Model.self, 1)
            let direct = Task { try await container[Model.self] }
            await container.untilWaiting(for: Model.self, 2)
            depending.cancel()
            await #expect(throws: CancellationError.self) { try await depending.value }
            container.stage.gate("Model").open()
            try await expect(direct.value.name, equals: "Model")
            expect(container.stage.tally("Model").value, equals: 1)
        }
        // A depending load keeps a load whose other waiters have left.
        do {
            let container = Container()
            let direct = Task { try await container[Model.self] }
            await container.untilWaiting(for: Model.self, 1)
            let depending = Task { try await container[Ranking.self] }
            await container.untilWaiting(for: Model.self, 2)
            direct.cancel()
            await #expect(throws: CancellationError.self) { try await direct.value }
            container.stage.gate("Model").open()
            try await expect(depending.value.parts[0].name, equals: "Model")
            expect(container.stage.tally("Model").value, equals: 1)
        }
    }

    @Test("A warm-up is a waiter, which cancels a load alone and keeps one that others have left (law 4)")
    func warmUpLeaves() async throws {
        // A warm-up is a waiter: cancelled alone it cancels the load.
        do {
            let container = Container()
            let warmUp = Task { try await container.warmUp { $0.load(Ranking.self) } }
            await container.untilWaiting(for: Model.self, 1)
            await container.stage.gate("Model began").opened()
            warmUp.cancel()
            await container.stage.gate("Model is cancelled").opened()
            await #expect(throws: (any Error).self) { try await warmUp.value }
        }
        // A warm-up is a waiter: it keeps a load whose other waiters have left.
        do {
            let container = Container()
            let warmUp = Task { try await container.warmUp { $0.load(Model.self) } }
            await container.untilWaiting(for: Model.self, 1)
            let reader = Task { try await container[Model.self] }
            await container.untilWaiting(for: Model.self, 2)
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            container.stage.gate("Model").open()
            try await warmUp.value
            expect(container.stage.tally("Model").value, equals: 1)
        }
    }

    struct Live: AsyncFeature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let tenant = container[Tenant.self]
            container.stage.tally("Live").add()
            try await container.stage.gate(tenant).openedUnlessCancelled()
            return Thing(tenant)
        }
    }

    @Test("An eager reload is a waiter: a reader that joins it and is cancelled leaves alone (law 4)")
    func eagerReloadKeeps() async throws {
        let container = Container()
        let seen = Log<String>()
        container.stage.gate("root").open()
        _ = try await container[Live.self]
        container.observe(Live.self) { seen.add($0.name) }
        container[Tenant.self] = "next"
        await container.untilWaiting(for: Live.self, 1)
        let reader = Task { try await container[Live.self] }
        await container.untilWaiting(for: Live.self, 2)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        container.stage.gate("next").open()
        await expect(seen.first(1), equals: ["next"])
        expect(container.stage.tally("Live").value, equals: 2)
    }

    @Test("A task that is cancelled already still gets what is there, and only that (law 4)")
    func cancelledBefore() async throws {
        let container = Container()
        container.set(Ranking.self, to: Thing("there"))
        let gate = Gate()
        let reader = Task { () async throws in
            await gate.opened()
            let ranking = try await container[Ranking.self]
            expect(ranking.name, equals: "there")
            await #expect(throws: CancellationError.self) { try await container[Model.self] }
        }
        reader.cancel()
        gate.open()
        try await reader.value
    }
}
