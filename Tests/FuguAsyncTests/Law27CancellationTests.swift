import Fugu
import Support
import Testing

@Suite("Cancelling releases one waiter, the last one cancels the load (law 27)", .timeLimit(.minutes(5)))
struct Law27CancellationTests {
    static let cases: [Case<Law27CancellationTests>] = [
        Case("Cancelling the first asker releases it at once and alone (law 27)", cancellingTheFirstAsker),
        Case("Cancelling a later asker releases it at once and alone (law 27)", cancellingALaterAsker),
        Case("When the last one leaves, the load is cancelled and nothing is kept (law 27)", lastOneLeaves),
        Case(
            "A depending load is a waiter: cancelled, it leaves, and the last one cancels (law 27)", dependingLoadLeaves
        ),
        Case(
            "A depending load that is cancelled leaves the load to the other waiters (law 27)", dependingLoadLeavesAlone
        ),
        Case("A depending load keeps a load whose other waiters have left (law 27)", dependingLoadKeeps),
        Case("A warm-up is a waiter: cancelled alone it cancels the load (law 27)", warmUpLeaves),
        Case("A warm-up is a waiter: it keeps a load whose other waiters have left (law 27)", warmUpKeeps),
        Case(
            "An eager reload is a waiter: a reader that joins it and is cancelled leaves alone (law 27)",
            eagerReloadKeeps),
        Case("A task that is cancelled already still gets what is there, and only that (law 27)", cancelledBefore),
        Case("The starter is not cancelled by a joiner who leaves, whenever that happens (law 27)", joinerLeavesEarly),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law27CancellationTests>) async throws {
        try await stated.run(self)
    }

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

    func cancellingTheFirstAsker() async throws {
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

    func cancellingALaterAsker() async throws {
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

    func lastOneLeaves() async throws {
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

    func dependingLoadLeaves() async throws {
        let container = Container()
        let reader = Task { try await container[Ranking.self] }
        await container.untilWaiting(for: Model.self, 1)
        await container.stage.gate("Model began").opened()
        reader.cancel()
        await container.stage.gate("Model is cancelled").opened()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    func dependingLoadLeavesAlone() async throws {
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

    func dependingLoadKeeps() async throws {
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

    func warmUpLeaves() async throws {
        let container = Container()
        let warmUp = Task { try await container.warmUp { $0.load(Ranking.self) } }
        await container.untilWaiting(for: Model.self, 1)
        await container.stage.gate("Model began").opened()
        warmUp.cancel()
        await container.stage.gate("Model is cancelled").opened()
        await #expect(throws: (any Error).self) { try await warmUp.value }
    }

    func warmUpKeeps() async throws {
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

    struct Live: AsyncFeature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let tenant = container[Tenant.self]
            container.stage.tally("Live").add()
            try await container.stage.gate(tenant).openedUnlessCancelled()
            return Thing(tenant)
        }
    }

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

    /// Cancels whoever starts the load in the moment in which a second one waits besides.
    func joinerLeavesEarly() async throws {
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
