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
        if !frame.isFinished { return frame }
        var chain = frame.chain
        return chain.next()
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
