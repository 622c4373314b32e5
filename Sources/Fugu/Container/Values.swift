/// The values of a key: the present one, then later ones.
///
/// A slow reader skips to the newest. The sequence ends when the reader's task is cancelled, or when the container closes or
/// goes away. Each iteration is independent of the others: every reader gets the values for itself.
public struct Values<Element: Sendable>: AsyncSequence, Sendable {
    /// Reading values does not fail.
    public typealias Failure = Never

    private let node: Node
    private let subject: Subject
    private let prepare: (@Sendable (Container) -> PreparationHandle?)?

    fileprivate init(
        _ node: Node, _ subject: Subject, prepare: (@Sendable (Container) -> PreparationHandle?)? = nil
    ) {
        self.node = node
        self.subject = subject
        self.prepare = prepare
    }

    /// Begins an iteration, loading what is not there.
    public func makeAsyncIterator() -> AsyncIterator {
        // Who waits for values keeps no container.
        let preparation = prepare?(Container(standingFor: node))
        return AsyncIterator(stream: stream { preparation?.cancel() })
    }

    /// `onEnd` is called when nobody listens any more.
    private func stream(onEnd: @escaping @Sendable () -> Void) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let observer = Observer(
            node, subject.key, isSequence: true,
            Observer.Callbacks(
                call: { continuation.yield($0.value(as: Element.self)) }, onEnd: { continuation.finish() }))
        continuation.onTermination = { [subscription = observer.subscription] _ in
            subscription.cancel()
            onEnd()
        }
        node.family.observe(observer, subject.reloader, subject.naming, startsWithPresent: true)
        // A closing ends the sequences that it finds; this one may have come later.
        if node.family.lock.withLock({ node.isClosed }) { observer.subscription.cancel() }
        return stream
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

extension Container {
    /// Returns the values of what a type names: the present one, then later ones.
    ///
    /// Each iteration loads what is not there; a failure is not told.
    public func values<K: Keyed & SendableMetatype>(of key: K.Type) -> Values<K.Held> {
        Values(backing.node, Subject(K.self)) { K._prepare(in: $0, reportsFailure: false) }
    }

    /// Returns the values of what a type that belongs to an actor names: the present one, then later ones.
    ///
    /// Loads what is not there, at this call; a failure is not told.
    public func values<K: Keyed>(of key: K.Type) -> Values<K.Held> {
        _ = K._prepare(in: self, reportsFailure: false)
        return Values(backing.node, Subject(isolated: K.self))
    }

    /// Returns the values of what a key names: the present one, then later ones.
    public func values<K: ValueKey>(of key: K) -> Values<K.Held> {
        Values(backing.node, Subject(key)) {
            key._prepare(in: $0)
            return nil
        }
    }

    /// Returns the values of what a member of ``ContainerKeys`` names: the present one, then later ones.
    public func values<K: ValueKey>(of key: KeyPath<ContainerKeys, K>) -> Values<K.Held> {
        values(of: ContainerKeys()[keyPath: key])
    }
}
