import Synchronization

/// What is to be done outside the lock after something changed under it.
struct Effects: ~Copyable {
    var garbage = Garbage()
    var waiters: [Waiter] = []
    /// The frame at whose end followers are told, if not when this is performed.
    var holder: (any CallFrame)?
    /// Whether the first event may be taken for delivery while the lock is still held, since no other change follows
    /// it.
    private let beginsAtOnce: Bool
    private var begun: Followers.Turn?
    private var followers: Followers?
    private var moreFollowers: [Followers] = []
    /// What those are told who observe events.
    private var events: [PendingEvent]?

    init(until holder: (any CallFrame)? = nil, beginsAtOnce: Bool = false) {
        self.holder = holder
        self.beginsAtOnce = beginsAtOnce
    }

    /// Queues what followers are to be told, at the end of the holder or when this is performed.
    mutating func tell(_ token: LockToken, _ news: Event.News, _ followers: Followers) {
        let event = Event(news: news, time: followers.family.state[token].tick(), holder: holder)
        if holder == nil, beginsAtOnce, begun == nil, self.followers == nil, let turn = followers.begin(token, event) {
            begun = turn
            return
        }
        followers.state[token].events.append(event)
        if let holder { return Deferred.add(followers, until: holder) }
        if self.followers == nil { self.followers = followers } else { moreFollowers.append(followers) }
    }

    mutating func add(_ event: PendingEvent) { if events?.append(event) == nil { events = [event] } }

    /// Does everything that was collected.
    mutating func perform() {
        if let events { for event in events { event.tell() } }
        if !garbage.isEmpty { garbage.dispose() }
        if !waiters.isEmpty { for waiter in waiters { waiter.wake() } }
        begun.take()?.deliver()
        guard let followers = followers.take() else { return }
        followers.deliver()
        if !moreFollowers.isEmpty { for followers in moreFollowers { followers.deliver() } }
    }
}

/// Events that wait for the end of the outermost frame they were made in.
enum Deferred {
    private static let count = Atomic(0)
    private static let waiting = Locked<[ObjectIdentifier: [Followers]]>([:])

    /// `holder`: A frame that runs on this thread or task, and so does not end meanwhile.
    static func add(_ followers: Followers, until holder: any CallFrame) {
        waiting.withLock { waiting in
            guard waiting[ObjectIdentifier(holder)]?.append(followers) == nil else { return }
            waiting[ObjectIdentifier(holder)] = [followers]
            count.add(1, ordering: .sequentiallyConsistent)
        }
    }

    /// After a frame has ended: delivers what waited for it.
    static func deliver(after frame: any CallFrame) {
        guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
        let followers = waiting.withLock { waiting in
            let followers = waiting.removeValue(forKey: ObjectIdentifier(frame))
            if followers != nil { count.subtract(1, ordering: .sequentiallyConsistent) }
            return followers ?? []
        }
        for followers in followers { followers.deliver() }
    }
}

/// Something to be told to the observers of a key in a container, in the order of what happened.
struct Event: Sendable {
    enum News: Sendable {
        case value(Payload)
        case load(Payload)
        /// There is nothing any more: it is to be loaded again, and that load is an event of its own.
        case gone
    }
    let news: News
    /// Observers that came later are not told.
    let time: UInt64
    /// The frame whose end it waits for.
    let holder: (any CallFrame)?
    /// The one who is told, if it is not for all.
    var only: Observer?
}

/// Events that wait, in order.
struct EventQueue {
    private var events: [Event] = []
    private var head = 0
    /// How many wait for the end of no frame.
    private(set) var freeCount = 0

    var isEmpty: Bool { head == events.count }
    var first: Event? { isEmpty ? nil : events[head] }

    mutating func append(_ event: Event) {
        if event.holder == nil { freeCount += 1 }
        events.append(event)
    }

    mutating func removeFirst() {
        if events[head].holder == nil { freeCount -= 1 }
        head += 1
        guard head * 2 > events.count else { return }
        events.removeFirst(head)
        head = 0
    }

    /// Takes out what waits for the end of a frame.
    ///
    /// What is returned is to be released outside the lock.
    mutating func removeAll(heldBy holder: any CallFrame) -> [Event] {
        let dropped = events[head...].filter { $0.holder === holder }
        if !dropped.isEmpty {
            events = events[head...].filter { $0.holder !== holder }
            head = 0
        }
        return dropped
    }
}
