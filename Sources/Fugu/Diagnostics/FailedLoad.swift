/// A record of a failed load, for graphs, with the text of its error, because the error itself may keep any object.
struct FailedLoad: Sendable {
    let text: String
    /// Whether a feature wasn't set that isn't loaded in tests.
    let isUnset: Bool
    /// The inputs that the load had read.
    let inputs: [Key]
    /// Whether a later load has succeeded.
    var isPast = false

    private static let longestText = 500

    /// Creates a record, outside every lock, because describing the error is user code.
    init(_ error: any Error, inputs: [Key]) {
        let text = "\(error)"
        isUnset = (error as? LoadError)?.code == .notSet
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.inputs = inputs
    }
}

extension Load {
    /// Outside the lock: remembers that the load has failed.
    func remember(_ error: any Error, _ inputs: [Key]) {
        if error is CancellationError { return }
        let failure = FailedLoad(error, inputs: inputs)
        family.lock.withLock { token in
            if node.isEnded(token) { return }
            node.storage[token].more().failures[key] = failure
        }
    }
}
