import Synchronization

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
