extension AnyClock {
    /// Returns a sequence that ticks again and again, with an interval between two ticks.
    ///
    /// ```swift
    /// for await _ in container.clock.timer(interval: .seconds(30)) {
    ///     await refresh()
    /// }
    /// ```
    ///
    /// The interval is time of this clock: a `ManualClock` of FuguTesting ticks as you advance it, and ``immediate`` at once, again
    /// and again. The first tick comes an interval after you begin to iterate. Each element is the instant at which the tick was due.
    ///
    /// The loop's body doesn't delay later ticks. If it takes longer than the interval, the ticks that were due in the meantime are
    /// one, the latest, which comes at once; the next one is due when it would have been anyway. No two ticks run at a time.
    ///
    /// The sequence ends when its task is canceled, and as you leave the loop, nothing goes on. Each loop has ticks of its own.
    ///
    /// - Parameters:
    ///   - interval: The time between two ticks. One that isn't more than zero stops the program with a message.
    ///   - tolerance: The time by which the clock may be late, at most.
    /// - Returns: The sequence.
    public func timer(interval: Duration, tolerance: Duration? = nil) -> ClockTimer {
        if interval <= .zero { stopProgram(Messages.timerWithoutInterval(interval)) }
        return ClockTimer(clock: self, interval: interval, tolerance: tolerance)
    }
}

/// An asynchronous sequence of the ticks of a clock: the instants at which they were due.
///
/// See ``AnyClock/timer(interval:tolerance:)``.
public struct ClockTimer: AsyncSequence, Sendable {
    fileprivate let clock: AnyClock
    fileprivate let interval: Duration
    fileprivate let tolerance: Duration?

    /// Returns an iterator.
    ///
    /// - Returns: The iterator, whose first tick comes an interval after the first call of its `next()`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(timer: self) }

    /// An iterator over the ticks.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let timer: ClockTimer
        /// The instant at which the next tick is due, once that's known.
        private var deadline: AnyClock.Instant?
        private var isOver = false

        fileprivate init(timer: ClockTimer) { self.timer = timer }

        /// Waits until the next tick is due.
        ///
        /// - Parameter actor: The actor of the caller, on which it continues.
        /// - Returns: The instant at which the tick was due, or `nil` if the task is canceled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> AnyClock.Instant? {
            if isOver { return nil }
            let (clock, interval) = (timer.clock, timer.interval)
            var tick = deadline ?? clock.now.advanced(by: interval)
            do {
                try await clock.sleep(until: tick, tolerance: timer.tolerance)
                try Task.checkCancellation()
            } catch {
                isOver = true
                return nil
            }
            // What was due in the meantime is one tick, the latest.
            let late = tick.duration(to: clock.now)
            if late >= interval {
                tick = tick.advanced(by: interval * Int(Swift.min(late / interval, 1e15)))
            }
            deadline = tick.advanced(by: interval)
            return tick
        }
    }
}
