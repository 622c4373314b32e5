/// The values of a key: the present one, then later ones.
///
/// A slow reader skips to the newest. The sequence ends when the reader's task is cancelled, or when the container closes or
/// goes away. Each iteration is independent of the others: every reader gets the values for itself. The sequence doesn't keep
/// the container alive.
public struct Values<Element: Sendable>: AsyncSequence, Sendable {
    /// Reading values does not fail.
    public typealias Failure = Never

    private let source: ValueSource<Element>
    /// What the sequence has seen since it was made, for the first who reads it.
    private let first: Guarded<AsyncStream<Element>?>

    fileprivate init(
        of subject: Subject, in container: Container, _ prepare: @escaping @Sendable (Container) -> PreparationHandle?
    ) {
        let owner = container.backing.owner ?? container
        source = ValueSource(subject: subject, prepare: prepare) { [weak owner] in owner }
        first = Guarded(source.stream(in: owner, prepare(container)))
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> AsyncIterator {
        let first = first.withLock { $0.take() }
        return AsyncIterator(stream: first ?? source.stream())
    }

    /// One reader's way through the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var iterator: AsyncStream<Element>.Iterator

        fileprivate init(stream: AsyncStream<Element>) { iterator = stream.makeAsyncIterator() }

        /// Returns the present value at first, then the newest one that was not returned yet, and `nil` at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// Returns the present value at first, then the newest one that was not returned yet, and `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await iterator.next(isolation: actor)
        }
    }
}

/// What every reader of a sequence gets a stream of its own from.
private struct ValueSource<Element: Sendable>: Sendable {
    let subject: Subject
    let prepare: @Sendable (Container) -> PreparationHandle?
    /// Who waits for values keeps no container.
    let container: @Sendable () -> Container?

    /// A stream for one more reader.
    func stream() -> AsyncStream<Element> {
        container().map { stream(in: $0, prepare($0)) } ?? AsyncStream { $0.finish() }
    }

    /// The present value, if there is one by now, and all later ones. When nobody listens any more, nobody wants what is
    /// loading either.
    func stream(in container: Container, _ preparation: PreparationHandle?) -> AsyncStream<Element> {
        let node = container.backing.node
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let observer = Observer(
            node, subject.key, isSequence: true,
            Observer.Callbacks(
                call: { continuation.yield($0.value(as: Element.self)) }, onEnd: { continuation.finish() }))
        continuation.onTermination = { [subscription = observer.subscription] _ in
            subscription.cancel()
            preparation?.cancel()
        }
        node.family.observe(observer, in: container, subject.reloader, subject.naming, startsWithPresent: true)
        // A closing ends the sequences that it finds; this one may have come later.
        if node.family.lock.withLock({ node.isClosed }) { observer.subscription.cancel() }
        return stream
    }
}

extension Container {
    /// Returns the values of what a type names: the present one, then later ones.
    ///
    /// What is not there is loaded; a failure is not told.
    public func values<K: Keyed & SendableMetatype>(of key: K.Type) -> Values<K.Held> {
        Values(of: Subject(K.self), in: self) { K._prepare(in: $0, reportsFailure: false) }
    }

    /// Returns the values of what a type that belongs to an actor names: the present one, then later ones.
    ///
    /// What is not there is loaded, at this call; a failure is not told.
    public func values<K: Keyed>(of key: K.Type) -> Values<K.Held> {
        _ = K._prepare(in: self, reportsFailure: false)
        return Values(of: Subject(isolated: K.self), in: self) { _ in nil }
    }

    /// Returns the values of what a key names: the present one, then later ones.
    public func values<K: ValueKey>(of key: K) -> Values<K.Held> {
        Values(of: Subject(key), in: self) {
            key._prepare(in: $0)
            return nil
        }
    }

    /// Returns the values of what a member of ``ContainerKeys`` names: the present one, then later ones.
    public func values<K: ValueKey>(of key: KeyPath<ContainerKeys, K>) -> Values<K.Held> {
        values(of: ContainerKeys()[keyPath: key])
    }
}
