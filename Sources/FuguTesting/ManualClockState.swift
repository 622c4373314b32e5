import Fugu

/// A task that sleeps on a ``ManualClock``.
struct Sleeper: Sendable {
    let deadline: ManualClock.Instant
    let ticket: UInt64
    let continuation: CheckedContinuation<Void, any Error>
}

/// The state of a ``ManualClock``, whose methods run under its lock.
struct ManualClockState: Sendable {
    private(set) var now: ManualClock.Instant
    /// Sorted by deadline, and for equal deadlines by arrival.
    private(set) var sleepers: [Sleeper] = []
    /// Counts the sleeps that began and ended.
    private(set) var changes = 0
    private var lastTicket: UInt64 = 0
    private var isAsked = false
    /// The test that moved the clock first, and where it did.
    private var mover: (test: Audience, place: SourcePlace)?
    /// The test that moved the clock in vain, and where it did.
    var moverUnlessAsked: (test: Audience, place: SourcePlace)? { isAsked ? nil : mover }

    init(now: ManualClock.Instant) {
        self.now = now
    }

    /// Returns what the clock shows to whoever asks it.
    mutating func ask() -> ManualClock.Instant {
        isAsked = true
        return now
    }

    /// Moves the clock for a test, and returns the sleepers to wake.
    mutating func move(by duration: Duration, for test: Audience, at place: SourcePlace) -> ArraySlice<Sleeper> {
        mover = mover ?? (test, place)
        return advance(to: now.advanced(by: duration))
    }

    /// Returns a number that identifies a task before its continuation exists.
    mutating func ticket() -> UInt64 {
        isAsked = true
        lastTicket += 1
        return lastTicket
    }

    /// Adds a sleeper, or returns `true` if its deadline has come.
    mutating func enter(_ sleeper: Sleeper) -> Bool {
        guard sleeper.deadline > now else { return true }
        let place = sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: place)
        changes += 1
        return false
    }

    /// Moves the clock, unless the instant has passed, and returns the sleepers to wake.
    ///
    /// The caller resumes them after it has released the lock, because resuming can run an executor's code.
    mutating func advance(to instant: ManualClock.Instant) -> ArraySlice<Sleeper> {
        now = max(now, instant)
        let due = sleepers.prefix { $0.deadline <= now }
        sleepers.removeFirst(due.count)
        changes += due.count
        return due
    }

    mutating func removeSleeper(_ ticket: UInt64) -> Sleeper? {
        guard let place = sleepers.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        changes += 1
        return sleepers.remove(at: place)
    }
}
