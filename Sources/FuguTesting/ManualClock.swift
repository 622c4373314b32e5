public import Fugu

/// A clock that moves only when you advance it, for tests of code that waits.
///
/// ```swift
/// let clock = ManualClock()
/// container.clock = ErasedClock(clock)
/// let task = Task { try await poller.run() }
/// await clock.sleepers(atLeast: 1)      // it has come to its sleep
/// clock.advance(by: .seconds(30))       // and wakes
/// ```
///
/// If a task sleeps repeatedly, go step by step: wait for its sleep, and then advance. You can call all methods from any
/// thread.
///
/// An Xcode preview can't import FuguTesting: give it `ErasedClock.immediate`, or the clock of the system.
public final class ManualClock: Clock, Sendable {
    /// A point in time of a manual clock.
    public typealias Instant = ErasedClock.Instant

    private let state: Locked<ManualClockState>

    /// Creates a clock.
    ///
    /// - Parameter now: The instant that the clock shows at first.
    public init(now: Instant = Instant()) {
        state = Locked(ManualClockState(now: now))
    }

    /// The instant that the clock shows.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero, since the clock moves by any duration.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that sleep on this clock now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until the clock reaches a deadline.
    ///
    /// - Parameters:
    ///   - deadline: The instant to wait for.
    ///   - tolerance: Ignored: the clock wakes sleepers exactly.
    /// - Throws: `CancellationError`, as soon as the task is canceled.
    /// - Complexity: O(*n*) for *n* tasks that sleep.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let ticket = state.withLock { $0.ticket() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.enter(Sleeper(deadline: deadline, ticket: ticket, continuation: continuation)) }
                    .resume()
                // If the task was canceled before it registered, nothing woke it.
                if Task.isCancelled { cancelSleep(ticket) }
            }
        } onCancel: {
            cancelSleep(ticket)
        }
    }

    /// Waits until the clock has advanced by a duration.
    ///
    /// - Parameters:
    ///   - duration: The time to wait.
    ///   - tolerance: Ignored: the clock wakes sleepers exactly.
    /// - Throws: `CancellationError`, as soon as the task is canceled.
    /// - Complexity: O(*n*) for *n* tasks that sleep.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        try await sleep(until: now.advanced(by: duration), tolerance: tolerance)
    }

    /// Advances the clock and wakes the tasks whose deadlines have come.
    ///
    /// Tasks wake in the order of their deadlines, and tasks with equal deadlines in the order in which they began to sleep.
    ///
    /// - Parameter duration: The duration. A negative one stops the program with a message.
    /// - Complexity: O(*n*) for *n* tasks that sleep.
    public func advance(by duration: Duration) {
        if duration < .zero {
            fatalError(Messages.clockGoesBack(duration))
        }
        state.withLock { $0.advance(to: $0.now.advanced(by: duration)) }.resume()
    }

    /// Advances the clock to an instant and wakes the tasks whose deadlines have come.
    ///
    /// An instant that has passed changes nothing.
    ///
    /// - Parameter instant: The instant.
    /// - Complexity: O(*n*) for *n* tasks that sleep.
    public func advance(to instant: Instant) {
        state.withLock { $0.advance(to: instant) }.resume()
    }

    /// Advances the clock to the nearest deadline, if a task sleeps, and wakes all tasks that wait for that instant.
    ///
    /// - Returns: `true` if a task slept.
    /// - Complexity: O(*n*) for *n* tasks that sleep.
    @discardableResult
    public func advanceToNextDeadline() -> Bool {
        let wakeUp = state.withLock { state in
            state.sleepers.first.map { state.advance(to: $0.deadline) }
        }
        wakeUp?.resume()
        return wakeUp != nil
    }

    /// Waits until a number of tasks sleep on this clock, or until the calling task is canceled.
    ///
    /// With it, a test can wait until the tasks that it started sleep, without sleeping itself.
    ///
    /// - Parameter count: The number of tasks.
    public func sleepers(atLeast count: Int) async {
        let ticket = state.withLock { $0.ticket() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.enter(Watcher(count: count, ticket: ticket, continuation: continuation)) }
                    .resume()
                if Task.isCancelled { cancelWatch(ticket) }
            }
        } onCancel: {
            cancelWatch(ticket)
        }
    }

    private func cancelSleep(_ ticket: UInt64) {
        state.withLock { $0.removeSleeper(ticket) }?.continuation.resume(throwing: CancellationError())
    }

    private func cancelWatch(_ ticket: UInt64) {
        state.withLock { $0.removeWatcher(ticket) }?.continuation.resume()
    }
}

extension ErasedClock {
    /// Creates a clock that wraps a manual one.
    ///
    /// Its instants count from this moment. A sleeper wakes on the actor on which it fell asleep, and sleepers of one actor
    /// continue in the order in which the clock woke them.
    ///
    /// - Parameter clock: The clock to wrap.
    public init(_ clock: ManualClock) {
        let origin = clock.now
        self.init(
            now: { Instant(offset: origin.duration(to: clock.now)) }, resolution: { clock.minimumResolution },
            sleep: { instant, _ in try await clock.sleep(until: origin.advanced(by: instant.offset)) })
    }
}
