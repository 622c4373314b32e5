import Fugu
import FuguTesting
import Support
import Testing

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
