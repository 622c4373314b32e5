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
    @Test(
        "A wrapped clock counts from the moment it was wrapped, a manual one from its zero, and sleepers wake when it moves"
    )
    func origin() async throws {
        // A wrapped clock counts from the moment it was wrapped, a manual one from its own zero.
        do {
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
        // Sleeping on a wrapped manual clock ends when that is moved.
        do {
            let clock = ManualClock(now: .init(offset: .seconds(100)))
            let container = Container()
            container.clock = AnyClock(clock)
            let task = Task { try await container.clock.sleep(for: .seconds(1)) }
            await clock.sleepers(atLeast: 1)
            clock.move(by: .seconds(1))
            try await task.value
            expect(container.clock.now.offset, equals: .seconds(101))
        }
    }

    @Test("Any clock can be wrapped, the continuous one goes on, and cancellation reaches them")
    func generic() async throws {
        // Any clock can be wrapped, and cancellation reaches it.
        do {
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
        // The continuous clock goes on and wakes its sleepers.
        do {
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
    }

    @Test("On the immediate clock sleeping moves the time and waits for nothing, unless the task is cancelled")
    func immediate() async throws {
        // On the immediate clock sleeping moves the time and waits for nothing; each is a separate clock.
        do {
            let clock = AnyClock.immediate
            try await clock.sleep(for: .seconds(3_600))
            expect(clock.now.offset, equals: .seconds(3_600))
            try await clock.sleep(until: .init(offset: .zero))
            expect(clock.now.offset, equals: .seconds(3_600))
            expect(AnyClock.immediate.now.offset, equals: .zero)
        }
        // A cancelled task does not sleep on the immediate clock either.
        do {
            let clock = AnyClock.immediate
            await ManualClockTests.expectThatCancelledTaskThrows(on: clock)
            expect(clock.now.offset, equals: .zero)
        }
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

    @Test("The placeholders of clock and randomness make no test hang, and draw the same each time")
    func placeholder() async throws {
        // The placeholder does not make a test hang.
        do {
            let container = Container()
            container.makeStrict(Strictness { _ in })
            try await container.clock.sleep(for: .seconds(86_400))
        }
        // The placeholder of randomness is repeatable and never makes a caller draw for ever.
        do {
            func first() -> Int {
                let container = Container()
                container.makeStrict(Strictness { _ in })
                return container.randomness { Int.random(in: 1...6_000_000, using: &$0) }
            }
            expect(first(), equals: first())
        }
    }
}

extension AnyClockTests {
    @Test("@Injected reads the standard features by key path")
    func injected() {
        struct Reader {
            @Injected(\.clock) var clock
            @Injected(\.randomness) var randomness
        }
        let read = Container.with {
            $0.clock = AnyClock(ManualClock())
            $0.randomness = Randomness { 9 }
        } operation: {
            let reader = Reader()
            return (reader.clock.now.offset, reader.randomness.next())
        }
        expect(read == (.zero, 9))
    }
}
