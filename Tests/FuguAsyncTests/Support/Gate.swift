import Fugu

/// What tasks and threads wait for; once open, it stays open.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
        var next = 0
    }
    private let state = Guarded(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Waits, whatever happens to the task.
    func pass() async { await wait(as: ticket()) }

    /// Waits until the gate is open or the task is cancelled, which throws.
    func passUnlessCancelled() async throws {
        let ticket = ticket()
        await withTaskCancellationHandler {
            await wait(as: ticket)
        } onCancel: {
            let continuation = state.withLock { state in
                state.cancelled.insert(ticket)
                return state.waiting.removeValue(forKey: ticket)
            }
            continuation?.resume()
        }
        try Task.checkCancellation()
    }

    private func ticket() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    private func wait(as ticket: Int) async {
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                if state.isOpen || state.cancelled.contains(ticket) { return true }
                state.waiting[ticket] = continuation
                return false
            }
            if mayPass { continuation.resume() }
        }
    }
}

/// Counts, and lets tests wait until a number is reached.
final class Tally: Sendable {
    private struct State {
        var count = 0
        var gates: [(count: Int, gate: Gate)] = []
    }
    private let state = Guarded(State())

    var count: Int { state.withLock { $0.count } }

    @discardableResult
    func add() -> Int {
        let (count, reached) = state.withLock { state in
            state.count += 1
            let count = state.count
            let reached = state.gates.filter { $0.count <= count }.map(\.gate)
            state.gates.removeAll { $0.count <= count }
            return (count, reached)
        }
        for gate in reached { gate.open() }
        return count
    }

    func reaches(_ count: Int) async {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.count >= count { return true }
            state.gates.append((count, gate))
            return false
        }
        if !isThere { await gate.pass() }
    }
}

/// What happened, in order.
final class Log: Sendable {
    private let lines = Guarded<[String]>([])
    private let tally = Tally()

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
        tally.add()
    }

    var all: [String] { lines.withLock { $0 } }

    /// The lines, once there are at least so many.
    func first(_ count: Int) async -> [String] {
        await tally.reaches(count)
        return all
    }
}
