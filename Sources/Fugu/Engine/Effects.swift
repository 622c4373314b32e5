// What a change leaves to do, and whom it reaches.

/// The work that was collected under the lock, to be done after releasing it.
package struct Effects {
    var garbage = Garbage()
    /// The outermost work that runs here, which notifies followers at its end, or `nil` if it isn't known yet.
    ///
    /// The code that runs in it keeps it.
    private var knownHolder: UnmanagedReference<Work>??
    /// The followers that have something to deliver.
    private var followers: [Follower] = []
    private var more: More?

    /// Work that few changes leave.
    private final class More {
        var waiters: [Waiter] = []
        var news: [any News] = []

        func wakeWaiters() { for waiter in waiters { waiter.wake() } }
    }

    /// Creates effects of the code that runs here, which finds its work only for followers.
    init() {}

    /// Creates effects in some work.
    init(in work: Work) { knownHolder = .some(work.outermost) }

    private mutating func holder() -> Work? {
        if knownHolder == nil { knownHolder = .some(Work.own?.outermost) }
        return knownHolder!?.object
    }

    package mutating func add(_ news: some News) { more.orMade(More()).news.append(news) }
    mutating func wake(_ waiters: [Waiter]) { if !waiters.isEmpty { more.orMade(More()).waiters += waiters } }

    @inline(__always)
    func wakeWaiters() { if let more { more.wakeWaiters() } }

    /// Does the collected work; followers are notified at the end of the outermost work that runs here.
    mutating func perform() {
        // Wake first, because a `deinit` that runs below may wait for one of these.
        wakeWaiters()
        if let more { for news in more.news { news.tell() } }
        garbage.dispose()
        if followers.isEmpty { return }
        if let holder = holder() { holder.postpone(followers) } else { Follower.deliver(followers) }
    }
}

/// Makes the text of a report, outside the lock, since a key's traits are user code and values compare with it; or returns `nil` if
/// nothing is wrong.
typealias ReportText = @Sendable () -> String?

private struct Report: News {
    let reports: Reports
    let text: ReportText

    func tell() { if let text = text() { reports.report(text) } }
}

extension Effects {
    /// Reports something after the turn of the lock.
    mutating func report(in family: Family, _ text: @escaping ReportText) {
        add(Report(reports: family.reports, text: text))
    }
}

// MARK: Whom a change reaches

/// How the value of a key, as a place sees it, changes.
package enum ChangeKind: Comparable {
    /// An instance was loaded where there was none.
    case loaded
    /// An input changed during a load, whose instance isn't kept or which failed.
    case unkept
    /// A load failed.
    case failed
    /// The loaded instance was dropped.
    case dropped
    /// The value is different.
    case changed
    /// The key became held.
    case held
    /// The key is no longer held.
    case unset

    fileprivate var changesHolder: Bool { self == .held || self == .unset }
}

extension Effects {
    /// Makes whatever a change of a key at a place concerns look again, there and below, and drops the instances that must not stay.
    mutating func announce(_ token: LockToken, _ place: Place, _ kind: ChangeKind) {
        // Nearly always, it concerns only the place's own observers.
        if place[token].watchers.isEmpty {
            if let follower = place[token].rare?.follower.value { note(token, follower, kind) }
            return
        }
        var reached: [Follower] = []
        var changes = [(place, kind)]
        while let (start, kind) = changes.popLast() {
            for (place, isDoubted) in dropped(token, start, kind, &reached) {
                drop(token, place, isDoubted: isDoubted)
                changes.append((place, .dropped))
            }
        }
        // Notify when all changes are done.
        for follower in reached { note(token, follower, kind) }
    }

    /// Collects the followers that look again, and returns the places of the instances that must be dropped, or are in doubt, since
    /// only their inputs have changed.
    private func dropped(
        _ token: LockToken, _ start: Place, _ kind: ChangeKind, _ reached: inout [Follower]
    ) -> [(place: Place, isDoubted: Bool)] {
        // A value set above replaces the instances loaded below.
        let replacesCopies = kind.changesHolder || kind == .changed && start[token].cell.has(CellFlags.held)
        var drops: [(place: Place, isDoubted: Bool)] = []
        var open = [start]
        while let place = open.popLast() {
            if let follower = place[token].rare?.follower.value { reached.append(follower) }
            if replacesCopies, place != start, place[token].provenance != nil { drops.append((place, false)) }
            for other in place[token].watchers.all {
                if other[token].node != place[token].node {
                    if other.isIdle(token) {
                        place.unlist(token, other)
                    } else if !other[token].node.use({ $0.holds(token, place.key) }) {
                        open.append(other)
                    }
                } else if kind < .dropped {
                    continue
                } else if !other.isConcerned(token, by: place.key) {
                    place.unlist(token, other)
                } else {
                    if let follower = other[token].rare?.follower.value { reached.append(follower) }
                    if !other.isAnchored(token) {
                        drops.append((other, false))
                    } else if other.isOld(token) {
                        drops.append((other, true))
                    } else if kind == .unset, let provenance = other[token].provenance {
                        // Another key keeps it here now.
                        other.watchInputs(token, provenance)
                    }
                }
            }
        }
        return drops
    }

    /// Drops a loaded instance, so that the next read loads again.
    ///
    /// - `isDoubted`: Whether the place keeps it until then.
    @inline(never)
    mutating func drop(_ token: LockToken, _ place: Place, isDoubted: Bool = false) {
        guard place[token].provenance != nil else { return }
        let cell = place[token].cell
        if isDoubted, let payload = cell.payload {
            place.doubt(token, payload, &garbage)
        } else {
            place.forget(token, &garbage)
        }
        guard cell.has(CellFlags.loaded) else { return }
        let node = place[token].node
        let time = node.use { $0.family.state[token].tick() }
        garbage.add(cell.clear(flags: cell.heldFlags, at: time))
        node.use { $0.family.emit(token, .dropped(cell.key, $0), &self) }
    }

    /// Makes a follower look again, and notes it if it has something to deliver.
    @inline(never) private mutating func note(_ token: LockToken, _ follower: Follower, _ kind: ChangeKind) {
        let isDue: Bool? =
            switch kind {
            case .unkept: follower.retry(token)
            case .failed: follower.noteFailure(token)
            default: follower.refresh(token)
            }
        guard let isDue else {
            return report(in: follower.family) { [key = follower.key] in Messages.changesItsInputs(key) }
        }
        if isDue { followers.append(follower) }
    }
}
