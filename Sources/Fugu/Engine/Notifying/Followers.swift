import Synchronization

/// One who wants to hear of a key's changes as they are seen from a node.
final class Observer: Sendable {
    let node: Node
    let key: Key
    /// Whether a first load is no change to it.
    let skipsLoads: Bool
    /// Whether it ends when its container is closed.
    let isSequence: Bool
    /// What can end it from afar.
    let subscription: Subscription
    /// The same, which the observer keeps: a call counts nothing.
    private let uncounted: UnmanagedReference<Subscription>
    /// Events after it are heard.
    ///
    /// Written under the lock of the family.
    fileprivate let since = Atomic<UInt64>(0)
    private let call: @Sendable (Payload) -> Void
    /// Called when the node goes away.
    private let onEnd: (@Sendable () -> Void)?

    init(
        _ node: Node, _ key: Key, skipsLoads: Bool = false, isSequence: Bool = false,
        _ call: @escaping @Sendable (Payload) -> Void, onEnd: (@Sendable () -> Void)? = nil
    ) {
        self.node = node
        self.key = key
        self.skipsLoads = skipsLoads
        self.isSequence = isSequence
        self.call = call
        self.onEnd = onEnd
        subscription = Subscription(node, key)
        uncounted = UnmanagedReference(subscription)
    }

    /// Tells of a value, if that came after the observer.
    @inline(__always)
    func hear(_ payload: Payload, at time: UInt64, isLoad: Bool = false) {
        guard since.load(ordering: .relaxed) < time, !(isLoad && skipsLoads), !uncounted.use({ $0.isEnded }) else {
            return
        }
        call(payload)
    }

    /// Tells that the value is gone.
    ///
    /// Who tracks reads wants to know; the load that follows is no change to it.
    func hearOfLoss(at time: UInt64) { if skipsLoads { hear(Payload(()), at: time) } }

    /// No call begins after this.
    ///
    /// What is returned is to be released outside the lock of the family.
    func end() -> Ending { Ending(subscription.end() ? onEnd : nil) }

    /// What an observer leaves behind; tells whoever iterates that there is no more to come.
    final class Ending: Sendable {
        private let onEnd: (@Sendable () -> Void)?
        init(_ onEnd: (@Sendable () -> Void)?) { self.onEnd = onEnd }
        deinit { onEnd?() }
    }
}

/// What an observation token keeps of an observer: it can end the observer, but keeps nothing that that captured.
final class Subscription: Cancelling {
    private let node: Node
    private let key: Key
    private let ended = Atomic(false)
    /// Its place in its list.
    ///
    /// Written under the lock of the family.
    fileprivate let index = Atomic(0)

    fileprivate init(_ node: Node, _ key: Key) {
        self.node = node
        self.key = key
    }

    var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// Whether this call has ended it.
    fileprivate func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

    /// Takes the observer out of its list, which then keeps nothing of it.
    func cancel() {
        let dropped: (Observer, Observer.Ending, Followers)? = node.family.lock.withLock { token in
            guard let cell = node.storage.existingCell(token, key), let followers = cell.state?[token].followers,
                let observer = followers.state[token].observers.remove(self)
            else { return nil }
            defer { followers.endIfIdle(token, cell) }
            return (observer, observer.end(), followers)
        }
        _ = end()
        withExtendedLifetime(dropped) {}
    }
}

/// The observers of one key in one container, in the order in which they came.
///
/// Taking one out leaves a hole, so that it costs the same wherever it stands; holes are closed when they are many.
struct ObserverList {
    private(set) var slots: [Observer?] = []
    private(set) var count = 0

    /// `time`: The observer hears of events after it.
    mutating func append(_ observer: Observer, at time: UInt64) {
        observer.subscription.index.store(slots.count, ordering: .relaxed)
        observer.since.store(time, ordering: .relaxed)
        slots.append(observer)
        count += 1
    }

    mutating func remove(_ subscription: Subscription) -> Observer? {
        let index = subscription.index.load(ordering: .relaxed)
        guard slots.indices.contains(index), let observer = slots[index], observer.subscription === subscription
        else { return nil }
        slots[index] = nil
        count -= 1
        if slots.count > 8, count < slots.count / 2 { closeHoles() }
        return observer
    }

    private mutating func closeHoles() {
        slots = slots.filter { $0 != nil }
        for (index, observer) in slots.enumerated() {
            observer?.subscription.index.store(index, ordering: .relaxed)
        }
    }
}

/// Loads a key without being asked by a reader.
typealias Reloader = @Sendable (Container) -> Void

/// Those who observe one key in one container, and what they are still to be told.
final class Followers: Sendable {
    let family: Family
    let key: Key
    /// The node, which ends this before it goes.
    let node: UnmanagedReference<Node>
    let state: FamilyLocked<FollowersState>

    init(_ key: Key, in node: Node) {
        family = node.family
        self.key = key
        self.node = UnmanagedReference(node)
        state = FamilyLocked(FollowersState())
    }

    deinit { state.free() }
}

/// The changing part of it.
///
/// The lock of the family protects it.
struct FollowersState {
    /// The container, or, as long as only its handles observe, one of them.
    weak var container: Container?
    var observers = ObserverList()
    var events = EventQueue()
    var isDelivering = false
    var isEnded = false
    /// Loads the key again when nobody reads it; nil until an observer comes that brings one.
    var reloader: Reloader?
    var known = Known.nothing

    /// What those who observe were told last, or are going to be.
    enum Known: Equatable {
        case nothing
        case state(Stamp)
        /// The value is gone, and they wait for the next one.
        ///
        /// - Parameter attempts: How often it was loaded for them since, with nothing to be seen afterwards.
        case loss(attempts: Int)
    }
}

extension Family {
    /// Adds an observer to those of its key in `container`.
    ///
    /// From now on writes to the key in the nodes above take the long way.
    func observe(
        _ observer: Observer, in container: Container, _ reloader: Reloader?, _ naming: PropertyNaming? = nil,
        startsWithPresent: Bool = false
    ) {
        let (node, key) = (observer.node, observer.key)
        // What is observed is computed, so that the first that is heard is a change.
        node.prepareScopes()
        if let naming { register(naming, of: key) }
        // What sources have not been asked for hides what stands behind it, whose changes would not be told.
        let (followers, ending): (Followers?, Observer.Ending?) = node.afterAsking(key) { token in
            guard !node.isEnded(token) else { return (nil, observer.end()) }
            let followers = Followers.existingOrNew(token, of: key, in: node)
            followers.add(token, observer, in: container, reloader, startsWithPresent: startsWithPresent)
            return (followers, nil)
        }
        withExtendedLifetime(ending) {}
        // Rules may have been added before the observer was.
        node.prepareScopes()
        if startsWithPresent { followers?.deliver() }
    }
}

extension Followers {
    fileprivate func add(
        _ token: LockToken, _ observer: Observer, in container: Container, _ reloader: Reloader?,
        startsWithPresent: Bool
    ) {
        if container.isOwner(of: node) || state[token].container == nil { state[token].container = container }
        state[token].observers.append(observer, at: family.state[token].now)
        if let reloader { state[token].reloader = reloader }
        guard startsWithPresent, let payload = node.use({ Lookup(token, key, for: $0).read(token)?.payload }) else {
            return
        }
        let event = Event(news: .value(payload), time: family.state[token].tick(), holder: nil, only: observer)
        state[token].events.append(event)
    }

    /// Returns the followers of a key in a node, made if there are none.
    fileprivate static func existingOrNew(_ token: LockToken, of key: Key, in node: Node) -> Followers {
        let cellState = node.storage.cell(token, key).makeState()
        if let known = cellState[token].followers { return known }
        let made = Followers(key, in: node)
        cellState[token].followers = made
        node.storage[token].followerCount += 1
        node.countActive(token, 1)
        node.link(token, key)
        if let cell = made.visible(token) { made.state[token].known = .state(Stamp(token, of: cell)) }
        return made
    }

    /// Returns the cell that a reader of the node sees.
    ///
    /// What a reset uncovers may be a source's value, for which the next who reads will ask.
    func visible(_ token: LockToken) -> CellReference? {
        node.use { node in
            if let cell = node.storage.existingCell(token, key), cell.has(CellFlags.held), cell.has(CellFlags.hasWord) {
                return cell
            }
            return Question(token, before: key, in: node) == nil ? Lookup(token, key, for: node).present?.cell : nil
        }
    }

    /// Ends it if there are no observers left and nothing to tell.
    ///
    /// The caller releases it outside the lock.
    fileprivate func endIfIdle(_ token: LockToken, _ cell: CellReference) {
        let isIdle = !state[token].isDelivering && state[token].events.isEmpty
        if isIdle, state[token].observers.count == 0 { end(token, cell) }
    }

    /// Takes it out of its cell.
    private func end(_ token: LockToken, _ cell: CellReference) {
        state[token].isEnded = true
        cell.state?[token].followers = nil
        node.use { node in
            node.storage[token].followerCount -= 1
            node.countActive(token, -1)
        }
        cell.state?.unlinkIfIdle(token)
    }

    /// Ends it and all deliveries, since the container goes away.
    func giveUp(_ token: LockToken, _ cell: CellReference, _ garbage: inout Garbage) {
        let endings = state[token].observers.slots.compactMap { $0?.end() }
        garbage.add(Retained((state[token].observers, state[token].events, state[token].reloader, endings)))
        garbage.add(self)
        state[token].observers = ObserverList()
        state[token].events = EventQueue()
        state[token].reloader = nil
        end(token, cell)
    }
}
