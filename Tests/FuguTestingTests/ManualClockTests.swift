import Fugu
import FuguTesting
import Support
import Testing

/// Sleeps and writes down who woke. In what order those run who wake at the same step is the scheduler's.
private actor Bedroom {
    private(set) var woken: [String] = []

    func sleep(_ name: String, on clock: ManualClock, until seconds: Int) async throws {
        try await clock.sleep(until: .init(offset: .seconds(seconds)))
        woken.append(name)
    }

    func sleep(_ name: String, on clock: ErasedClock, for seconds: Int) async throws {
        try await clock.sleep(for: .seconds(seconds))
        woken.append(name)
    }
}

@Suite(.timeLimit(.minutes(5))) struct ManualClockTests {
    static let cases: [Case<ManualClockTests>] = [
        Case("Each step of the clock wakes the sleepers whose deadline has come, and nobody else", wakesInSteps),
        Case("The same through the container's clock", wakesInStepsThroughContainer),
        Case("Nobody wakes before the deadline", early),
        Case("A deadline that has come is not waited for", past),
        Case("Cancelling a sleeper makes it throw and removes it; the others sleep on", cancellation),
        Case("A task that was cancelled before it came to its sleep throws at once", cancelledBefore),
        Case("Sleep and cancellation that meet end one way or the other, 2,000 times, and leave nobody behind", race),
        Case("A loop that sleeps again and again is moved step by step", steps),
        Case("Moving to the next deadline wakes all who wait for it, and says when nobody sleeps", nextDeadline),
        Case(
            "Waiting for sleepers ends when there are enough, at once if there are already, and when its task is cancelled",
            watching),
        Case("An instant that has passed changes nothing", backwards),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ManualClockTests>) async throws { try await stated.run(self) }

    func wakesInSteps() async throws {
        let clock = ManualClock()
        let bedroom = Bedroom()
        var tasks: [String: Task<Void, any Error>] = [:]
        for (name, seconds) in [("c1", 3), ("a1", 1), ("c2", 3), ("b1", 2), ("a2", 1), ("d", 9)] {
            tasks[name] = Task { try await bedroom.sleep(name, on: clock, until: seconds) }
            await clock.sleepers(atLeast: tasks.count)
        }
        for step in [["a1", "a2"], ["b1"], ["c1", "c2"]] {
            let before = await bedroom.woken
            clock.advance(by: .seconds(1))
            for name in step { try await tasks[name]?.value }
            await expect(Set(bedroom.woken), equals: Set(before + step))
        }
        expect(clock.sleeperCount, equals: 1)
        clock.advance(to: .init(offset: .seconds(9)))
        try await tasks["d"]?.value
        await expect(bedroom.woken.last, equals: "d")
    }

    func wakesInStepsThroughContainer() async throws {
        let clock = ManualClock()
        let container = Container()
        container.clock = ErasedClock(clock)
        let bedroom = Bedroom()
        let erased = container.clock
        var tasks: [Task<Void, any Error>] = []
        for (name, seconds) in [("early", 1), ("early too", 1), ("late", 2)] {
            tasks.append(Task { try await bedroom.sleep(name, on: erased, for: seconds) })
            await clock.sleepers(atLeast: tasks.count)
        }
        clock.advance(by: .seconds(1))
        for task in tasks.prefix(2) { try await task.value }
        await expect(Set(bedroom.woken), equals: ["early", "early too"])
        clock.advance(by: .seconds(1))
        try await tasks[2].value
        await expect(bedroom.woken.last, equals: "late")
    }

    func early() async throws {
        let clock = ManualClock()
        let bedroom = Bedroom()
        let task = Task { try await bedroom.sleep("a", on: clock, until: 2) }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .milliseconds(1_999))
        expect(clock.sleeperCount, equals: 1)
        clock.advance(by: .milliseconds(1))
        expect(clock.sleeperCount, equals: 0)
        try await task.value
    }

    func past() async throws {
        let clock = ManualClock(now: .init(offset: .seconds(10)))
        try await clock.sleep(until: .init(offset: .seconds(10)))
        try await clock.sleep(until: .init(offset: .seconds(3)))
        try await clock.sleep(for: .zero)
        expect(clock.sleeperCount, equals: 0)
    }

    func cancellation() async throws {
        let clock = ManualClock()
        let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
        let kept = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.sleepers(atLeast: 2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        expect(clock.sleeperCount, equals: 1)
        clock.advance(by: .seconds(1))
        try await kept.value
    }

    func cancelledBefore() async throws {
        let clock = ManualClock()
        let gate = ManualClock()
        let task = Task {
            // The gate's cancellation is caught, so that the second sleep begins in a cancelled task.
            try? await gate.sleep(for: .seconds(1))
            try await clock.sleep(for: .seconds(1))
        }
        await gate.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        expect(clock.sleeperCount, equals: 0)
    }

    func race() async {
        let clock = ManualClock()
        for _ in 0..<2_000 {
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            let mover = Task { clock.advance(by: .seconds(1)) }
            task.cancel()
            _ = await task.result
            await mover.value
        }
        expect(clock.sleeperCount, equals: 0)
    }

    func steps() async throws {
        let clock = ManualClock()
        let ticks = Locked(0)
        let loop = Task {
            while true {
                try await clock.sleep(for: .seconds(10))
                ticks.withLock { $0 += 1 }
            }
        }
        for tick in 1...5 {
            await clock.sleepers(atLeast: 1)
            expect(clock.advanceToNextDeadline())
            await clock.sleepers(atLeast: 1)
            expect(ticks.withLock { $0 }, equals: tick)
            expect(clock.now.offset, equals: .seconds(10 * tick))
        }
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
    }

    func nextDeadline() async throws {
        let clock = ManualClock()
        expect(!clock.advanceToNextDeadline())
        expect(clock.now.offset, equals: .zero)
        let tasks = [2, 2, 5].map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
        await clock.sleepers(atLeast: 3)
        clock.advanceToNextDeadline()
        expect(clock.now.offset, equals: .seconds(2))
        expect(clock.sleeperCount, equals: 1)
        clock.advanceToNextDeadline()
        for task in tasks { try await task.value }
    }

    func watching() async throws {
        let clock = ManualClock()
        await clock.sleepers(atLeast: 0)
        let watcher = Task { await clock.sleepers(atLeast: 2) }
        let never = Task { await clock.sleepers(atLeast: 100) }
        let tasks = (0..<2).map { _ in Task { try await clock.sleep(for: .seconds(1)) } }
        await watcher.value
        await clock.sleepers(atLeast: 2)
        expect(clock.sleeperCount, equals: 2)
        never.cancel()
        await never.value
        clock.advance(by: .seconds(1))
        for task in tasks { try await task.value }
    }

    func backwards() {
        let clock = ManualClock(now: .init(offset: .seconds(5)))
        clock.advance(to: .init(offset: .seconds(1)))
        expect(clock.now.offset, equals: .seconds(5))
    }

    @Test("Moving back by a duration stops with a message, in release builds too")
    func negative() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ManualClock().advance(by: .seconds(-1))
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        expect(message.contains("a ManualClock can't go back.\nFix: pass advance(by:) a duration of zero or more"))
    }
}
