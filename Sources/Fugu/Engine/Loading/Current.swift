/// What the running thread or task is in the middle of.
enum Current {
    /// Tasks that are started inside an activity inherit this: it says "somewhere within", and the execution tells whether
    /// it is here.
    private struct Running: Sendable {
        let activity: any Activity
        let execution: Execution
    }
    @TaskLocal private static var running: Running?

    /// The running activity, if it has not ended meanwhile (a task started inside a load may outlive it).
    static var unfinished: (any Activity)? {
        guard let activity = running?.activity else { return nil }
        if !activity.isFinished { return activity }
        var chain = activity.chain
        return chain.next()
    }

    /// The running activity, if it runs on this very thread and task and not in one that started this.
    static var own: (any Activity)? {
        guard let running, !running.activity.isFinished, running.execution == .current else { return nil }
        return running.activity
    }

    /// The running activity and those that need it, as far as they run on this very thread and task, innermost first.
    static var ownChain: [any Activity] {
        guard let own else { return [] }
        var result: [any Activity] = []
        for activity in own.chain {
            result.append(activity)
            if activity === own.outermost ?? own { break }
        }
        return result
    }

    /// The outermost activity on this thread or task: who is told of changes waits for its end.
    static var outermost: (any Activity)? { own.map { $0.outermost ?? $0 } }

    /// The running activity, if it has not ended meanwhile, and the outermost one on this thread or task, in one look.
    static var unfinishedAndOutermost: (unfinished: (any Activity)?, outermost: (any Activity)?) {
        guard let running else { return (nil, nil) }
        if running.activity.isFinished { return (unfinished, nil) }
        guard running.execution == .current else { return (running.activity, nil) }
        return (running.activity, running.activity.outermost ?? running.activity)
    }

    /// Runs `body` as a part of an activity.
    @inline(__always)
    static func run<R>(_ activity: any Activity, _ body: () throws -> R) rethrows -> R {
        try $running.withValue(Running(activity: activity, execution: .current), operation: body)
    }

    /// Runs `body` as a part of an activity, on whatever threads its task runs.
    @inline(__always)
    static func run<R>(_ activity: any Activity, _ body: () async throws -> R) async rethrows -> R {
        try await $running.withValue(Running(activity: activity, execution: .currentTask), operation: body)
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
