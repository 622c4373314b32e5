/// A token that ends an observation.
///
/// You don't need to keep the token: the observation continues until you call ``cancel()``, or until the container is released.
public final class ObservationToken: Sendable {
    private let observer: any Cancelling

    init(_ observer: any Cancelling) { self.observer = observer }

    /// Ends the observation and releases the closure.
    ///
    /// No call of the observer begins after this method has returned.
    public func cancel() { observer.cancel() }
}

/// An observation that a token can cancel.
protocol Cancelling: AnyObject, Sendable {
    func cancel()
}

#if canImport(Combine)
public import Combine
extension ObservationToken: Cancellable {}
#endif

/// Delivers values to an observer on the main actor, in order, with the observed container as the current one.
final class MainActorQueue<Value: Sendable>: Sendable {
    private let observer: @MainActor @Sendable (Value) -> Void
    /// Weak, so that a value that waits for the main actor doesn't keep the container alive.
    private let container: @Sendable () -> Container?
    private let state = Locked(State())
    private struct State: Sendable {
        /// The newest values, in order.
        var values: [Value] = []
        /// The values before those, in reverse order.
        var next: [Value] = []
        var isRunning = false
        var isCancelled = false
    }

    init(in container: Container, _ observer: @escaping @MainActor @Sendable (Value) -> Void) {
        self.container = { [weak container] in container }
        self.observer = observer
    }

    func add(_ value: Value) {
        let starts = state.withLock { state in
            if state.isCancelled { return false }
            state.values.append(value)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        // Unbind: a task retains its creator's task-local values, and the thread that delivers has bound the container.
        Context.run(.ended, nil) { _ = Task { @MainActor in run() } }
    }

    /// Drops the values that are still waiting.
    func cancel() {
        let dropped = state.withLock { state in
            state.isCancelled = true
            defer { (state.values, state.next) = ([], []) }
            return (state.values, state.next)
        }
        withExtendedLifetime(dropped) {}
    }

    @MainActor private func run() {
        while true {
            let next: Value? = state.withLock { state in
                if state.next.isEmpty {
                    state.next = state.values.reversed()
                    state.values = []
                }
                state.isRunning = !state.next.isEmpty
                return state.next.popLast()
            }
            guard let next else { return }
            guard let container = container() else { return cancel() }
            Context.run(container, nil) { observer(next) }
        }
    }
}

extension Container {
    /// Adds an observer that ends with its owner, if it has one.
    @usableFromInline
    func observe(
        _ subject: Subject, while owner: (any AnyObject & Sendable)?, call: @escaping @Sendable (Payload) -> Void
    ) -> ObservationToken {
        add(subject, while: owner, call, onEnd: nil)
    }

    func observeOnMainActor<Value: Sendable>(
        _ subject: Subject, while owner: (any AnyObject & Sendable)?,
        _ observer: @escaping @MainActor @Sendable (Value) -> Void
    ) -> ObservationToken {
        let container = self.owner ?? self
        guard let owner else {
            let queue = MainActorQueue(in: container, observer)
            return add(subject, while: nil, { queue.add($0.value(as: Value.self)) }, onEnd: { queue.cancel() })
        }
        // Check again when the value is delivered: the owner may have been released in the meantime.
        let queue = MainActorQueue<Value>(in: container) { [weak owner] value in if owner != nil { observer(value) } }
        return add(subject, while: owner, { queue.add($0.value(as: Value.self)) }, onEnd: { queue.cancel() })
    }

    private func add(
        _ subject: Subject, while owner: (any AnyObject & Sendable)?, _ call: @escaping @Sendable (Payload) -> Void,
        onEnd: (@Sendable () -> Void)?
    ) -> ObservationToken {
        let observer: Observer
        if let owner {
            observer = Observer(
                subject.key, isOver: { [weak owner] in owner == nil },
                { [weak owner] payload in if owner != nil { call(payload) } }, onEnd: onEnd)
        } else {
            observer = Observer(subject.key, call, onEnd: onEnd)
        }
        add(observer, subject.reloader, subject.naming)
        return ObservationToken(observer)
    }
}
