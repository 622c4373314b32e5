/// What is to be done outside the lock after something changed under it.
struct Effects {
    var garbage = Garbage()
    var waiters: [Waiter] = []
    /// Whether the first event may be taken for delivery while the lock is still held, since no other change follows
    /// it.
    private let beginsAtOnce: Bool
    private var begun: Followers.Turn?
    private var followers: Followers?
    private var moreFollowers: [Followers] = []
    /// What those are told who observe events.
    private var events: [PendingEvent]?

    init(beginsAtOnce: Bool = false) { self.beginsAtOnce = beginsAtOnce }

    /// Queues what followers are to be told, at the end of `holder` or when this is performed.
    mutating func tell(_ token: LockToken, _ news: Event.News, _ followers: Followers, until holder: (any CallFrame)?) {
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
