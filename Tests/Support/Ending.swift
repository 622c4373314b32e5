/// Runs `body` on a new thread and returns its result.
///
/// If it never ends, this throws when the time limit of the test is over, so that a hang is a failure and nothing more.
package func finishing<R: Sendable>(
    stackSize: Int = 8 << 20, _ body: @escaping @Sendable () -> R
) async throws -> R {
    let result = Log<R>()
    try await startThread(stackSize: stackSize) { result.add(body()) }.openedUnlessCancelled()
    return result.all[0]
}

/// Runs `body` in a new task and returns its result, or throws when the time limit of the test is over.
package func finishing<R: Sendable>(
    task body: @escaping @concurrent @Sendable () async throws -> R
) async throws -> R {
    let ended = Gate()
    let task = Task {
        defer { ended.open() }
        return try await body()
    }
    try await ended.openedUnlessCancelled()
    return try await task.value
}
