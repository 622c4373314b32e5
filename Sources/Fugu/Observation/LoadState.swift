/// How far the load of a feature is, for a view that shows progress and errors.
///
/// ```swift
/// switch container.observable.state(of: Weather.self) {
/// case .loading(let previous): previous.map(Forecast.init) ?? ProgressView()
/// case .loaded(let weather): Forecast(weather)
/// case .failed(let error, _): Text("\(error)")
/// case .idle: EmptyView()
/// }
/// ```
///
/// Get one from `state(of:)` of an ``ObservableContainer``, or follow all of them with `states(of:)`.
public enum LoadState<Instance: Sendable>: Sendable {
    /// Nothing is loaded, and nothing will be: the container is closed or has gone away.
    case idle
    /// A load runs. Until it ends, the previous instance is kept, if there was one.
    case loading(previous: Instance?)
    /// The instance is there.
    case loaded(Instance)
    /// The last load threw an error. The next one begins when something changes that it had read, or after a reset.
    case failed(any Error, previous: Instance?)

    /// The instance that is there or, while a load runs and after it has failed, the previous one.
    public var instance: Instance? {
        switch self {
        case .idle: nil
        case .loaded(let instance): instance
        case .loading(let previous), .failed(_, let previous): previous
        }
    }

    /// The error of the last load, if that has failed.
    public var error: (any Error)? { if case .failed(let error, _) = self { error } else { nil } }

    /// A Boolean value that indicates whether a load runs.
    public var isLoading: Bool { if case .loading = self { true } else { false } }
}

/// Loads a feature for those who follow its state, and tells them of it.
final class LoadMonitor<Instance: Sendable>: Sendable {
    private struct State {
        var current = LoadState<Instance>.idle
        /// Tells the loads apart.
        var load = 0
        var task: Task<Void, Never>?
        var observer: Observer?
        var isOver = false
    }

    private let state = Locked(State())
    private let key: Key
    private let load: @Sendable (Container) async throws -> Instance
    private let onChange: @Sendable (LoadState<Instance>) -> Void
    private let onEnd: @Sendable () -> Void

    init(
        _ key: Key, _ load: @escaping @Sendable (Container) async throws -> Instance,
        onChange: @escaping @Sendable (LoadState<Instance>) -> Void, onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.key = key
        self.load = load
        self.onChange = onChange
        self.onEnd = onEnd
    }

    var current: LoadState<Instance> { state.withLock { $0.current } }

    /// Follows the feature in a container, which keeps this until it's cancelled or the container goes away.
    func begin(in container: Container) {
        let observer = Observer(
            key, isSequence: true, { [self] in hear($0.value(as: Instance.self)) },
            onGone: { [self] in beginLoad(in: $0) }, onEnd: { [self] in end() })
        state.withLock { $0.observer = observer }
        let reloader: Reloader = { [self] container, _ in
            beginLoad(in: container)
            return nil
        }
        container.add(observer, reloader, startsWithPresent: true)
        // Closing ends those that exist at that moment; this one may have been added later.
        let node = container.node
        if node.family.lock.withLock({ token in node.storage[token].isClosed }) { observer.cancel() }
    }

    func cancel() {
        let observer = state.withLock { $0.observer }
        observer?.cancel()
    }

    private func hear(_ instance: Instance) {
        change { $0.current = .loaded(instance) }
    }

    private func end() {
        let task = state.withLock { state in
            state.isOver = true
            state.observer = nil
            return state.task.take()
        }
        task?.cancel()
        change(isLast: true) { $0.current = .idle }
        onEnd()
    }

    /// Loads what is gone, unless that is being done.
    private func beginLoad(in container: Container) {
        var number = 0
        let begins = change { state in
            if case .loading = state.current { return }
            state.load += 1
            number = state.load
            state.current = .loading(previous: state.current.instance)
        }
        guard begins, number > 0 else { return }
        let load = number
        // The load is in nobody's load, whoever has changed the input.
        let task = Scope.run(.ended, nil) {
            Task { [self] in
                let result: Result<Instance, any Error>
                do {
                    result = .success(try await Scope.run(container, nil) { try await self.load(container) })
                } catch {
                    result = .failure(error)
                }
                endLoad(load, result)
            }
        }
        let isOver = state.withLock { state in
            if !state.isOver, state.load == load { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    private func endLoad(_ number: Int, _ result: Result<Instance, any Error>) {
        change { state in
            guard state.load == number else { return }
            state.task = nil
            // Who follows has heard of an instance that is kept, or of a newer one.
            guard case .loading(let previous) = state.current else { return }
            switch result {
            case .success(let instance): state.current = .loaded(instance)
            case .failure(let error): state.current = .failed(error, previous: previous)
            }
        }
    }

    /// Changes the state and tells of it outside the lock; says whether that was possible.
    @discardableResult
    private func change(isLast: Bool = false, _ body: (inout State) -> Void) -> Bool {
        // What was there before is let go outside the lock.
        let (former, next) = state.withLock { state -> (LoadState<Instance>, LoadState<Instance>?) in
            let former = state.current
            if state.isOver, !isLast { return (former, nil) }
            body(&state)
            return (former, state.current)
        }
        defer { withExtendedLifetime(former) {} }
        guard let next else { return false }
        if !next.isSame(as: former) { onChange(next) }
        return true
    }
}

extension LoadState {
    /// Whether nothing has changed between two states of the same monitor, of which only these occur twice in a row.
    fileprivate func isSame(as other: LoadState) -> Bool {
        switch (self, other) {
        case (.idle, .idle), (.loading, .loading), (.failed, .failed): true
        default: false
        }
    }
}

// MARK: As a sequence

/// An asynchronous sequence of the states of a feature's load: the present one, and then later ones.
///
/// A slow reader skips to the newest state. The sequence ends when the reader's task is canceled, or when the container closes or
/// goes away. Every reader follows the states from its own beginning.
public struct LoadStates<Instance: Sendable>: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = LoadState<Instance>
    /// The type of errors: reading states can't fail.
    public typealias Failure = Never

    private let key: Key
    private let load: @Sendable (Container) async throws -> Instance
    /// Waiting for states doesn't keep the container alive.
    private let container: @Sendable () -> Container?

    init(_ key: Key, in container: Container, _ load: @escaping @Sendable (Container) async throws -> Instance) {
        let owner = container.owner ?? container
        self.key = key
        self.load = load
        self.container = { [weak owner] in owner }
    }

    /// Returns an iterator, and begins to load the feature if it isn't there.
    ///
    /// - Returns: The iterator, which begins with the present state.
    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        guard let container = container() else {
            continuation.finish()
            return AsyncIterator(stream: stream)
        }
        let monitor = LoadMonitor(
            key, load, onChange: { continuation.yield($0) }, onEnd: { continuation.finish() })
        continuation.onTermination = { _ in monitor.cancel() }
        monitor.begin(in: container)
        return AsyncIterator(stream: stream)
    }

    /// An iterator over the states.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var iterator: AsyncStream<Element>.Iterator

        fileprivate init(stream: AsyncStream<Element>) { iterator = stream.makeAsyncIterator() }

        /// Returns the present state at first, and then the newest state that wasn't returned yet.
        ///
        /// - Returns: The state, or `nil` at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// Returns the present state at first, and then the newest state that wasn't returned yet.
        ///
        /// - Parameter actor: The actor on which the caller runs.
        /// - Returns: The state, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await iterator.next(isolation: actor)
        }
    }
}

extension Container {
    /// Returns a sequence of the states of a feature's load: the present one, and then later ones.
    ///
    /// Whoever reads the sequence loads the feature if it isn't there, and again whenever it's missing: after a reset, when it
    /// reloads because an input changed, and when something changes that a failed load had read.
    ///
    ///     for await state in container.states(of: Weather.self) { show(state) }
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The sequence.
    /// - Complexity: O(*d*) for *d* ancestors, for each iterator.
    public func states<F: AsyncFeature>(of feature: F.Type) -> LoadStates<F.Instance> {
        LoadStates(Key(raw: F._key.raw), in: self) { try await $0[F.self] }
    }

    /// Returns a sequence of the states of a feature's load: the present one, and then later ones.
    ///
    /// See `states(of:)`. The load runs in a task.
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The sequence.
    /// - Complexity: O(*d*) for *d* ancestors, for each iterator.
    public func states<F: ThrowingFeature>(of feature: F.Type) -> LoadStates<F.Instance> {
        LoadStates(Key(raw: F._key.raw), in: self) { try $0[F.self] }
    }
}

extension ObservableContainer {
    /// The state of a feature's load, which is tracked like a read.
    ///
    /// The first call begins to load the feature if it isn't there. From then on it's loaded whenever it's missing: after a reset,
    /// when it reloads because an input changed, and when something changes that a failed load had read.
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The state at this moment.
    /// - Complexity: O(1) after the first call, which takes O(*d*) for *d* ancestors.
    public func state<F: AsyncFeature>(of feature: F.Type) -> LoadState<F.Instance> {
        _container.trackedState(of: Key(raw: F._key.raw)) { try await $0[F.self] }
    }

    /// The state of a feature's load, which is tracked like a read.
    ///
    /// See ``state(of:)-(F.Type)``. The load runs in a task.
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The state at this moment.
    /// - Complexity: O(1) after the first call, which takes O(*d*) for *d* ancestors.
    public func state<F: ThrowingFeature>(of feature: F.Type) -> LoadState<F.Instance> {
        _container.trackedState(of: Key(raw: F._key.raw)) { try $0[F.self] }
    }
}

extension Container {
    fileprivate func trackedState<Instance: Sendable>(
        of key: Key, _ load: @escaping @Sendable (Container) async throws -> Instance
    ) -> LoadState<Instance> {
        guard case .tracked(let tracker, let container) = role else { return .idle }
        return tracker.state(of: key, in: container, load)
    }
}
