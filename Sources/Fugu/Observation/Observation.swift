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

extension Container {
    /// Adds an observer that ends with its owner, if it has one.
    @inlinable
    func observe<Value: Sendable>(
        _ subject: Subject, while owner: (any AnyObject & Sendable)?, _ observer: @escaping @Sendable (Value) -> Void
    ) -> ObservationToken {
        add(subject, while: owner) { observer($0.value(as: Value.self)) }
    }

    @usableFromInline
    func add(
        _ subject: Subject, while owner: (any AnyObject & Sendable)?, _ call: @escaping @Sendable (Payload) -> Void
    ) -> ObservationToken {
        let observer: Observer
        if let owner {
            observer = Observer(
                subject.key, isOver: { [weak owner] in owner == nil },
                { [weak owner] payload in if owner != nil { call(payload) } })
        } else {
            observer = Observer(subject.key, call)
        }
        add(observer, subject.reloader, subject.naming)
        return ObservationToken(observer)
    }
}
