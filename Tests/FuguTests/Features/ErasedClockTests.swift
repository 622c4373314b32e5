import Fugu
import Testing

@Suite(.timeLimit(.minutes(5))) struct ErasedClockTests {
    @Test("A wrapped clock counts from the moment it was wrapped")
    func origin() {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let wrapped = ErasedClock(clock)
        #expect(wrapped.now.offset == .zero)
        let before = wrapped.now
        clock.advance(by: .seconds(3))
        #expect(wrapped.now.offset == .seconds(3))
        #expect(before < wrapped.now)
        #expect(ErasedClock(wrapped).now == wrapped.now)
        #expect(wrapped.minimumResolution == .zero)
    }

    @Test("Sleeping on a wrapped manual clock ends when that is moved")
    func manual() async throws {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let container = Container()
        container.clock = ErasedClock(clock)
        let task = Task { try await container.clock.sleep(for: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(1))
        try await task.value
        #expect(container.clock.now.offset == .seconds(1))
    }

    @Test("Any clock can be wrapped, and cancellation reaches it")
    func generic() async throws {
        let manual = ManualClock()
        func wrap(_ clock: some Clock<Duration>) -> ErasedClock { ErasedClock(clock) }
        let wrapped = wrap(manual)
        let task = Task { try await wrapped.sleep(for: .seconds(1)) }
        await manual.sleepers(atLeast: 1)
        let other = Task { try await wrapped.sleep(until: wrapped.now.advanced(by: .seconds(2))) }
        await manual.sleepers(atLeast: 2)
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        manual.advance(by: .seconds(1))
        try await task.value
    }

    @Test("The continuous clock goes on and wakes its sleepers")
    func continuous() async throws {
        let clock = Container().clock
        let before = clock.now
        try await clock.sleep(for: .milliseconds(2))
        #expect(before.duration(to: clock.now) >= .milliseconds(2))
        #expect(clock.minimumResolution > .zero)
        let measured = try await ErasedClock.suspending.measure {
            try await ErasedClock.suspending.sleep(for: .milliseconds(2))
        }
        #expect(measured >= .milliseconds(2))
    }

    @Test("On the immediate clock sleeping moves the time and waits for nothing; each is a separate clock")
    func immediate() async throws {
        let clock = ErasedClock.immediate
        try await clock.sleep(for: .seconds(3_600))
        #expect(clock.now.offset == .seconds(3_600))
        try await clock.sleep(until: .init(offset: .zero))
        #expect(clock.now.offset == .seconds(3_600))
        #expect(ErasedClock.immediate.now.offset == .zero)
    }

    @Test("A cancelled task does not sleep on the immediate clock either")
    func immediateCancelled() async {
        let gate = ManualClock()
        let clock = ErasedClock.immediate
        let task = Task {
            try? await gate.sleep(for: .seconds(1))
            try await clock.sleep(for: .seconds(1))
        }
        await gate.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.now.offset == .zero)
    }

    @Test("The placeholder does not make a test hang")
    func placeholder() async throws {
        try await ErasedClock.placeholder.sleep(for: .seconds(86_400))
    }
}
