import Fugu
import FuguTesting
import Support
import Testing

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

    @Test("An interval of nothing stops the program with a message, in release builds too")
    func nothing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AnyClock.immediate.timer(interval: .zero)
        }
        expectMessage(of: result, "a timer needs an interval of more than zero, not 0.0 seconds.\nFix: ")
    }
}
