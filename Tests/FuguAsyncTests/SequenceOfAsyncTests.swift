import Fugu
import FuguTesting
import Support
import Testing

@Suite("The values of async features (law 12)", .timeLimit(.minutes(5))) struct SequenceOfAsyncTests {}

extension SequenceOfAsyncTests {
    private typealias Slow = ThousandTasksTests.Slow

    @Test("values(of:) does not go on waiting for its first load when its task is cancelled (laws 12 and 27)")
    func valuesAreCancelled() async throws {
        let (container, clock) = (Container(), ManualClock())
        container.clock = AnyClock(clock)
        let task = Task { for await _ in container.values(of: Slow.self) {} }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await task.value
        // Nobody else waits, so the load is cancelled: its sleep ends and it leaves nothing.
        while container.loadsUnderWay > 0 { await Task.yield() }
        expect(clock.sleeperCount, equals: 0)
        expect(container.ifLoaded(Slow.self) == nil)
    }
}
