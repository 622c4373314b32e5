/// A clock for measuring and waiting that wraps any other clock.
///
/// ```swift
/// try await container.clock.sleep(for: .seconds(1))
///
/// container.clock = .immediate   // sleeping takes no time
/// ```
///
/// A test can move the time by hand: wrap a `ManualClock` of FuguTesting.
public struct AnyClock: Clock, Sendable {
    /// A point in time, counted from the moment at which the clock was wrapped, or from the zero of a clock with such instants.
    ///
    /// Don't compare instants of different clocks.
    public struct Instant: InstantProtocol, Sendable {
        /// The time since the clock's zero.
        public let offset: Duration

        /// Creates the instant at an offset from the clock's zero.
        ///
        /// - Parameter offset: The time since the clock's zero.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// Returns an instant that is later, or earlier if the duration is negative.
        ///
        /// - Parameter duration: The time between the two instants.
        /// - Returns: The instant.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this instant to another one, which is negative if that is earlier.
        ///
        /// - Parameter other: The other instant.
        /// - Returns: The time.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns a Boolean value that indicates whether an instant comes before another one.
        ///
        /// - Parameters:
        ///   - left: An instant.
        ///   - right: Another instant of the same clock.
        /// - Returns: `true` if the first instant is the earlier one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    package typealias Sleep = nonisolated(nonsending) @Sendable (Instant, Duration?) async throws -> Void

    private let readNow: @Sendable () -> Instant
    private let readResolution: @Sendable () -> Duration
    private let sleepUntil: Sleep

    /// Creates a clock that wraps another one.
    ///
    /// Its instants count from this moment. Those of a clock with the same type of instants, such as a `ManualClock`, stay what
    /// they are.
    ///
    /// - Parameter clock: The clock to wrap.
    public init<C: Clock<Duration>>(_ clock: C) {
        if let clock = clock as? AnyClock {
            self = clock
            return
        }
        // Read in any case, so that a manual clock knows that it's in use.
        let now = clock.now
        let origin = Instant() as? C.Instant ?? now
        self.init(now: { Instant(offset: origin.duration(to: clock.now)) }, resolution: { clock.minimumResolution }) {
            try await clock.sleep(until: origin.advanced(by: $0.offset), tolerance: $1)
        }
    }

    /// Creates a clock from its functions, whose `sleep` isn't a requirement of a protocol and so keeps its caller's actor.
    package init(
        now: @escaping @Sendable () -> Instant, resolution: @escaping @Sendable () -> Duration, sleep: @escaping Sleep
    ) {
        readNow = now
        readResolution = resolution
        sleepUntil = sleep
    }

    /// The current instant.
    public var now: Instant { readNow() }

    /// The smallest possible step of ``now``.
    public var minimumResolution: Duration { readResolution() }

    /// Waits until a deadline.
    ///
    /// - Parameters:
    ///   - deadline: The instant to wait for. After a hundred years, the wait ends anyway.
    ///   - tolerance: The time by which the wait may be longer.
    /// - Throws: `CancellationError`, as soon as the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        // The system's clocks trap for deadlines that are about as far away as a `Duration` can say.
        let now = now
        try await sleepUntil(
            min(max(deadline, now), now.advanced(by: .longest)), tolerance.map { min(max($0, .zero), .longest) })
    }

    /// A new clock that never waits: sleeping moves it to the deadline, lets other tasks run, and returns.
    ///
    /// Take it for code that sleeps a number of times, such as between attempts. Code that repeats until something else happens
    /// goes on and on with it, between the steps of that: in a test, give such code a `ManualClock` of FuguTesting.
    public static var immediate: AnyClock {
        let now = Locked(Instant())
        return AnyClock(now: { now.withLock { $0 } }, resolution: { .zero }) { instant, _ in
            try Task.checkCancellation()
            now.withLock { $0 = max($0, instant) }
            await Task.yield()
            try Task.checkCancellation()
        }
    }
}

extension ContainerKeys {
    /// The clock for measuring and waiting: the continuous clock of the system.
    ///
    /// The placeholder is ``AnyClock/immediate``.
    public var clock: FeatureKey<AnyClock> { .init(placeholder: { .immediate }) { _ in AnyClock(.continuous) } }
}
