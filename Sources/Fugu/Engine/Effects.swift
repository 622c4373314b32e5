// What a change leaves to do, and whom it reaches.

/// The work that was collected under the lock, to be done after releasing it.
struct Effects {
    var garbage = Garbage()
    /// The outermost frame that runs here, which notifies followers at its end, or `nil` if it isn't known yet.
    ///
    /// The code that runs in it keeps it.
    private var knownHolder: UnmanagedReference<Frame>??
    /// The followers that have something to deliver.
    private var followers = SmallList<Follower>()
    private var more: More?

    /// Work that few changes leave.
    private final class More {
        var waiters: [Waiter] = []
        var news: [any News] = []

        func wakeWaiters() { for waiter in waiters { waiter.wake() } }
    }

    /// Creates effects of the code that runs here, which finds its frame only for followers.
    init() {}

    /// Creates effects in a frame.
    init(in frame: Frame) { knownHolder = .some(frame.outermost) }

    private mutating func holder() -> Frame? {
        if knownHolder == nil { knownHolder = .some(Frame.own?.outermost) }
        return knownHolder!?.object
    }

    mutating func add(_ news: some News) { more.orMade(More()).news.append(news) }
    mutating func wake(_ waiters: [Waiter]) { if !waiters.isEmpty { more.orMade(More()).waiters += waiters } }

    @inline(__always)
    func wakeWaiters() { if let more { more.wakeWaiters() } }

    /// Does the collected work; followers are notified at the end of the outermost frame that runs here.
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
enum ChangeKind {
    /// An instance was loaded where there was none.
    case loaded
    /// The loaded instance was dropped.
    case dropped
    /// The value is different.
    case changed
    /// The key became held.
    case held
    /// The key is no longer held.
    case unset

    /// Whether the key itself was written.
    fileprivate var isWrite: Bool { self != .loaded && self != .dropped }
    fileprivate var changesHolder: Bool { self == .held || self == .unset }
}

extension Effects {
    /// Makes whatever watches a key at a place look again after a change, and drops the instances that must not stay.
    mutating func announce(_ token: LockToken, _ place: Place, _ kind: ChangeKind) {
        // Nearly always, only the place's own follower is affected.
        if place.isAlone(token) {
            guard let follower = place[token].rare?.follower.value else { return }
            return note(token, follower, isReset: kind.isWrite)
        }
        var open = [(place, kind)]
        var reached: [(Follower, Bool)] = []
        while let (start, kind) = open.popLast() {
            for place in dropped(token, start, kind, &reached) {
                drop(token, place)
                open.append((place, .dropped))
            }
        }
        // Notify when all changes are done.
        // Nothing hides the change between the places that were reached, so they all see the same value that was set. A default may
        // be another one below, as a feature's instance may.
        var look = place.key.kind == .property ? place[token].node.use { $0.look(token, place.key) } : nil
        if case .found(let cell, _) = look, cell.has(CellFlags.held) {} else { look = nil }
        for (follower, isReset) in reached {
            let seen = isReset && follower.key == place.key ? look : nil
            note(token, follower, isReset: isReset, seen)
        }
    }

    /// Collects the followers that look again, and returns the places of the instances that must be dropped.
    private func dropped(
        _ token: LockToken, _ start: Place, _ kind: ChangeKind, _ reached: inout [(Follower, Bool)]
    ) -> [Place] {
        // A value set above replaces the instances loaded below.
        let replacesCopies = kind.changesHolder || kind == .changed && start[token].cell.has(CellFlags.held)
        var drops: [Place] = []
        for watcher in start[token].watchers.all {
            let place = watcher.place
            if let follower = watcher.follower(token) {
                let isOwn = kind != .dropped && watcher.isOwn(token, of: start)
                if isOwn || kind != .loaded && follower.isReached(token, from: start) {
                    reached.append((follower, isOwn && kind.isWrite))
                }
            } else if kind == .loaded {
                continue
            } else if replacesCopies && watcher.isOwn(token, of: start) || !place.isCurrent(token) {
                drops.append(place)
            } else if kind == .unset {
                place.watchAnchor(token)
            }
        }
        return drops
    }

    /// Drops a loaded instance, so that the next read loads again.
    @inline(never)
    mutating func drop(_ token: LockToken, _ place: Place) {
        guard place[token].provenance != nil else { return }
        place.forget(token, &garbage)
        let cell = place[token].cell
        let node = place[token].node
        let time = node.use { $0.family.state[token].tick() }
        garbage.add(cell.clear(flags: cell.heldFlags, at: time))
        node.use { $0.family.emit(token, .dropped(cell.key, $0), &self) }
    }

    /// Makes a follower look again, and notes it if it has something to deliver.
    @inline(never) mutating func note(_ token: LockToken, _ follower: Follower, isReset: Bool, _ look: Look? = nil) {
        if follower.refresh(token, isReset: isReset, until: holder(), look, &garbage) {
            followers.append(follower)
        }
    }

    /// Makes the followers that would see the instance watch the inputs of its failed load.
    mutating func noteFailure(_ token: LockToken, _ place: Place, of provenance: Provenance, isOutdated: Bool) {
        place.forEachFollower(token) { noteFailure(token, $0, of: provenance, isOutdated: isOutdated) }
    }

    private mutating func noteFailure(
        _ token: LockToken, _ follower: Follower, of provenance: Provenance, isOutdated: Bool
    ) {
        let isByItsLoad = follower.watchFailed(token, provenance)
        guard isOutdated, let isByItsLoad else { return }
        if isByItsLoad { return report(in: follower.family) { [key = follower.key] in Messages.changesItsInputs(key) } }
        if follower.queueGone(token, until: holder()) { followers.append(follower) }
    }

    /// Makes the followers that would see the instance load it again, because it wasn't kept.
    mutating func noteNotKept(_ token: LockToken, _ place: Place, of provenance: Provenance) {
        place.forEachFollower(token) { follower in
            follower.missFirst(token)
            if !follower.isMissing(token) { return note(token, follower, isReset: true) }
            noteFailure(token, follower, of: provenance, isOutdated: true)
        }
    }

    /// Makes the followers that miss the key load it again; the others see no change.
    mutating func noteReset(_ token: LockToken, _ place: Place) {
        place.forEachFollower(token) { if $0.isMissing(token) { note(token, $0, isReset: true) } }
    }
}
