/// A record of a failed load, for graphs, with the text of its error, because the error itself may keep any object.
struct FailedLoad: Sendable {
    let text: String
    /// The path from the key to the one whose load threw the error.
    let way: [Key]
    /// The inputs that the load had read.
    let inputs: [Key]
    var count = 1
    /// Whether a later load has succeeded.
    var isPast = false

    private static let longestText = 500

    /// Creates a record, outside every lock, because describing the error is user code.
    init(_ error: any Error, way: [Key], inputs: [Key]) {
        let text = "\(error)"
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.way = way
        self.inputs = inputs
    }
}

extension Frame {
    /// Outside the lock: remembers that the load has failed.
    func remember(_ error: any Error, _ way: [Key], _ inputs: [Key]) {
        if error is CancellationError { return }
        var failure = FailedLoad(error, way: way, inputs: inputs)
        family.lock.withLock { token in
            guard let node, !node.isEnded(token) else { return }
            let rare = node.storage[token].more()
            failure.count += rare.failures[key!]?.count ?? 0
            rare.failures[key!] = failure
        }
    }
}
