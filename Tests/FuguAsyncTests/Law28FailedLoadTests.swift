import Dispatch
import Fugu
import Support
import Testing

@Suite("The closers of a load that fails (law 28)", .timeLimit(.minutes(5))) struct Law28FailedLoadTests {
    struct Failing: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("closed") }
            await stage.gate("Failing").opened()
            throw Boom("load")
        }
    }

    /// Runs on a thread that may be blocked.
    private actor Occupied {
        private let thread = SerialThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        func read(_ container: Container) async throws { _ = try await container[Failing.self] }
        func occupy(_ isOccupied: Gate, until end: Gate) {
            isOccupied.open()
            end.wait()
        }
    }
    private final class SerialThread: SerialExecutor {
        private let queue = DispatchQueue(label: "occupied")
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    @Test("They wait for nobody who is still to be notified of the failure (law 28)")
    func reportedLate() async throws {
        let container = Container()
        let occupied = Occupied()
        let (isOccupied, end) = (Gate(), Gate())
        let first = Task { try await container[Failing.self] }
        let second = Task { try await occupied.read(container) }
        await container.untilWaiting(for: Failing.self, 2)
        let occupying = Task { await occupied.occupy(isOccupied, until: end) }
        await isOccupied.opened()
        container.stage.gate("Failing").open()
        await #expect(throws: Boom("load")) { try await first.value }
        await container.untilClosersRan()
        expect(container.stage.log.all, equals: ["closed"])
        end.open()
        await occupying.value
        await #expect(throws: Boom("load")) { try await second.value }
    }
}
