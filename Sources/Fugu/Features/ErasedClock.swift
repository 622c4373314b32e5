/// A clock for measuring and waiting that wraps any other clock.
///
/// ```swift
/// try await container.clock.sleep(for: .seconds(1))
///
/// let clock = ManualClock()
/// container.clock = ErasedClock(clock)   // a test moves it by hand
/// ```
public struct ErasedClock: Clock, Feature, External, Sendable {
    /// A point in time, counted from the moment at which the clock was wrapped.
    ///
    /// Don't compare instants of different clocks.
    public typealias Instant = ManualClock.Instant

    private typealias Sleep = nonisolated(nonsending) @Sendable (Instant, Duration?) async throws -> Void

    private let readNow: @Sendable () -> Instant
    private let readResolution: @Sendable () -> Duration
    private let sleepUntil: Sleep

    /// Creates a clock that wraps another one.
    ///
    /// Its instants count from this moment, except that an erased clock stays what it is. If you wrap a ``ManualClock``, a sleeper
    /// wakes on the actor on which it fell asleep, and sleepers of one actor continue in the order in which the clock woke them.
    ///
    /// - Parameter clock: The clock to wrap.
    public init<C: Clock<Duration>>(_ clock: C) {
        if let clock = clock as? ErasedClock {
            self = clock
            return
        }
        if let manual = clock as? ManualClock {
            let origin = manual.now
            self.init(clock) { instant, _ in try await manual.sleep(until: origin.advanced(by: instant.offset)) }
        } else {
            let origin = clock.now
            self.init(clock) { try await clock.sleep(until: origin.advanced(by: $0.offset), tolerance: $1) }
        }
    }

    private init<C: Clock<Duration>>(_ clock: C, _ sleepUntil: @escaping Sleep) {
        let origin = clock.now
        readNow = { Instant(offset: origin.duration(to: clock.now)) }
        readResolution = { clock.minimumResolution }
        self.sleepUntil = sleepUntil
    }

    /// The current instant.
    public var now: Instant { readNow() }

    /// The smallest possible step of ``now``.
    public var minimumResolution: Duration { readResolution() }

    /// Waits until a deadline.
    ///
    /// - Parameters:
    ///   - deadline: The instant to wait for.
    ///   - tolerance: The time by which the wait may be longer.
    /// - Throws: `CancellationError`, as soon as the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleepUntil(deadline, tolerance)
    }

    /// Waits for a duration.
    ///
    /// - Parameters:
    ///   - duration: The time to wait.
    ///   - tolerance: The time by which the wait may be longer.
    /// - Throws: `CancellationError`, as soon as the task is canceled.
    public func sleep(for duration: Duration, tolerance: Duration? = nil) async throws {
        try await sleep(until: now.advanced(by: duration), tolerance: tolerance)
    }

    /// The system's clock that continues while the machine sleeps.
    public static let continuous = ErasedClock(ContinuousClock())

    /// The system's clock that stops while the machine sleeps.
    public static let suspending = ErasedClock(SuspendingClock())

    /// A new clock that never waits: sleeping moves it to the deadline and returns at once.
    public static var immediate: ErasedClock {
        let clock = ManualClock()
        return ErasedClock(clock) { instant, _ in
            try Task.checkCancellation()
            clock.advance(to: ManualClock.Instant(offset: instant.offset))
        }
    }

    /// Returns the continuous clock.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: ``continuous``.
    public static func load(in container: any FeatureContainer) -> ErasedClock { .continuous }

    /// An immediate clock.
    ///
    /// One that stands still would make a test hang.
    public static var placeholder: ErasedClock { .immediate }
}

extension FeatureContainer {
    /// The clock for measuring and waiting.
    public var clock: ErasedClock {
        get { self[ErasedClock.self] }
        set { self[ErasedClock.self] = newValue }
    }
}
