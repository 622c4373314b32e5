/// A clock that moves only when it is told to, for tests of what waits.
///
/// ```swift
/// let clock = ManualClock()
/// container.clock = AnyClock(clock)
/// let task = Task { try await poller.run() }
/// await clock.sleepers(atLeast: 1)      // it has come to its sleep
/// clock.advance(by: .seconds(30))       // and wakes
/// ```
///
/// A task that sleeps again and again is moved step by step: each time wait for its sleep, then advance. All
/// functions may be called from any thread.
public final class ManualClock: Clock, Sendable {
    /// A point in time of a manual clock.
    public struct Instant: InstantProtocol, Sendable {
        /// The time since the clock's zero.
        public let offset: Duration

        /// The instant at `offset` after the clock's zero.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// The instant later by `duration`, or earlier where that is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The time from this instant to `other`, negative where that is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether `left` comes before `right`.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state: Guarded<ManualClockState>

    /// A clock that shows `now`.
    public init(now: Instant = Instant()) {
        state = Guarded(ManualClockState(now: now))
    }

    /// What the clock shows.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: it moves by whatever it is told.
    public var minimumResolution: Duration { .zero }

    /// How many tasks sleep on this clock at the moment.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until the clock is moved to `deadline` or beyond, and not at all if it is there already.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let ticket = state.withLock { $0.ticket() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.enter(Sleeper(deadline: deadline, ticket: ticket, continuation: continuation)) }
                    .resume()
                // A cancellation before the entry found nobody to wake.
                if Task.isCancelled { cancelSleep(ticket) }
            }
        } onCancel: {
            cancelSleep(ticket)
        }
    }

    /// Waits until the clock is moved on by `duration` or more.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        try await sleep(until: now.advanced(by: duration), tolerance: tolerance)
    }

    /// Moves the clock on by `duration` and wakes whose deadline has come: in the order of the deadlines and, where
    /// these are equal, in that of arrival.
    ///
    /// Stops with a message where `duration` is negative.
    public func advance(by duration: Duration) {
        if duration < .zero {
            fatalError("A ManualClock cannot go back: advance(by:) needs a duration of zero or more, not \(duration).")
        }
        state.withLock { $0.advance(to: $0.now.advanced(by: duration)) }.resume()
    }

    /// Moves the clock on to `instant` and wakes whose deadline has come, like ``advance(by:)``. An instant that has
    /// passed changes nothing.
    public func advance(to instant: Instant) {
        state.withLock { $0.advance(to: instant) }.resume()
    }

    /// Moves the clock on to the nearest deadline, if anybody sleeps, and wakes all who wait for that instant.
    ///
    /// - Returns: Whether anybody slept.
    @discardableResult
    public func advanceToNextDeadline() -> Bool {
        let wakeUp = state.withLock { state in
            state.sleepers.first.map { state.advance(to: $0.deadline) }
        }
        wakeUp?.resume()
        return wakeUp != nil
    }

    /// Returns as soon as at least `count` tasks sleep on this clock, or the calling task is cancelled.
    ///
    /// So a test knows that the tasks it started have come to their sleep, without sleeping itself.
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
