/// Ends an observation. Forgetting the token does not: the observer is called as long as the container lives.
public final class ObservationToken: Sendable {
    private let subscription: Subscription

    init(_ observer: Observer) { subscription = observer.subscription }

    /// Ends the observation and releases the closure. No call begins after this has returned.
    public func cancel() { subscription.cancel() }
}

#if canImport(Combine)
public import Combine
extension ObservationToken: Cancellable {}
#endif

/// Hands values to an observer on the main actor, in order.
final class MainActorQueue<Value: Sendable>: Sendable {
    private let observer: @MainActor @Sendable (Value) -> Void
    private let state = Guarded(State())
    private struct State: Sendable {
        var values: [Value] = []
        var isRunning = false
        var isCancelled = false
    }

    init(_ observer: @escaping @MainActor @Sendable (Value) -> Void) { self.observer = observer }

    func add(_ value: Value) {
        let starts = state.withLock { state in
            state.values.append(value)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task { @MainActor in run() } }
    }

    /// Nothing that waits is delivered any more.
    func cancel() {
        let dropped = state.withLock { state in
            state.isCancelled = true
            defer { state.values = [] }
            return state.values
        }
        withExtendedLifetime(dropped) {}
    }

    @MainActor private func run() {
        while true {
            let next: Value? = state.withLock { state in
                guard !state.isCancelled, !state.values.isEmpty else {
                    state.isRunning = false
                    state.values = []
                    return nil
                }
                return state.values.removeFirst()
            }
            guard let next else { return }
            observer(next)
        }
    }
}

/// What is observed, whatever kind of key it has.
@usableFromInline struct Subject<Value: Sendable> {
    let key: Key
    /// Loads it when nobody reads it; nil for a type that belongs to an actor.
    let reloader: Reloader?
    /// How sources are asked for it, if it has a name.
    var naming: PropertyNaming?
}

extension Container {
    @usableFromInline
    func observe<Value>(
        _ subject: Subject<Value>, call: @escaping @Sendable (Payload) -> Void
    ) -> ObservationToken {
        add(subject, Observer.Callbacks(call: call, onEnd: nil))
    }

    func observe<Value>(
        _ subject: Subject<Value>, _ observer: @escaping @Sendable (Value) -> Void
    ) -> ObservationToken {
        observe(subject, call: { observer($0.value(as: Value.self)) })
    }

    func observe<Value>(
        onMainActor subject: Subject<Value>, _ observer: @escaping @MainActor @Sendable (Value) -> Void
    ) -> ObservationToken {
        let queue = MainActorQueue(observer)
        return add(
            subject,
            Observer.Callbacks(call: { queue.add($0.value(as: Value.self)) }, onEnd: { queue.cancel() }))
    }

    func observe<Value, Owner: AnyObject & Sendable>(
        _ subject: Subject<Value>, while owner: Owner, _ observer: @escaping @Sendable (Value) -> Void
    ) {
        endWithOwner { token in
            observe(subject) { [weak owner] value in
                if owner != nil { return observer(value) }
                token.withLock { $0 }?.cancel()
            }
        }
    }

    func observe<Value, Owner: AnyObject & Sendable>(
        onMainActor subject: Subject<Value>, while owner: Owner,
        _ observer: @escaping @MainActor @Sendable (Value) -> Void
    ) {
        endWithOwner { token in
            observe(onMainActor: subject) { [weak owner] value in
                if owner != nil { return observer(value) }
                token.withLock { $0 }?.cancel()
            }
        }
    }

    /// Hands the observer its own token.
    private func endWithOwner(_ observe: (Guarded<ObservationToken?>) -> ObservationToken) {
        let token = Guarded<ObservationToken?>(nil)
        let made = observe(token)
        token.withLock { $0 = made }
    }

    /// The present value, if there is one by now, and all later ones. `onEnd` is called when nobody listens any more.
    func stream<Value>(_ subject: Subject<Value>, onEnd: @escaping @Sendable () -> Void = {}) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let observer = Observer(
            backing.node, subject.key, isSequence: true,
            Observer.Callbacks(
                call: { continuation.yield($0.value(as: Value.self)) }, onEnd: { continuation.finish() }))
        continuation.onTermination = { [subscription = observer.subscription] _ in
            subscription.cancel()
            onEnd()
        }
        let node = backing.node
        node.family.observe(
            observer, in: backing.owner ?? self, subject.reloader, subject.naming, startsWithPresent: true)
        // A closing ends the sequences that it finds; this one may have come later.
        if node.family.lock.withLock({ node.isClosed }) { observer.subscription.cancel() }
        return stream
    }

    private func add<Value>(_ subject: Subject<Value>, _ callbacks: Observer.Callbacks) -> ObservationToken {
        let node = backing.node
        let observer = Observer(node, subject.key, callbacks)
        node.family.observe(observer, in: backing.owner ?? self, subject.reloader, subject.naming)
        return ObservationToken(observer)
    }
}
