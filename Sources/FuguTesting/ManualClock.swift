import Foundation
public import Fugu

/// A clock that moves only when you advance it, for tests of code that waits.
///
/// ```swift
/// let clock = ManualClock()
/// container.clock = AnyClock(clock)
/// let task = Task { try await poller.run() }
/// await clock.advance(by: .seconds(30))   // three polls, ten seconds apart, have run
/// ```
///
/// Advancing lets other tasks run: those that are about to sleep come to their sleep, each one that wakes runs until it sleeps
/// again or waits for something else, and so do the tasks that it starts. What a task does on threads of its own, or with files and
/// networks, isn't awaited: await its result.
///
/// A call that no task's sleep can answer fails the test with a message: at once, if nothing runs that could still come to a sleep,
/// and otherwise within a second. To move the clock where no task sleeps, call ``move(by:fileID:filePath:line:)``.
///
/// You can call all methods from any thread. An Xcode preview can't import FuguTesting: give it `AnyClock.immediate`, or the
/// clock of the system.
public final class ManualClock: Clock, Sendable {
    /// A point in time of a manual clock.
    public typealias Instant = AnyClock.Instant

    private let state: Locked<ManualClockState>
    /// The number of rounds after which tasks that go on and on aren't waited for.
    private let patience: Int

    /// Creates a clock.
    ///
    /// - Parameter now: The instant that the clock shows at first.
    public init(now: Instant = Instant()) {
        state = Locked(ManualClockState(now: now))
        patience = 10_000
    }

    package init(patience: Int) {
        state = Locked(ManualClockState(now: Instant()))
        self.patience = patience
    }

    deinit {
        if let (test, place) = state.withLock({ $0.moverUnlessAsked }) { test.warn(Messages.clockIsNeverAsked(place)) }
    }

    /// The instant that the clock shows.
    public var now: Instant { state.withLock { $0.ask() } }

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
                let isDue = state.withLock {
                    $0.enter(Sleeper(deadline: deadline, ticket: ticket, continuation: continuation))
                }
                if isDue { continuation.resume() }
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

    private func cancelSleep(_ ticket: UInt64) {
        state.withLock { $0.removeSleeper(ticket) }?.continuation.resume(throwing: CancellationError())
    }
}

extension ManualClock {
    /// Advances the clock by a duration, and lets tasks run.
    ///
    /// The clock stops at each deadline on the way, wakes the tasks that sleep until then, in the order in which they began to
    /// sleep, and lets them run before it goes on. A task that sleeps again on the way wakes again.
    ///
    /// If no task sleeps on the clock, even after others had the opportunity to run, the test fails, within a second at most.
    ///
    /// - Parameters:
    ///   - duration: The duration. A negative one stops the program with a message.
    ///   - fileID: The place of the call, for failures, together with the next two.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    /// - Complexity: O(*n* · *d*) for *n* tasks that sleep and *d* deadlines on the way.
    public func advance(
        by duration: Duration, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line
    ) async {
        if duration < .zero { fatalError(Messages.clockGoesBack(duration)) }
        let now = state.withLock { $0.now }
        await advance(to: now.advanced(by: duration), fileID: fileID, filePath: filePath, line: line)
    }

    /// Moves the clock by a duration at once, without letting tasks run.
    ///
    /// Tasks whose deadlines have come wake, and run later, in the order of their deadlines. If nothing has read the clock, slept on
    /// it, or wrapped it when it's released, the test that moved it is warned.
    ///
    /// - Parameters:
    ///   - duration: The duration. A negative one stops the program with a message.
    ///   - fileID: The place of the call, for the warning, together with the next two.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    /// - Complexity: O(*n*) for *n* tasks that sleep.
    public func move(
        by duration: Duration, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line
    ) {
        if duration < .zero { fatalError(Messages.clockGoesBack(duration)) }
        let (test, place) = (Audience.present(), SourcePlace(fileID: fileID, filePath: filePath, line: line))
        state.withLock { $0.move(by: duration, for: test, at: place) }.forEach { $0.continuation.resume() }
    }

    /// Advances the clock to an instant, and lets tasks run, like ``advance(by:fileID:filePath:line:)``.
    ///
    /// - Parameters:
    ///   - instant: The instant. One that has passed only lets tasks run.
    ///   - fileID: The place of the call, for failures, together with the next two.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    /// - Complexity: O(*n* · *d*) for *n* tasks that sleep and *d* deadlines on the way.
    public func advance(
        to instant: Instant, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line)
        await beginMoving(at: place)
        while let deadline = nextDeadline, deadline <= instant { await move(to: deadline) }
        await move(to: instant)
    }

    /// Advances the clock to each deadline in turn, and lets tasks run, until no task sleeps on the clock.
    ///
    /// If no task sleeps on the clock, even after others had the opportunity to run, the test fails. It also fails if the tasks
    /// still sleep after a thousand deadlines, as one that repeats without an end does.
    ///
    /// - Parameters:
    ///   - fileID: The place of the call, for failures, together with the next two.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    /// - Complexity: O(*n* · *d*) for *n* tasks that sleep and *d* deadlines.
    public func run(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line)
        await beginMoving(at: place)
        for _ in 0..<deadlineLimit {
            guard let deadline = nextDeadline, !Task.isCancelled else { return }
            await move(to: deadline)
        }
        if sleeperCount > 0 { Audience.present().fail(Messages.clockRunsOn(place, deadlineLimit), at: place) }
    }

    /// Waits until a number of tasks sleep on this clock, or until the calling task is canceled.
    ///
    /// With it, a test sees that the tasks that it started sleep. If they don't, even after they had ample opportunity, the test
    /// fails.
    ///
    /// - Parameters:
    ///   - count: The number of tasks.
    ///   - fileID: The place of the call, for failures, together with the next two.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    public func sleepers(
        atLeast count: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line
    ) async {
        let place = SourcePlace(fileID: fileID, filePath: filePath, line: line)
        await waitForSleepers(count, at: place) { Messages.clockMissesSleepers(place, count, $0) }
    }
}

// How tasks get to run, without waiting for time.
//
// A round hands a job to each executor that code under test usually has: the pool of threads, where the job has the lowest
// priority and nobody's wait raises it, the main actor, and the actor of the caller, to which the round returns. An executor runs
// what was ready before it runs the job, so each round takes every task that is ready one step further, to the next point where
// it suspends. Tasks that hand over to one another need a round for each step, and another processor may still be at a long step
// when a round ends: hence several rounds, begun again whenever a task comes to a sleep or leaves it. On a busy machine, the
// rounds take longer in the same measure as the tasks, which a wait for time wouldn't.
extension ManualClock {
    /// The number of rounds without a sleep or the end of one after which tasks had the opportunity to run.
    private static let quietRounds = 50
    /// The number of deadlines after which a run ends.
    private var deadlineLimit: Int { patience / 10 }

    private var nextDeadline: Instant? { state.withLock { $0.sleepers.first?.deadline } }

    /// Lets tasks come to their sleep, and fails the test if none does.
    private func beginMoving(at place: SourcePlace) async {
        await letTasksRun()
        await waitForSleepers(1, at: place) { _ in Messages.clockMovesForNobody(place) }
    }

    /// Wakes the tasks that sleep until an instant, and lets tasks run.
    private func move(to instant: Instant) async {
        state.withLock { $0.advance(to: instant) }.forEach { $0.continuation.resume() }
        await letTasksRun()
    }

    private func letTasksRun() async {
        var changes = state.withLock { $0.changes }
        var quiet = 0
        // If tasks go on and on, they aren't waited for either.
        for _ in 0..<patience {
            await Self.runRound()
            let changesNow = state.withLock { $0.changes }
            quiet = changesNow == changes ? quiet + 1 : 0
            if quiet == Self.quietRounds { return }
            changes = changesNow
        }
    }

    private func waitForSleepers(_ count: Int, at place: SourcePlace, failure: (_ found: Int) -> String) async {
        // A task may do real work before its sleep.
        var wait = SleeperWait()
        while sleeperCount < count, !Task.isCancelled {
            if wait.isVain {
                let found = sleeperCount
                if found < count { Audience.present().fail(failure(found), at: place) }
                return
            }
            await wait.goOn()
        }
    }

    private static func runRound() async {
        await letRun(at: .background)
        await MainActor.run {}
    }

    /// Lets a job of a priority run, behind those that were ready before.
    fileprivate static func letRun(at priority: TaskPriority) async {
        // Waiting for the task's value would raise its priority.
        await withCheckedContinuation { continuation in
            _ = Task.detached(priority: priority) { continuation.resume() }
        }
    }
}

/// A wait for a task that isn't at its sleep yet.
///
/// While the process uses no processor, no task is on its way, unless it waits for real time. Otherwise, the wait is in vain once a
/// task has had ample opportunity, by each of three measures: the process has run for long, tasks of each priority have got their
/// turn often, which counts where many are ready, and real time has passed.
private struct SleeperWait {
    /// The number of pauses one after the other without work after which no task is on its way.
    private static let idlePauses = 40
    private static let (leastTime, leastWork, leastRounds) = (
        Duration.milliseconds(700), Duration.milliseconds(350), 700
    )

    private let start = ContinuousClock.now
    private let workBefore = processorTime
    private var rounds = 0
    private var pausesWithoutWork = 0

    var isVain: Bool {
        if pausesWithoutWork >= Self.idlePauses { return true }
        return rounds >= Self.leastRounds && ContinuousClock.now - start >= Self.leastTime
            && processorTime - workBefore >= Self.leastWork
    }

    /// Lets tasks run for a while.
    mutating func goOn() async {
        for _ in 0..<10 {
            for priority in [TaskPriority.high, .medium, .low, .background] { await ManualClock.letRun(at: priority) }
            await MainActor.run {}
            rounds += 1
        }
        let before = processorTime
        try? await ContinuousClock().sleep(for: .milliseconds(5))
        pausesWithoutWork = processorTime - before < .milliseconds(1) ? pausesWithoutWork + 1 : 0
    }

    /// The time for which this process has run on processors, or real time where the system doesn't say.
    private static var processorTime: Duration {
        #if os(Windows) || os(WASI)
        ProcessTime.origin.duration(to: .now)
        #else
        .microseconds(Int64(clock()))
        #endif
    }
    private var processorTime: Duration { Self.processorTime }
}

extension AnyClock {
    /// Creates a clock that wraps a manual one.
    ///
    /// Its instants are those of the manual clock. A sleeper wakes on the actor on which it fell asleep, and sleepers of one actor
    /// continue in the order in which the clock woke them.
    ///
    /// - Parameter clock: The clock to wrap.
    public init(_ clock: ManualClock) {
        // It's in use, even if nobody reads it in this test.
        _ = clock.now
        self.init(
            now: { clock.now }, resolution: { clock.minimumResolution },
            sleep: { instant, _ in try await clock.sleep(until: instant) })
    }
}

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
