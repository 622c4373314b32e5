/// A token that ends an observation.
///
/// You don't need to keep the token: the observation continues until you call ``cancel()``, or until the container goes away.
public final class ObservationToken: Sendable {
    private let subscription: any Cancelling

    init(_ observer: Observer) { subscription = observer.subscription }
    init(_ observer: EventObserver) { subscription = observer }

    /// Ends the observation and releases the closure.
    ///
    /// No call of the observer begins after this method has returned.
    public func cancel() { subscription.cancel() }
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
    /// A value that waits for the main actor doesn't keep the container alive.
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
        // A task retains the task-local values of its creator, and the thread that delivers has bound the container.
        Container.$current.withValue(.ended) { _ = Task { @MainActor in run() } }
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
            Current.observing(container) { observer(next) }
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
        let container = backend.owner ?? self
        guard let owner else {
            let queue = MainActorQueue(in: container, observer)
            return add(subject, while: nil, { queue.add($0.value(as: Value.self)) }, onEnd: { queue.cancel() })
        }
        // Check again when the value is delivered: the owner may have gone away in the meantime.
        let queue = MainActorQueue<Value>(in: container) { [weak owner] value in if owner != nil { observer(value) } }
        return add(subject, while: owner, { queue.add($0.value(as: Value.self)) }, onEnd: { queue.cancel() })
    }

    private func add(
        _ subject: Subject, while owner: (any AnyObject & Sendable)?, _ call: @escaping @Sendable (Payload) -> Void,
        onEnd: (@Sendable () -> Void)?
    ) -> ObservationToken {
        let node = backend.node
        guard let owner else {
            let observer = Observer(node, subject.key, call, onEnd: onEnd)
            node.family.observe(observer, in: backend.owner ?? self, subject.reloader, subject.naming)
            return ObservationToken(observer)
        }
        // The observer receives its own token.
        let token = Locked<ObservationToken?>(nil)
        let observer = Observer(
            node, subject.key,
            { [weak owner] payload in
                if owner != nil { return call(payload) }
                token.withLock { $0 }?.cancel()
            }, onEnd: onEnd)
        let made = ObservationToken(observer)
        token.withLock { $0 = made }
        node.family.observe(observer, in: backend.owner ?? self, subject.reloader, subject.naming)
        return made
    }
}
