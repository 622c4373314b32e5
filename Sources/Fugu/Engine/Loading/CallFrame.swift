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
    var chain: LazyFilterSequence<UnfoldFirstSequence<any CallFrame>> {
        sequence(first: self as any CallFrame) { $0.parent }.lazy.filter { !$0.isFinished }
    }

    /// The keys of the loads of the chain, outermost first.
    var way: [Key] { chain.compactMap { $0 is Load ? $0.key : nil }.reversed() }
}

/// What the running thread or task is in the middle of.
enum Current {
    /// Tasks that are started inside a frame inherit this: it says "somewhere within", and the execution tells whether
    /// it is here.
    private struct Running: Sendable {
        let frame: any CallFrame
        let execution: Execution
    }
    @TaskLocal private static var running: Running?

    /// The running frame, if it has not ended meanwhile (a task started inside a load may outlive it).
    static var unfinished: (any CallFrame)? {
        guard let frame = running?.frame else { return nil }
        return frame.isFinished ? frame.chain.first { _ in true } : frame
    }

    /// The running frame, if it runs on this very thread and task and not in one that started this.
    static var own: (any CallFrame)? {
        guard let running, !running.frame.isFinished, running.execution == .current else { return nil }
        return running.frame
    }

    /// The running frame and those that need it, as far as they run on this very thread and task, innermost first.
    static var ownChain: [any CallFrame] {
        guard let own else { return [] }
        var result: [any CallFrame] = []
        for frame in own.chain {
            result.append(frame)
            if frame === own.outermost ?? own { break }
        }
        return result
    }

    /// The outermost frame on this thread or task: who is told of changes waits for its end.
    static var outermost: (any CallFrame)? { own.map { $0.outermost ?? $0 } }

    /// The running frame, if it has not ended meanwhile, and the outermost one on this thread or task, in one look.
    static var unfinishedAndOutermost: (unfinished: (any CallFrame)?, outermost: (any CallFrame)?) {
        guard let running else { return (nil, nil) }
        if running.frame.isFinished { return (unfinished, nil) }
        guard running.execution == .current else { return (running.frame, nil) }
        return (running.frame, running.frame.outermost ?? running.frame)
    }

    /// Runs `body` as a part of a frame.
    @inline(__always)
    static func run<R>(_ frame: any CallFrame, _ body: () throws -> R) rethrows -> R {
        try $running.withValue(Running(frame: frame, execution: .current), operation: body)
    }

    /// Runs `body` as a part of a frame, on whatever threads its task runs.
    @inline(__always)
    static func run<R>(_ frame: any CallFrame, _ body: () async throws -> R) async rethrows -> R {
        try await $running.withValue(Running(frame: frame, execution: .currentTask), operation: body)
    }

    /// Whether what runs here was called to hear of an event.
    @TaskLocal private static var isHearing = false

    /// Runs what those do who hear of an event: in nobody's load, and nobody hears of it.
    static func hearing(_ body: () -> Void) {
        if isHearing { return }
        $isHearing.withValue(true) { $running.withValue(nil, operation: body) }
    }

    /// Runs what observers do: in nobody's load, with their own container at hand, whoever calls them.
    static func observing(_ container: Container, _ body: () -> Void) {
        func bind() { Container.$current.withValue(container, operation: body) }
        if running == nil { bind() } else { $running.withValue(nil, operation: bind) }
    }
}
