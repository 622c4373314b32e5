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
}

/// Counts seconds, as the model of a view does, and hands the result to another actor and back.
@MainActor private final class Counter {
    private(set) var seconds = 0
    private(set) var isSaved = false
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func start(seconds count: Int) {
        Task {
            for _ in 0..<count {
                try await clock.sleep(for: .seconds(1))
                seconds += 1
            }
            let store = Bedroom()
            try await store.sleep("now", on: clock, until: 0)
            isSaved = await store.woken == ["now"]
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct ManualClockTests {}

extension ManualClockTests {
    @Test("Each step of the clock wakes the sleepers whose deadline has come, and nobody else")
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
            clock.move(by: .seconds(1))
            for name in step { try await tasks[name]?.value }
            await expect(Set(bedroom.woken), equals: Set(before + step))
        }
        expect(clock.sleeperCount, equals: 1)
        await clock.advance(to: .init(offset: .seconds(9)))
        try await tasks["d"]?.value
        await expect(bedroom.woken.last, equals: "d")
    }

    @Test("Nobody wakes before the deadline, and one that has come is not waited for")
    func early() async throws {
        // Nobody wakes before the deadline.
        do {
            let clock = ManualClock()
            let bedroom = Bedroom()
            let task = Task { try await bedroom.sleep("a", on: clock, until: 2) }
            await clock.sleepers(atLeast: 1)
            clock.move(by: .milliseconds(1_999))
            expect(clock.sleeperCount, equals: 1)
            clock.move(by: .milliseconds(1))
            expect(clock.sleeperCount, equals: 0)
            try await task.value
        }
        // A deadline that has come is not waited for.
        do {
            let clock = ManualClock(now: .init(offset: .seconds(10)))
            try await clock.sleep(until: .init(offset: .seconds(10)))
            try await clock.sleep(until: .init(offset: .seconds(3)))
            try await clock.sleep(for: .zero)
            expect(clock.sleeperCount, equals: 0)
        }
    }

    @Test("Cancelling a sleeper, also before it sleeps, makes it throw and removes it; the others sleep on")
    func cancellation() async throws {
        // Cancelling a sleeper makes it throw and removes it; the others sleep on.
        do {
            let clock = ManualClock()
            let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
            let kept = Task { try await clock.sleep(for: .seconds(1)) }
            await clock.sleepers(atLeast: 2)
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            expect(clock.sleeperCount, equals: 1)
            clock.move(by: .seconds(1))
            try await kept.value
        }
        // A task that was cancelled before it came to its sleep throws at once.
        do {
            let clock = ManualClock()
            await Self.expectThatCancelledTaskThrows(on: clock)
            expect(clock.sleeperCount, equals: 0)
        }
    }

    /// Expects that a sleep on a clock that begins in a cancelled task throws.
    static func expectThatCancelledTaskThrows(on clock: some Clock<Duration>) async {
        let gate = ManualClock()
        let task = Task {
            // The gate's cancellation is caught, so that the second sleep begins in a cancelled task.
            try? await gate.sleep(for: .seconds(1))
            try await clock.sleep(for: .seconds(1))
        }
        await gate.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("Sleep and cancellation that meet end one way or the other, 2,000 times, and leave nobody behind")
    func race() async {
        let clock = ManualClock()
        for _ in 0..<2_000 {
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            let mover = Task { clock.move(by: .seconds(1)) }
            task.cancel()
            _ = await task.result
            await mover.value
        }
        expect(clock.sleeperCount, equals: 0)
    }

    @Test("Advancing lets a loop sleep again and again on the way")
    func loop() async throws {
        let clock = ManualClock()
        let ticks = Locked(0)
        let loop = Task {
            while true {
                try await clock.sleep(for: .seconds(10))
                ticks.withLock { $0 += 1 }
            }
        }
        await clock.advance(by: .seconds(45))
        expect(ticks.withLock { $0 }, equals: 4)
        expect(clock.now.offset, equals: .seconds(45))
        await clock.advance(by: .seconds(5))
        expect(ticks.withLock { $0 }, equals: 5)
        loop.cancel()
        await #expect(throws: CancellationError.self) { try await loop.value }
    }

    @Test("Advancing lets tasks of the main actor and of others run, and those that they start")
    @MainActor func handOver() async {
        let clock = ManualClock()
        let counter = Counter(clock)
        counter.start(seconds: 3)
        let bedroom = Bedroom()
        let other = Task { try await bedroom.sleep("a", on: clock, until: 2) }
        await clock.advance(by: .seconds(1))
        expect(counter.seconds, equals: 1)
        await clock.advance(by: .seconds(2))
        expect(counter.seconds, equals: 3)
        expect(counter.isSaved)
        await expect(bedroom.woken, equals: ["a"])
        _ = await other.result
    }

    @Test("Advancing waits for tasks that haven't come to their sleep, also for one that works before")
    func late() async {
        // Advancing waits for tasks that haven't come to their sleep.
        do {
            let clock = ManualClock()
            let ticks = Locked(0)
            let task = Task {
                for _ in 0..<200 { await Task.yield() }
                try await clock.sleep(for: .seconds(1))
                ticks.withLock { $0 += 1 }
            }
            await clock.advance(by: .seconds(1))
            expect(ticks.withLock { $0 }, equals: 1)
            _ = await task.result
        }
        // Advancing waits for a task that works for a while before its sleep.
        do {
            let clock = ManualClock(patience: 1_000)
            let task = Task {
                // As long as so many rounds of the clock, on any machine.
                for _ in 0..<300 {
                    await withCheckedContinuation { continuation in
                        _ = Task.detached(priority: .background) { continuation.resume() }
                    }
                    await MainActor.run {}
                }
                try await clock.sleep(for: .seconds(1))
            }
            await expect(texts { await clock.advance(by: .seconds(1)) }, equals: [])
            task.cancel()
            _ = await task.result
        }
    }

    @Test("A run ends when nobody sleeps")
    func run() async {
        let clock = ManualClock()
        let woken = Log<Int>()
        let tasks = [5, 2, 9, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                woken.add(seconds)
                try await clock.sleep(for: .seconds(1))
            }
        }
        await clock.run()
        expect(woken.all, equals: [2, 2, 5, 9])
        expect(clock.now.offset, equals: .seconds(10))
        for task in tasks { _ = await task.result }
    }

    @Test("Advancing fails the test where nobody sleeps, and so does a run")
    func advancedForNobody() async {
        let clock = ManualClock(patience: 1_000)
        let failures = await texts {
            await clock.advance(by: .seconds(1), fileID: "Tests/A.swift", line: 7)
            await clock.run(fileID: "Tests/A.swift", line: 8)
        }
        expect(
            failures,
            equals: [7, 8].map { line in
                "Fugu: the ManualClock was advanced at Tests/A.swift:\(line), but no task sleeps on it.\nFix: before this call, "
                    + "start the task that sleeps, and give its code this clock: $0.clock = AnyClock(clock). To move the clock "
                    + "where no task sleeps, write clock.move(by: …)."
            })
        expect(clock.now.offset, equals: .seconds(1))
    }

    @Test("Waiting for a sleep that never comes fails the test")
    func missing() async {
        let clock = ManualClock(patience: 1_000)
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        let failures = await texts {
            await clock.sleepers(atLeast: 2, fileID: "Tests/A.swift", line: 7)
            await clock.advance(by: .seconds(1))
            await clock.sleepers(atLeast: 1, fileID: "Tests/A.swift", line: 8)
        }
        let fix =
            "Fix: before this call, start the code that sleeps, and give it this clock: $0.clock = AnyClock(clock)."
        expect(
            failures,
            equals: [
                "Fugu: the test waits at Tests/A.swift:7 until 2 tasks sleep on the ManualClock, and only 1 does.\n\(fix)",
                "Fugu: the test waits at Tests/A.swift:8 until a task sleeps on the ManualClock, and none does.\n\(fix)",
            ])
        _ = await task.result
    }

    @Test("A run of a task that repeats without an end fails the test")
    func endlessRun() async {
        let clock = ManualClock(patience: 1_000)
        let task = Task { while true { try await clock.sleep(for: .seconds(1)) } }
        let failures = await texts { await clock.run(fileID: "Tests/A.swift", line: 7) }
        expect(
            failures,
            equals: [
                "Fugu: run() at Tests/A.swift:7 has advanced the ManualClock to 100 deadlines, and a task sleeps still.\nFix: for a "
                    + "task that repeats, call advance(by:) instead, or cancel the task first."
            ])
        task.cancel()
        _ = await task.result
    }

    @Test(
        "Waiting for sleepers ends when there are enough, at once if there are already, and when its task is cancelled")
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
        clock.move(by: .seconds(1))
        for task in tasks { try await task.value }
    }

    @Test("Advancing to an instant that has passed lets tasks run")
    func backwards() async {
        let clock = ManualClock(now: .init(offset: .seconds(5)))
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.advance(to: .init(offset: .seconds(1)))
        expect(clock.now.offset, equals: .seconds(5))
        expect(clock.sleeperCount, equals: 1)
        await clock.run()
        _ = await task.result
    }

    @Test("A clock that is moved, and that nothing ever asks or wraps, is a warning")
    func movedForNobody() async throws {
        func wrap(_ clock: some Clock<Duration>) -> AnyClock { AnyClock(clock) }
        let found = await texts {
            let forgotten = ManualClock()
            for line in [7, 8] as [UInt] { forgotten.move(by: .seconds(1), fileID: "Tests/A.swift", line: line) }
        }
        expect(
            found,
            equals: [
                "Fugu: the ManualClock was moved at Tests/A.swift:7, but nothing has ever read it or slept on it.\nFix: before this call, "
                    + "give it to the tested code: $0.clock = AnyClock(clock). After useStandardDoubles(), move "
                    + "container.manualClock instead."
            ])
        let none = await texts {
            _ = ManualClock()
            let read = ManualClock()
            read.move(by: .seconds(1))
            _ = read.now
            let slept = ManualClock()
            try? await slept.sleep(until: .init())
            slept.move(by: .seconds(1))
            // What a set-up moves, a test needn't ask.
            for wrap in [{ AnyClock($0) }, { wrap($0) }] as [(ManualClock) -> AnyClock] {
                let wrapped = ManualClock()
                wrapped.move(by: .seconds(1))
                _ = wrap(wrapped)
            }
            Container.strict {
                $0.useStandardDoubles()
                $0.manualClock.move(by: .seconds(1))
            } operation: {
            }
        }
        expect(none, equals: [])
        // It's the warning of the test that moved it, wherever it's released.
        let seen = await issues {
            let kept = Locked<ManualClock?>(nil)
            try await runCase(.container) {
                let clock = ManualClock()
                clock.move(by: .seconds(1))
                kept.withLock { $0 = clock }
            }
            kept.withLock { $0 = nil }
        }
        expect(seen.map(\.place), equals: [try #require(Test.current).sourceLocation])
    }

    @Test("Moving back by a duration stops with a message, in release builds too")
    func negative() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ManualClock().move(by: .seconds(-1))
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        expect(message.contains("a ManualClock can't go back.\nFix: pass a duration of zero or more"))
    }
}
