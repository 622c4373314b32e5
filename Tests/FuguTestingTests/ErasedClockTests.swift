import Fugu
import FuguTesting
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct ErasedClockTests {}

extension ErasedClockTests {
    static let cases: [Case<ErasedClockTests>] = [
        Case("A wrapped clock counts from the moment it was wrapped, a manual one from its own zero", origin),
        Case("Sleeping on a wrapped manual clock ends when that is moved", manual),
        Case("Any clock can be wrapped, and cancellation reaches it", generic),
        Case("The continuous clock goes on and wakes its sleepers", continuous),
        Case(
            "On the immediate clock sleeping moves the time and waits for nothing; each is a separate clock", immediate),
        Case("A cancelled task does not sleep on the immediate clock either", immediateCancelled),
        Case("The placeholder does not make a test hang", placeholder),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ErasedClockTests>) async throws { try await stated.run(self) }

    func origin() {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let wrapped = ErasedClock(clock)
        expect(wrapped.now, equals: clock.now)
        let before = wrapped.now
        clock.move(by: .seconds(3))
        expect(wrapped.now.offset, equals: .seconds(103))
        expect(ErasedClock(.suspending).now.offset < .seconds(60))
        expect(before < wrapped.now)
        expect(ErasedClock(wrapped).now, equals: wrapped.now)
        expect(wrapped.minimumResolution, equals: .zero)
    }

    func manual() async throws {
        let clock = ManualClock(now: .init(offset: .seconds(100)))
        let container = Container()
        container.clock = ErasedClock(clock)
        let task = Task { try await container.clock.sleep(for: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        clock.move(by: .seconds(1))
        try await task.value
        expect(container.clock.now.offset, equals: .seconds(101))
    }

    func generic() async throws {
        let manual = ManualClock()
        func wrap(_ clock: some Clock<Duration>) -> ErasedClock { ErasedClock(clock) }
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

    func continuous() async throws {
        let clock = Container.program().clock
        let before = clock.now
        try await clock.sleep(for: .milliseconds(2))
        expect(before.duration(to: clock.now) >= .milliseconds(2))
        expect(clock.minimumResolution > .zero)
        let measured = try await ErasedClock(.suspending).measure {
            try await ErasedClock(.suspending).sleep(for: .milliseconds(2))
        }
        expect(measured >= .milliseconds(2))
    }

    func immediate() async throws {
        let clock = ErasedClock.immediate
        try await clock.sleep(for: .seconds(3_600))
        expect(clock.now.offset, equals: .seconds(3_600))
        try await clock.sleep(until: .init(offset: .zero))
        expect(clock.now.offset, equals: .seconds(3_600))
        expect(ErasedClock.immediate.now.offset, equals: .zero)
    }

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
        expect(clock.now.offset, equals: .zero)
    }

    func placeholder() async throws {
        let container = Container()
        container.makeStrict(Strictness { _ in })
        try await container.clock.sleep(for: .seconds(86_400))
    }
}
