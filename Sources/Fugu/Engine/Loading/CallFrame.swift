/// Something under way that may need something else: a load, a `modify`, an `update`, or a computation of rules.
///
/// Frames form chains, from what is needed to what needs it; messages print such a chain.
protocol CallFrame: AnyObject, Sendable {
    var family: Family { get }
    /// What is loaded or modified; nil for an update or a computation of rules.
    var key: Key? { get }
    /// Who needs this.
    var parent: (any CallFrame)? { get }
    var nesting: Nesting { get }
    /// The outermost frame that runs on the same thread or task, if this is not it: until its end nobody is told of
    /// changes.
    var outermost: (any CallFrame)? { get }
    /// Whether this concerns the container of `node`.
    func isOf(_ node: Node) -> Bool
    /// Whether it has ended, so that nobody waits for it any more.
    var isFinished: Bool { get }
    /// A load that this needed has failed; `way` leads from it to the one that threw the error.
    func needFailed(_ way: [Key], _ error: any Error)
}

/// How deep a frame is nested.
struct Nesting: Sendable {
    /// How many frames there are on the way, this one included.
    let level: Int
    /// The bits of the keys of all loads on the way, by `Key.mask`.
    let mask: UInt64
    /// The stack that deep ways run on: it is asked for once on each way, since that takes long.
    private let stack: PlatformStack?

    /// How many loads may be nested where each has a stack of its own.
    static let deepest = 2_000

    /// - `above`: How deep the frame is nested that needs this one.
    init(under above: Nesting?, loading key: Key? = nil) {
        level = (above?.level ?? 0) + 1
        mask = (above?.mask ?? 0) | (key?.mask ?? 0)
        stack = level < 100 ? nil : above?.stack.flatMap { $0.isCurrent ? $0 : nil } ?? .current
    }

    /// Whether the running thread has no stack left for more loads.
    var hasNoStackLeft: Bool { (stack.flatMap { $0.isCurrent ? $0 : nil } ?? .current).isNearlyUsedUp }
}

/// A load that something needed and that has failed.
struct FailedNeed: Sendable {
    let way: [Key]
    let error: any Error
}

extension [FailedNeed] {
    /// Replaces what is known of the same way.
    ///
    /// Returns what it replaced, to be released outside of locks.
    mutating func replace(_ way: [Key], _ error: any Error) -> [FailedNeed] {
        let known = filter { $0.way == way }
        removeAll { $0.way == way }
        append(FailedNeed(way: way, error: error))
        return known
    }

    /// The way to the load that threw `error`, if it came from one of these: not if who needed them has swallowed their
    /// errors, or thrown one of its own.
    ///
    /// May run user code.
    func way(to error: any Error) -> [Key] {
        let text = String(reflecting: error)
        return last { type(of: $0.error) == type(of: error) && String(reflecting: $0.error) == text }?.way ?? []
    }
}

extension CallFrame {
    func needFailed(_ way: [Key], _ error: any Error) {}

    /// This and all that need it and have not ended, innermost first.
    var chain: Chain { Chain(following: self) }

    /// The keys of the loads of the chain, outermost first.
    var way: [Key] { chain.compactMap { $0 is Load ? $0.key : nil }.reversed() }

}

/// A frame and all that need it and have not ended, innermost first.
struct Chain: Sequence, IteratorProtocol {
    fileprivate var following: (any CallFrame)?

    mutating func next() -> (any CallFrame)? {
        while let frame = following {
            following = frame.parent
            if !frame.isFinished { return frame }
        }
        return nil
    }
}
