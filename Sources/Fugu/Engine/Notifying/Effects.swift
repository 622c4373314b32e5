/// What is to be done outside the lock after something changed under it.
struct Effects {
    var garbage = Garbage()
    var waiters: [Waiter] = []
    /// Whether the first thing that is told may be delivered in the same turn of the lock: where nothing else is changed
    /// after it.
    private let beginsAtOnce: Bool
    private var followers: Followers?
    private var begun: Followers.Turn?
    private var moreFollowers: [Followers] = []

    init(beginsAtOnce: Bool = false) { self.beginsAtOnce = beginsAtOnce }

    /// Under the lock: queues what followers are to be told, at the end of `holder` or when this is performed.
    mutating func tell(_ news: Event.News, _ followers: Followers, until holder: (any Activity)?) {
        let event = Event(news: news, time: followers.family.tick(), holder: holder)
        if let holder {
            followers.facts.value.events.append(event)
            return Deferred.add(followers, until: holder)
        }
        if self.followers == nil {
            self.followers = followers
            if beginsAtOnce {
                begun = followers.begin(event)
                if begun != nil { return }
            }
        } else {
            moreFollowers.append(followers)
        }
        followers.facts.value.events.append(event)
    }

    /// Does it.
    func perform() {
        if !garbage.isEmpty { garbage.dispose() }
        if !waiters.isEmpty { for waiter in waiters { waiter.wake() } }
        guard let followers else { return }
        followers.deliver(begun)
        if !moreFollowers.isEmpty { for followers in moreFollowers { followers.deliver() } }
    }
}
