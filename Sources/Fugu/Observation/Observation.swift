/// A token that ends an observation.
///
/// You don't need to keep the token: the observation continues until you call ``cancel()``, or until the container is released. An
/// object that observes for itself keeps the token, captures itself weakly, and cancels in its `deinit`.
public final class ObservationToken: Sendable {
    private let observer: any Cancelling

    package init(_ observer: any Cancelling) { self.observer = observer }

    /// Ends the observation and releases the closure.
    ///
    /// No call of the observer begins after this method has returned.
    public func cancel() { observer.cancel() }
}

/// An observation that a token can cancel.
package protocol Cancelling: AnyObject, Sendable {
    func cancel()
}

extension Observer: Cancelling {}

#if canImport(Combine)
public import Combine
extension ObservationToken: Cancellable {}
#endif

extension Container {
    @_alwaysEmitIntoClient
    func observe<Value: Sendable>(
        _ definition: KeyDefinition, _ observer: @escaping @Sendable (Value) -> Void
    ) -> ObservationToken {
        add(definition) { observer($0.value(as: Value.self)) }
    }

    @usableFromInline
    func add(_ definition: KeyDefinition, _ call: @escaping @Sendable (Payload) -> Void) -> ObservationToken {
        let observer = Observer(definition.key, call)
        add(observer, definition)
        return ObservationToken(observer)
    }
}

extension Container {
    /// Whether a test has failed because the key isn't set, so that a reader of its values would wait in vain.
    fileprivate func hasRefused(_ key: Key) -> Bool {
        guard !key.kind.throws, isStrict, key.kind == .property ? key.isRequired : key.traits.isExternal else {
            return false
        }
        return present(key, nil) == nil
    }

    func reportFailedReload(of key: Key, _ error: any Error) {
        if let error = error as? LoadError, error.code == .containerGone || error.code == .containerClosed { return }
        node.family.reports.report(Messages.reloadFailed(of: key, error))
    }
}

/// An asynchronous sequence of the values of a key: the current one, followed by later ones.
///
/// A slow reader skips to the newest value. The sequence ends when the reader's task is canceled, or when the container
/// closes or is released. Readers don't take values from each other. The sequence doesn't keep the container alive.
public struct ObservedValues<Element: Sendable>: AsyncSequence, Sendable {
    private let source: @Sendable () -> AsyncStream<Element>
    /// The stream that has recorded values since the sequence was created, for its first reader.
    private let first: Locked<Unprinted<AsyncStream<Element>>?>

    /// - `isStarted`: Whether the first stream begins now rather than with its reader.
    package init(
        _ container: Container, isStarted: Bool,
        _ stream: @escaping @Sendable (Container) -> AsyncStream<Element>
    ) {
        // Waiting for values doesn't keep the container alive.
        let owner = container.owner ?? container
        source = { [weak owner] in owner.map(stream) ?? AsyncStream { $0.finish() } }
        first = Locked(isStarted ? Unprinted(stream(owner)) : nil)
    }

    init(of definition: KeyDefinition, in container: Container) {
        self.init(container, isStarted: true) { container in
            AsyncStream(of: definition, in: container)
        }
    }

    /// Returns an iterator.
    ///
    /// - Returns: The iterator, which begins with the current value.
    public func makeAsyncIterator() -> AsyncIterator {
        let first = first.withLock { $0.take() }
        return AsyncIterator(stream: first?.content ?? source())
    }

    /// An iterator over the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var iterator: Unprinted<AsyncStream<Element>.Iterator>

        fileprivate init(stream: AsyncStream<Element>) { iterator = Unprinted(stream.makeAsyncIterator()) }

        /// Returns the current value at first, and then the newest value that wasn't returned yet.
        ///
        /// - Returns: The value, or `nil` at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// Returns the current value at first, and then the newest value that wasn't returned yet.
        ///
        /// - Parameter actor: The actor on which the caller runs.
        /// - Returns: The value, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await iterator.content.next(isolation: actor)
        }
    }
}

/// What printing doesn't show: the values that wait, and their readers.
private struct Unprinted<Content>: CustomStringConvertible, CustomReflectable {
    var content: Content

    init(_ content: Content) { self.content = content }

    var description: String { "\(Content.self)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Unprinted: Sendable where Content: Sendable {}

extension AsyncStream {
    /// Creates a stream of the current value, if there is one, and all later ones.
    ///
    /// When its reader leaves, a load that only this stream waits for is canceled.
    fileprivate init(of definition: KeyDefinition, in container: Container)
    where Element: Sendable {
        let (stream, continuation) = Self.makeStream(bufferingPolicy: .bufferingNewest(1))
        let observer = Observer(
            definition.key, isSequence: true, { continuation.yield($0.value(as: Element.self)) },
            onEnd: { continuation.finish() })
        // Before the load, so that one that isn't kept, or fails, is tried again.
        container.add(observer, definition, startsWithPresent: true)
        let preparation = definition.prepare(in: container, reportsFailure: false)
        continuation.onTermination = { _ in
            observer.cancel()
            preparation?.cancel()
        }
        // Closing ends the sequences that exist at that moment; this one may have been added later.
        if container.node.isRefusing || container.hasRefused(definition.key) { observer.cancel() }
        self = stream
    }
}

extension Container {
    /// Returns a sequence of the values of a type: the current one, followed by later ones.
    ///
    /// If there is no value, it's loaded, what belongs to the main actor as soon as that is free. A load that fails yields
    /// nothing. Inside a load, read the key instead: a sequence's load isn't part of yours, so a cycle isn't found.
    ///
    /// To update what belongs to the main actor, such as a label, follow the values in one of its tasks:
    ///
    /// ```swift
    /// Task { for await timeout in container.values(of: \.timeout) { label.text = "\(timeout)" } }
    /// ```
    ///
    /// A reader that's slower than the changes gets the newest value and skips those between. To see every value, use
    /// `observe(_:observer:)`.
    ///
    /// - Parameter key: The type to follow.
    /// - Returns: The sequence.
    /// - Complexity: O(*d*) for *d* ancestors.
    public func values<K: ContainerKey>(of key: K.Type) -> ObservedValues<K.ContainerValue> {
        ObservedValues(of: K._key, in: self)
    }

    /// Returns a sequence of the values of a key: the current one, followed by later ones.
    ///
    /// - Parameter key: A key path to the key to follow: `\.timeout`.
    /// - Returns: The sequence.
    /// - Complexity: O(*d*) for *d* ancestors.
    public func values<K: ValueKey>(of key: (ContainerKeys) -> K) -> ObservedValues<K.Value> {
        ObservedValues(of: key(ContainerKeys())._key, in: self)
    }
}

extension Container {
    /// Observes a key for what loads it whenever it's missing.
    ///
    /// - `onGone`: Called when the value has gone, and at first if there's none.
    /// - `onEnd`: Called when the observation has ended.
    /// - `keepingToken`: Receives the token before anything else is called.
    package func observe(
        _ key: Key, onValue: @escaping @Sendable (Payload) -> Void, onGone: @escaping @Sendable (Container) -> Void,
        onEnd: @escaping @Sendable () -> Void, keepingToken: (ObservationToken) -> Void
    ) {
        let observer = Observer(key, isSequence: true, onValue, onGone: onGone, onEnd: onEnd)
        keepingToken(ObservationToken(observer))
        add(observer, nil, startsWithPresent: true)
        // Closing cancels the observers that exist at that moment; this one may have been added later.
        if node.isRefusing { observer.cancel() }
    }
}

extension Container {
    /// Calls an observer whenever the value or instance of a type is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// Calls come one at a time, in order, after the change and outside every lock, on the thread that made the change or
    /// on one that's already delivering changes of the key.
    ///
    /// The first read of a default counts as a change, too. While a feature is observed, it loads again immediately after a reset
    /// and, if it reloads when its inputs change, after such a change. Setting an equal value doesn't notify observers. An `==`
    /// that's isolated to the main actor is used only there; elsewhere, every set notifies them.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @_alwaysEmitIntoClient  // Specialized by the caller, a call takes 30 instructions; otherwise, 90 more.
    public func observe<K: ContainerKey>(
        _ key: K.Type, observer: @escaping @Sendable (K.ContainerValue) -> Void
    ) -> ObservationToken {
        observe(K._key, observer)
    }

    /// Calls an observer whenever the value or instance of a key is set, reset, modified, or first loaded, here or in
    /// an ancestor that it's inherited from.
    ///
    /// ```swift
    /// container.observe(\.timeout) { print("timeout is now \($0)") }
    /// container.observe({ _ in limit(of: "ada") }) { print("her limit is now \($0)") }
    /// ```
    ///
    /// See `observe(_:observer:)` of a type for when it's called, and where.
    ///
    /// - Parameters:
    ///   - key: A key path to the key to observe: `\.timeout`.
    ///   - observer: A closure that receives the new value.
    /// - Returns: A token that ends the observation. You can ignore it.
    /// - Complexity: O(*d*) for *d* ancestors.
    @discardableResult
    @_alwaysEmitIntoClient  // Specialized by the caller; see above.
    public func observe<K: ValueKey>(
        _ key: (ContainerKeys) -> K, observer: @escaping @Sendable (K.Value) -> Void
    ) -> ObservationToken {
        observe(key(ContainerKeys())._key, observer)
    }
}
