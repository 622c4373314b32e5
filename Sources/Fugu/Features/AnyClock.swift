/// A clock for measuring and waiting that wraps any other clock.
///
/// ```swift
/// try await container.clock.sleep(for: .seconds(1))
///
/// let clock = ManualClock()
/// container.clock = AnyClock(clock)   // a test moves it by hand
/// ```
public struct AnyClock: Clock, ExternalFeature, Sendable {
    /// A point in time of one clock. Don't compare instants of different clocks.
    public struct Instant: InstantProtocol, Sendable {
        /// The time since the clock was wrapped.
        public let offset: Duration

        /// The instant at `offset` after the clock was wrapped.
        public init(offset: Duration) { self.offset = offset }

        /// The instant later by `duration`, or earlier where that is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The time from this instant to `other`, negative where that is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns a Boolean value that indicates whether an instant comes before another one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private typealias Sleep = nonisolated(nonsending) @Sendable (Instant, Duration?) async throws -> Void

    private let readNow: @Sendable () -> Instant
    private let readResolution: @Sendable () -> Duration
    private let sleepUntil: Sleep

    /// Creates a clock that wraps another one. Its instants count from this moment.
    public init<C: Clock<Duration>>(_ clock: C) {
        let origin = clock.now
        readNow = { Instant(offset: origin.duration(to: clock.now)) }
        readResolution = { clock.minimumResolution }
        sleepUntil = { try await clock.sleep(until: origin.advanced(by: $0.offset), tolerance: $1) }
    }

    /// Wraps a clock that a test moves by hand; its instants count from this moment.
    ///
    /// Called without the detour through the protocol, so that a sleeper wakes on the actor that it fell asleep on, and
    /// sleepers of one actor go on in the order in which the clock woke them.
    public init(_ clock: ManualClock) {
        let origin = clock.now
        self.init(clock) { instant, _ in try await clock.sleep(until: origin.advanced(by: instant.offset)) }
    }

    private init(_ clock: ManualClock, sleepUntil: @escaping Sleep) {
        let origin = clock.now
        readNow = { Instant(offset: origin.duration(to: clock.now)) }
        readResolution = { clock.minimumResolution }
        self.sleepUntil = sleepUntil
    }

    /// Creates the same clock, with the same instants.
    public init(_ clock: AnyClock) { self = clock }

    /// The present instant.
    public var now: Instant { readNow() }

    /// The smallest possible step of ``now``.
    public var minimumResolution: Duration { readResolution() }

    /// Waits until a deadline, and at most `tolerance` longer if the clock supports it.
    ///
    /// - Throws: `CancellationError`, as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleepUntil(deadline, tolerance)
    }

    /// Waits for a duration, and at most `tolerance` longer if the clock supports it.
    ///
    /// - Throws: `CancellationError`, as soon as the task is cancelled.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        try await sleep(until: now.advanced(by: duration), tolerance: tolerance)
    }

    /// The system's clock that continues while the machine sleeps.
    public static let continuous = AnyClock(ContinuousClock())

    /// The system's clock that stops while the machine sleeps.
    public static let suspending = AnyClock(SuspendingClock())

    /// A new clock that never waits: sleeping moves it to the deadline and returns at once.
    public static var immediate: AnyClock {
        let clock = ManualClock()
        return AnyClock(clock) { instant, _ in
            try Task.checkCancellation()
            clock.advance(to: ManualClock.Instant(offset: instant.offset))
        }
    }

    /// The continuous clock.
    public static func load(in container: any FeatureContainer) -> AnyClock { .continuous }

    /// An immediate clock: one that stands still would make a test hang.
    public static var placeholder: AnyClock { .immediate }
}

extension FeatureContainer {
    /// The clock for measuring and waiting.
    public var clock: AnyClock {
        get { self[AnyClock.self] }
        set { self[AnyClock.self] = newValue }
    }
}
