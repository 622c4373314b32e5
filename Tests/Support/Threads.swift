import Foundation

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
