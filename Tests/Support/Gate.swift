import Foundation
import Fugu

/// A flag that is raised once; threads block on it and tasks suspend on it.
///
/// A gate that is never opened stops the process after a minute with its place, so that a hang is a message.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var tasks: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
        var lastTicket = 0
    }
    private let condition = NSCondition()
    private let state = Locked(State())

    package init() {}

    package var isOpen: Bool { state.withLock { $0.isOpen } }

    package func open() {
        condition.lock()
        let tasks = state.withLock { state in
            state.isOpen = true
            defer { state.tasks = [:] }
            return state.tasks.values
        }
        condition.broadcast()
        condition.unlock()
        for task in tasks { task.resume() }
    }

    /// Blocks the thread until the gate is open.
    package func wait(fileID: StaticString = #fileID, line: UInt = #line) {
        let limit = Date(timeIntervalSinceNow: 300)
        condition.lock()
        defer { condition.unlock() }
        while !isOpen {
            guard condition.wait(until: limit) else {
                fatalError("\(fileID):\(line) waits for a gate that nobody opens")
            }
        }
    }

    /// Suspends the task until the gate is open, whatever happens to the task.
    package func opened() async { await wait(as: ticket()) }

    /// Suspends the task until the gate is open or the task is cancelled, which throws.
    package func openedUnlessCancelled() async throws {
        let ticket = ticket()
        await withTaskCancellationHandler {
            await wait(as: ticket)
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(ticket)
                return state.tasks.removeValue(forKey: ticket)
            }
            continuation?.resume()
        }
        try Task.checkCancellation()
    }

    private func ticket() -> Int {
        state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    private func wait(as ticket: Int) async {
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                if state.isOpen || state.cancelled.contains(ticket) { return true }
                state.tasks[ticket] = continuation
                return false
            }
            if mayPass { continuation.resume() }
        }
    }
}

/// Lets threads go on together, round after round.
package final class Barrier: Sendable {
    private struct State {
        var arrived = 0
        var round = 0
    }
    private let count: Int
    private let condition = NSCondition()
    private let state = Locked(State())

    package init(of count: Int) { self.count = count }

    /// Blocks until as many threads have come as the barrier is of.
    package func wait() {
        condition.lock()
        defer { condition.unlock() }
        let (round, isLast) = state.withLock { state in
            state.arrived += 1
            let isLast = state.arrived == count
            if isLast {
                state.arrived = 0
                state.round += 1
            }
            return (state.round, isLast)
        }
        if isLast { return condition.broadcast() }
        while state.withLock({ $0.round }) == round { condition.wait() }
    }
}

/// Returns when `condition` holds, giving the processor away meanwhile.
package func awaitState(
    fileID: StaticString = #fileID, line: UInt = #line, _ condition: () -> Bool
) {
    let limit = Date(timeIntervalSinceNow: 300)
    while !condition() {
        sched_yield()
        guard Date() < limit else { fatalError("\(fileID):\(line) waits for a state that never comes") }
    }
}

/// Starts a thread, by default with the stack of a main thread.
///
/// The gate that is returned opens when it has ended.
@discardableResult
package func startThread(stackSize: Int = 8 << 20, _ body: @escaping @Sendable () -> Void) -> Gate {
    let ended = Gate()
    let thread = Thread {
        body()
        ended.open()
    }
    thread.stackSize = stackSize
    thread.start()
    return ended
}

/// Runs `body` on another thread and waits for its end.
package func onAnotherThread<R: Sendable>(_ body: @escaping @Sendable () -> R) -> R {
    let result = Log<R>()
    startThread { result.add(body()) }.wait()
    return result.all[0]
}

/// Runs `body` on `count` threads at once, each with its number, and waits for the end of all.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    for thread in startThreads(count, body) { thread.wait() }
}

/// The same for what takes long: no thread of the pool that other tests need is blocked meanwhile.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    for thread in startThreads(count, body) { await thread.opened() }
}

private func startThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> [Gate] {
    let barrier = Barrier(of: count)
    return (0..<count).map { number in
        startThread {
            barrier.wait()
            body(number)
        }
    }
}
