import Fugu

/// A task that sleeps on a ``ManualClock``.
struct Sleeper: Sendable {
    let deadline: ManualClock.Instant
    let ticket: UInt64
    let continuation: CheckedContinuation<Void, any Error>
}

/// A task that waits until a number of tasks sleep on a ``ManualClock``.
struct Watcher: Sendable {
    let count: Int
    let ticket: UInt64
    let continuation: CheckedContinuation<Void, Never>
}

/// The continuations that a step of the clock resumes.
///
/// The caller resumes them after it has released the lock, because resuming can run an executor's code.
struct WakeUp: Sendable {
    var sleepers: ArraySlice<Sleeper> = []
    var watchers: [Watcher] = []

    func resume() {
        for sleeper in sleepers { sleeper.continuation.resume() }
        for watcher in watchers { watcher.continuation.resume() }
    }
}

/// The state of a ``ManualClock``, whose methods run under its lock.
struct ManualClockState: Sendable {
    private(set) var now: ManualClock.Instant
    /// Sorted by deadline, and for equal deadlines by arrival.
    private(set) var sleepers: [Sleeper] = []
    private var watchers: [Watcher] = []
    private var lastTicket: UInt64 = 0

    init(now: ManualClock.Instant) {
        self.now = now
    }

    /// Returns a number that identifies a task before its continuation exists.
    mutating func ticket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }

    mutating func enter(_ sleeper: Sleeper) -> WakeUp {
        guard sleeper.deadline > now else { return WakeUp(sleepers: [sleeper]) }
        let place = sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? sleepers.endIndex
        sleepers.insert(sleeper, at: place)
        let satisfied = watchers.filter { $0.count <= sleepers.count }
        watchers.removeAll { $0.count <= sleepers.count }
        return WakeUp(watchers: satisfied)
    }

    mutating func enter(_ watcher: Watcher) -> WakeUp {
        guard watcher.count > sleepers.count else { return WakeUp(watchers: [watcher]) }
        watchers.append(watcher)
        return WakeUp()
    }

    mutating func advance(to instant: ManualClock.Instant) -> WakeUp {
        now = max(now, instant)
        let due = sleepers.prefix { $0.deadline <= now }
        sleepers.removeFirst(due.count)
        return WakeUp(sleepers: due)
    }

    mutating func removeSleeper(_ ticket: UInt64) -> Sleeper? {
        sleepers.firstIndex { $0.ticket == ticket }.map { sleepers.remove(at: $0) }
    }

    mutating func removeWatcher(_ ticket: UInt64) -> Watcher? {
        watchers.firstIndex { $0.ticket == ticket }.map { watchers.remove(at: $0) }
    }
}
