import Fugu
import FuguTesting
import Support
import Testing

@Suite("Many tasks wait for one load (law 4)", .timeLimit(.minutes(5))) struct ThousandTasksTests {
    static let cases: [Case<ThousandTasksTests>] = [
        Case("1,000 tasks wait for one load of 100 ms; none has it before, and all have it then (law 4)", byTheClock),
        Case(
            "999 of 1,000 tasks that are cancelled are released at once, and the load goes on for the last (laws 4 and 27)",
            cancelled),
        Case("1,000 tasks wait for one load of 100 ms of real time", inRealTime),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ThousandTasksTests>) async throws {
        try await stated.run(self)
    }

    /// Takes 100 milliseconds by the container's clock.
    struct Slow: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Slow").add()
            try await container.clock.sleep(for: .milliseconds(100))
            return Thing("Slow")
        }
    }

    private func read(_ container: Container) -> [Task<Thing, any Error>] {
        (0..<1_000).map { _ in Task { try await container[Slow.self] } }
    }

    func byTheClock() async throws {
        let (container, clock) = (Container(), ManualClock())
        container.clock = ErasedClock(clock)
        let readers = read(container)
        await container.untilWaiting(for: Slow.self, 1_000)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .milliseconds(99))
        expect(container.ifLoaded(Slow.self) == nil)
        clock.advance(by: .milliseconds(1))
        let instance = try await container[Slow.self]
        for reader in readers { try await expect(reader.value, is: instance) }
        expect(container.stage.tally("Slow").value, equals: 1)
    }

    func cancelled() async throws {
        let (container, clock) = (Container(), ManualClock())
        container.clock = ErasedClock(clock)
        let readers = read(container)
        await container.untilWaiting(for: Slow.self, 1_000)
        for reader in readers.dropLast() { reader.cancel() }
        for reader in readers.dropLast() {
            await #expect(throws: CancellationError.self) { try await reader.value }
        }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .milliseconds(100))
        try await expect(readers.last?.value, is: container.ifLoaded(Slow.self))
        expect(container.stage.tally("Slow").value, equals: 1)
    }

    func inRealTime() async throws {
        let container = Container()
        let readers = read(container)
        let instance = try await container[Slow.self]
        for reader in readers { try await expect(reader.value, is: instance) }
        expect(container.stage.tally("Slow").value, equals: 1)
    }
}
