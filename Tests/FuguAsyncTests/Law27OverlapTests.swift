import Fugu
import Support
import Testing

@Suite("An abandoned load and the one that took its place (law 27)", .timeLimit(.minutes(5))) struct Law27OverlapTests {
    static let cases: [Case<Law27OverlapTests>] = [
        Case(
            "A reader after the last one left starts a new load at once; the abandoned one is kept if first (law 27)",
            abandonedSucceedsFirst),
        Case(
            "A reader after the last one left starts a new load at once; it is kept if first (law 27)",
            newOneSucceedsFirst),
        Case(
            "A failure of the abandoned load is nobody's; that of the new one leaves what the abandoned made (law 27)",
            failuresOfOverlappingLoads),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law27OverlapTests>) async throws { try await stated.run(self) }

    /// Does not care for cancellation; every load has its own gate.
    struct Stubborn: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Stubborn").add()
            container.onClose { stage.log.add("close \(number)") }
            await stage.gate("Stubborn \(number)").opened()
            stage.log.add(Task.isCancelled ? "end \(number), cancelled" : "end \(number)")
            try stage.mayFail("Stubborn \(number)")
            return Thing("Stubborn \(number)")
        }
    }

    /// Begins a load, abandons it, and begins another one while the first still runs.
    private func overlap(in container: Container) async -> Task<Thing, any Error> {
        let abandoned = Task { try await container[Stubborn.self] }
        await container.stage.tally("Stubborn").reaches(1)
        abandoned.cancel()
        await #expect(throws: CancellationError.self) { try await abandoned.value }
        let next = Task { try await container[Stubborn.self] }
        await container.stage.tally("Stubborn").reaches(2)
        return next
    }

    func abandonedSucceedsFirst() async throws {
        let container = Container()
        let stage = container.stage
        let next = await overlap(in: container)
        stage.gate("Stubborn 1").open()
        await expect(stage.log.first(1), equals: ["end 1, cancelled"])
        while container.loadsUnderWay > 1 { await Task.yield() }
        try await expect(container[Stubborn.self].name, equals: "Stubborn 1")
        stage.gate("Stubborn 2").open()
        try await expect(next.value.name, equals: "Stubborn 1")
        await expect(stage.log.first(3), equals: ["end 1, cancelled", "end 2", "close 2"])
        try await container.close()
        expect(stage.log.all.last, equals: "close 1")
        expect(stage.log.all.count, equals: 4)
    }

    func newOneSucceedsFirst() async throws {
        let container = Container()
        let stage = container.stage
        let next = await overlap(in: container)
        stage.gate("Stubborn 2").open()
        try await expect(next.value.name, equals: "Stubborn 2")
        stage.gate("Stubborn 1").open()
        await expect(stage.log.first(3), equals: ["end 2", "end 1, cancelled", "close 1"])
        try await expect(container[Stubborn.self].name, equals: "Stubborn 2")
        try await container.close()
        expect(stage.log.all.count, equals: 4)
        expect(stage.log.all.last, equals: "close 2")
    }

    func failuresOfOverlappingLoads() async throws {
        for failing in 1...2 {
            let container = Container()
            let stage = container.stage
            stage.fail("Stubborn \(failing)")
            let next = await overlap(in: container)
            stage.gate("Stubborn 1").open()
            while container.loadsUnderWay > 1 { await Task.yield() }
            stage.gate("Stubborn 2").open()
            try await expect(next.value.name, equals: "Stubborn \(3 - failing)")
        }
    }
}
