/// What is remembered of a load that failed, for graphs: no error, which may keep anything, but its text.
struct FailedLoad: Sendable {
    let text: String
    /// From the key to the one whose load threw the error.
    let way: [Key]
    /// What the load had read by then.
    let inputs: [(key: Key, depth: Int)]
    var count = 1

    private static let longestText = 500

    /// Outside every lock, since the error says what it is.
    init(_ error: any Error, way: [Key], _ provenance: Provenance?) {
        let text = "\(error)"
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.way = way
        inputs = provenance?.inputs.map { ($0.key, $0.depth) } ?? []
    }
}

extension Load {
    /// Outside the lock: remembers that the load has failed.
    func remember(_ error: any Error, _ provenance: Provenance?) {
        if error is CancellationError { return }
        var failure = FailedLoad(error, way: failedWay(error), provenance)
        family.lock.withLock { token in
            if asker.isEnded(token) { return }
            let rare = asker.storage[token].more()
            failure.count += rare[token].failures[requested]?.count ?? 0
            rare[token].failures[requested] = failure
        }
    }
}
