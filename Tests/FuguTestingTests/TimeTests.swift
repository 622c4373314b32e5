import Fugu
import FuguTesting
import Support
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite(.timeLimit(.minutes(5))) struct AnyClockTests {}

extension AnyClockTests {
    @Test("A wrapped clock counts from the moment it was wrapped, a manual one from its own zero")
    func origin() {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let wrapped = AnyClock(clock)
        expect(wrapped.now, equals: clock.now)
        let before = wrapped.now
        clock.move(by: .seconds(3))
        expect(wrapped.now.offset, equals: .seconds(103))
        expect(AnyClock(.suspending).now.offset < .seconds(60))
        expect(before < wrapped.now)
        expect(AnyClock(wrapped).now, equals: wrapped.now)
        expect(wrapped.minimumResolution, equals: .zero)
    }

    @Test("Sleeping on a wrapped manual clock ends when that is moved")
    func manual() async throws {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let container = Container()
        container.clock = AnyClock(clock)
        let task = Task { try await container.clock.sleep(for: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        clock.move(by: .seconds(1))
        try await task.value
        expect(container.clock.now.offset, equals: .seconds(101))
    }

    @Test("Any clock can be wrapped, and cancellation reaches it")
    func generic() async throws {
        let manual = ManualClock()
        func wrap(_ clock: some Clock<Duration>) -> AnyClock { AnyClock(clock) }
        let wrapped = wrap(manual)
        expect(wrap(ManualClock(now: .init(offset: .seconds(5)))).now.offset, equals: .seconds(5))
        let task = Task { try await wrapped.sleep(for: .seconds(1)) }
        await manual.sleepers(atLeast: 1)
        let other = Task { try await wrapped.sleep(until: wrapped.now.advanced(by: .seconds(2))) }
        await manual.sleepers(atLeast: 2)
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        manual.move(by: .seconds(1))
        try await task.value
    }

    @Test("The continuous clock goes on and wakes its sleepers")
    func continuous() async throws {
        let clock = Container.program().clock
        let before = clock.now
        try await clock.sleep(for: .milliseconds(2))
        expect(before.duration(to: clock.now) >= .milliseconds(2))
        expect(clock.minimumResolution > .zero)
        let measured = try await AnyClock(.suspending).measure {
            try await AnyClock(.suspending).sleep(for: .milliseconds(2))
        }
        expect(measured >= .milliseconds(2))
    }

    @Test("On the immediate clock sleeping moves the time and waits for nothing; each is a separate clock")
    func immediate() async throws {
        let clock = AnyClock.immediate
        try await clock.sleep(for: .seconds(3_600))
        expect(clock.now.offset, equals: .seconds(3_600))
        try await clock.sleep(until: .init(offset: .zero))
        expect(clock.now.offset, equals: .seconds(3_600))
        expect(AnyClock.immediate.now.offset, equals: .zero)
    }

    @Test("Sleeping on the immediate clock lets tasks of the same actor run, and ends with a cancellation by them")
    @MainActor
    func immediateTakesTurns() async throws {
        let clock = AnyClock.immediate
        var (turns, sleeps) = (0, 0)
        let sleeper = Task {
            while true {
                try await clock.sleep(for: .seconds(1))
                sleeps += 1
            }
        }
        let other = Task {
            while turns < 10 {
                await Task.yield()
                turns += 1
            }
        }
        await other.value
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        expect(turns, equals: 10)
        expect(sleeps > 0)
    }

    @Test("No duration of a sleep is too long or too short for a clock")
    func extremes() async throws {
        for clock in [AnyClock(.continuous), AnyClock(.suspending), AnyClock(ManualClock())] {
            let tasks = [Duration.seconds(Int64.max), .seconds(10_000_000_000)].map { duration in
                Task { try await clock.sleep(for: duration, tolerance: duration) }
            }
            for duration in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
                try await clock.sleep(for: duration, tolerance: duration)
            }
            for task in tasks {
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
        let clock = AnyClock.immediate
        for _ in 0..<100 { try await clock.sleep(for: .seconds(Int64.max)) }
        expect(clock.now.offset > .seconds(3_600))
    }

    @Test("A cancelled task does not sleep on the immediate clock either")
    func immediateCancelled() async {
        let clock = AnyClock.immediate
        await ManualClockTests.expectThatCancelledTaskThrows(on: clock)
        expect(clock.now.offset, equals: .zero)
    }

    @Test("The placeholder does not make a test hang")
    func placeholder() async throws {
        let container = Container()
        container.makeStrict(Strictness { _ in })
        try await container.clock.sleep(for: .seconds(86_400))
    }
}

@Suite("Timers of clocks", .timeLimit(.minutes(5))) struct ClockTimerTests {
    /// Collects the seconds of ticks until it's canceled.
    private func collect(_ timer: ClockTimer, into log: Log<Int>) -> Task<Void, Never> {
        Task { for await tick in timer { log.add(Int(tick.offset / .seconds(1))) } }
    }

    @Test("A manual clock ticks as it's advanced, through a container's clock or by itself")
    func ticks() async {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let container = Container()
        container.clock = AnyClock(clock)
        for timer in [container.clock.timer(interval: .seconds(10)), clock.timer(interval: .seconds(10))] {
            let (log, start) = (Log<Int>(), Int(clock.now.offset / .seconds(1)))
            let task = collect(timer, into: log)
            await clock.advance(by: .seconds(35))
            expect(log.all, equals: [start + 10, start + 20, start + 30])
            await clock.advance(by: .seconds(5))
            expect(log.all, equals: [start + 10, start + 20, start + 30, start + 40])
            task.cancel()
            await task.value
            expect(clock.sleeperCount, equals: 0)
        }
    }

    @Test(
        "Ticks that pass while the loop's body runs are one, the latest, and later ones come when they would have come")
    func late() async {
        let clock = ManualClock()
        let log = Log<[Int]>()
        let task = Task {
            for await tick in clock.timer(interval: .seconds(10)) {
                log.add([Int(tick.offset / .seconds(1)), Int(clock.now.offset / .seconds(1))])
                if log.count == 1 { try await clock.sleep(for: .seconds(35)) }
            }
        }
        await clock.advance(by: .seconds(65))
        expect(log.all, equals: [[10, 10], [40, 45], [50, 50], [60, 60]])
        task.cancel()
        _ = await task.result
    }

    @Test("A clock that jumps over several ticks gives the latest")
    func jump() async {
        let clock = ManualClock()
        let log = Log<Duration>()
        let task = Task { for await tick in clock.timer(interval: .milliseconds(100)) { log.add(tick.offset) } }
        await clock.sleepers(atLeast: 1)
        clock.move(by: .milliseconds(300))
        expect(await log.first(1), equals: [.milliseconds(300)])
        await clock.sleepers(atLeast: 1)
        clock.move(by: .milliseconds(99))
        expect(clock.sleeperCount, equals: 1)
        clock.move(by: .milliseconds(1))
        expect(await log.first(2), equals: [.milliseconds(300), .milliseconds(400)])
        task.cancel()
        await task.value
    }

    @Test("Each loop has its own ticks, which begin as it does")
    func loops() async {
        let clock = ManualClock()
        let timer = clock.timer(interval: .seconds(10))
        let (first, second) = (Log<Int>(), Log<Int>())
        let one = collect(timer, into: first)
        await clock.advance(by: .seconds(4))
        let other = collect(timer, into: second)
        await clock.sleepers(atLeast: 2)
        await clock.advance(by: .seconds(20))
        expect(first.all, equals: [10, 20])
        expect(second.all, equals: [14, 24])
        for task in [one, other] {
            task.cancel()
            await task.value
        }
    }

    @Test(
        "A canceled task's loop ends, and so does each later one of the same iterator; leaving a loop leaves no sleeper"
    )
    func cancellation() async {
        let clock = ManualClock()
        let ended = Log<[Bool]>()
        let task = Task {
            var iterator = clock.timer(interval: .seconds(1)).makeAsyncIterator()
            let first = await iterator.next()
            let second = await iterator.next()
            ended.add([first == nil, second == nil])
        }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await task.value
        expect(ended.all, equals: [[true, true]])
        expect(clock.sleeperCount, equals: 0)
        let leaver = Task { for await _ in clock.timer(interval: .seconds(1)) { break } }
        await clock.advance(by: .seconds(1))
        await leaver.value
        expect(clock.sleeperCount, equals: 0)
    }

    @Test("The immediate clock ticks at once, until the task is canceled")
    func immediate() async {
        let task = Task {
            var ticks: [Duration] = []
            for await tick in AnyClock.immediate.timer(interval: .seconds(3_600)) {
                ticks.append(tick.offset)
                if ticks.count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return ticks
        }
        await expect(task.value, equals: [.seconds(3_600), .seconds(7_200), .seconds(10_800)])
    }

    @Test("The loop runs on its own actor") @MainActor
    func actor() async {
        let clock = ManualClock()
        var count = 0
        let task = Task {
            for await _ in clock.timer(interval: .seconds(1)) {
                MainActor.preconditionIsolated()
                count += 1
                if count == 2 { break }
            }
        }
        await clock.advance(by: .seconds(2))
        await task.value
        expect(count, equals: 2)
    }

    @Test("An interval of nothing, or less, is a millisecond, and the longest is a century")
    func extremes() async {
        let clock = ManualClock()
        for interval in [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(1)] {
            let (log, start) = (Log<Duration>(), clock.now)
            let task = Task { for await tick in clock.timer(interval: interval) { log.add(start.duration(to: tick)) } }
            await clock.advance(by: .milliseconds(2))
            expect(log.all, equals: [.milliseconds(1), .milliseconds(2)])
            task.cancel()
            await task.value
        }
        var count = 0
        for await tick in AnyClock.immediate.timer(interval: .seconds(Int64.max), tolerance: .seconds(Int64.max)) {
            count += 1
            if count == 100 {
                expect(tick.offset > .seconds(100 * 100 * 365 * 86_400))
                break
            }
        }
        for clock in [AnyClock(.continuous), AnyClock(.suspending)] {
            let task = Task {
                for await _ in clock.timer(interval: .seconds(Int64.max), tolerance: .seconds(Int64.max)) {}
            }
            task.cancel()
            await task.value
        }
    }
}

struct TimestampTests {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    @Test("The system's timestamp counts seconds since 1970")
    func system() {
        let before = Double(time(nil))
        let now = Container.program().timestamp.now
        let after = Double(time(nil)) + 1
        // The coarse clock behind time() may lag by a tick.
        expect((before - 0.1...after + 0.1).contains(now))
    }
    #endif

    @Test("A constant timestamp is set by its name or its type")
    func sets() {
        let container = Container()
        container.timestamp = .constant(12.5)
        expect(container.timestamp.now, equals: 12.5)
        expect(container.timestamp.now, equals: 12.5)
        container.timestamp = .constant(-1)
        expect(container.timestamp.now, equals: -1)
    }

    @Test("A timestamp that follows a manual clock moves when the clock moves, from its own start")
    func follows() {
        let clock = ManualClock()
        clock.move(by: .seconds(100))
        let timestamp = Timestamp.following(clock, from: 1_000)
        expect(timestamp.now, equals: 1_000)
        clock.move(by: .milliseconds(1_500))
        expect(timestamp.now, equals: 1_001.5)
    }

    @Test("A timestamp of one's own is read at every read")
    func custom() {
        let reads = Locked(0.0)
        let timestamp = Timestamp {
            reads.withLock { reads in
                reads += 1
                return reads
            }
        }
        expect([timestamp.now, timestamp.now, timestamp.now], equals: [1, 2, 3])
    }

    @Test("The placeholder stands at the start of 1970")
    func placeholder() {
        let container = Container()
        container.makeStrict(Strictness { _ in })
        expect(container.timestamp.now, equals: 0)
    }

    @Test("@Injected reads the standard features by key path")
    func injected() {
        struct Reader {
            @Injected(\.timestamp) var timestamp
            @Injected(\.clock) var clock
            @Injected(\.randomness) var randomness
        }
        let read = Container.with {
            $0.timestamp = .constant(7)
            $0.clock = AnyClock(ManualClock())
            $0.randomness = .constant(9)
        } operation: {
            let reader = Reader()
            return (reader.timestamp.now, reader.clock.now.offset, reader.randomness.next())
        }
        expect(read == (7, .zero, 9))
    }
}
