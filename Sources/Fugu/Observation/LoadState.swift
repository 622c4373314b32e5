/// The state of a feature's load, for a view that shows progress and errors.
///
/// ```swift
/// switch container.observable.state(of: Weather.self) {
/// case .loaded(let weather), .loading(let weather?): Forecast(weather)
/// case .loading(nil), .idle: ProgressView()
/// case .failed(let error, _): Text("\(error)")
/// }
/// ```
///
/// Get one from `state(of:)` of an ``ObservableContainer``, or follow all of them with `states(of:)`.
public indirect enum LoadState<Instance: Sendable>: Sendable {
    /// The container is closed or was released: nothing is loaded, and nothing will be.
    case idle
    /// A load is in progress; until it ends, the state keeps the previous instance, if there was one.
    case loading(previous: Instance?)
    /// The instance is loaded.
    case loaded(Instance)
    /// The last load threw an error.
    ///
    /// The next one begins when one of its inputs changes, or after a reset.
    case failed(any Error, previous: Instance?)

    /// The loaded instance or, while a load is in progress and after it has failed, the previous one.
    public var instance: Instance? {
        switch self {
        case .idle: nil
        case .loaded(let instance): instance
        case .loading(let previous), .failed(_, let previous): previous
        }
    }

    /// The error of the last load, if it failed.
    public var error: (any Error)? { if case .failed(let error, _) = self { error } else { nil } }

    /// A Boolean value that indicates whether a load is in progress.
    public var isLoading: Bool { if case .loading = self { true } else { false } }
}

extension LoadState<Payload> {
    /// Returns the state with the instances of a feature, which the monitor of its load doesn't know.
    func typed<Feature: Sendable>() -> LoadState<Feature> {
        switch self {
        case .idle: .idle
        case .loading(let previous): .loading(previous: previous?.value(as: Feature.self))
        case .loaded(let instance): .loaded(instance.value(as: Feature.self))
        case .failed(let error, let previous): .failed(error, previous: previous?.value(as: Feature.self))
        }
    }
}

/// Loads a feature for the followers of its state, and notifies them.
final class LoadMonitor: Sendable {
    private struct State {
        /// The first load is about to begin.
        var current = LoadState<Payload>.loading(previous: nil) { didSet { isUntold = true } }
        var observer: Observer?
        var isOver = false
        /// The task that loads, while it runs.
        var task: Task<Void, Never>?
        var isLoading = false
        /// Whether the instance has been missing again since the task began to load it.
        var isGoneAgain = false
        /// Whether the state has changed since it was reported.
        var isUntold = false
        /// Whether a thread is reporting the state.
        ///
        /// That thread also reports the changes that others make meanwhile, so that the last state comes last.
        var isTelling = false
    }

    private let state = Locked(State())
    private let loader: KeyLoader
    private let onChange: @Sendable (LoadState<Payload>) -> Void
    private let onEnd: @Sendable () -> Void

    init(
        _ loader: KeyLoader, onChange: @escaping @Sendable (LoadState<Payload>) -> Void,
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.loader = loader
        self.onChange = onChange
        self.onEnd = onEnd
    }

    var current: LoadState<Payload> { state.withLock { $0.current } }

    /// Follows the feature in a container, which keeps the monitor until it's canceled or the container is released.
    func begin(in container: Container) {
        let observer = Observer(
            loader.key, isSequence: true,
            { [self] payload in
                change { state in
                    state.current = .loaded(payload)
                    state.isGoneAgain = false
                }
            },
            onGone: { [self] in beginLoad(in: $0) }, onEnd: { [self] in end() })
        state.withLock { $0.observer = observer }
        container.add(observer, nil, startsWithPresent: true)
        // Closing cancels the observers that exist at that moment; this one may have been added later.
        if container.node.isRefusing { observer.cancel() }
    }

    /// Ends without another state, because nobody follows them anymore.
    func cancel() {
        let (observer, task) = state.withLock { state in
            state.isOver = true
            return (state.observer.take(), state.task.take())
        }
        observer?.cancel()
        task?.cancel()
    }

    private func end() {
        var task: Task<Void, Never>?
        change { state in
            task = state.task.take()
            (state.isOver, state.observer, state.current) = (true, nil, .idle)
        }
        task?.cancel()
    }

    /// Begins to load the missing instance, or lets a load in progress be repeated, because its inputs may have changed.
    ///
    /// - `isRepeated`: Whether a load has just ended after which the instance was missing again.
    private func beginLoad(in container: Container, isRepeated: Bool = false) {
        var begins = false
        change { state in
            // Meanwhile, the instance may have come, or another call may have begun to load it.
            if isRepeated, !state.isGoneAgain { return }
            begins = !state.isLoading
            state.isGoneAgain = !begins
            state.isLoading = true
            if begins || !state.current.isLoading { state.current = .loading(previous: state.current.instance) }
        }
        guard begins else { return }
        // The load must not become part of the frame that changed the input.
        Context.run(.ended, nil) {
            state.withLock { state in
                // Under the lock, so that the task can't end before it's stored.
                if !state.isOver { state.task = Task { [self] in await load(in: container) } }
            }
        }
    }

    private func load(in container: Container) async {
        // Report an outcome at the latest after eight attempts, even if the instance must be loaded again.
        for attempt in 1...8 {
            if Task.isCancelled { return }
            let result: Result<Payload, any Error>
            do {
                result = .success(try await Context.run(container, nil) { try await loader.read(in: container) })
            } catch {
                result = .failure(error)
            }
            if endLoad(with: result, in: container, isLast: attempt == 8) { return }
        }
        beginLoad(in: container, isRepeated: true)
    }

    /// Returns whether the load has ended, or has to be repeated.
    @inline(never) private func endLoad(with result: Result<Payload, any Error>, in container: Container, isLast: Bool)
        -> Bool
    {
        let node = container.node
        let isKept = node.family.lock.withLock { token in
            if case .found = node.look(token, loader.key) { true } else { false }
        }
        var hasEnded = true
        change { state in
            hasEnded = !state.isGoneAgain
            if !isLast { state.isGoneAgain = false }
            guard hasEnded || isLast else { return }
            (state.task, state.isLoading) = (nil, false)
            guard case .loading(let previous) = state.current else { return }
            switch result {
            // The observer receives a kept instance itself, in order with the others.
            case .success(let instance): if !isKept { state.current = .loaded(instance) }
            case .failure(let error): state.current = .failed(error, previous: previous)
            }
        }
        return hasEnded
    }

    /// Changes the state, unless the monitor has ended, and reports the change outside the lock.
    @inline(never) private func change(_ body: (inout State) -> Void) {
        // The former state is released outside the lock.
        let (former, tells) = state.withLock { state in
            let former = state.current
            if !state.isOver { body(&state) }
            defer { state.isTelling = state.isTelling || state.isUntold }
            return (former, state.isUntold && !state.isTelling)
        }
        defer { withExtendedLifetime(former) {} }
        guard tells else { return }
        while let news = takeNews() {
            onChange(news.state)
            if news.isLast { onEnd() }
        }
    }

    @inline(never) private func takeNews() -> (state: LoadState<Payload>, isLast: Bool)? {
        state.withLock { state in
            state.isTelling = state.isUntold
            guard state.isUntold else { return nil }
            state.isUntold = false
            return (state.current, state.isOver)
        }
    }
}

extension Container {
    /// Returns a sequence of the states of a feature's load: the current one, followed by later ones.
    ///
    /// Reading the sequence loads the feature if it isn't loaded, and again whenever it's missing: after a reset, when it
    /// reloads because an input changed, and when an input of a failed load changes.
    ///
    /// The load runs in a task. Each reader receives the states from its own beginning.
    ///
    ///     for await state in container.states(of: Weather.self) { show(state) }
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The sequence.
    /// - Complexity: O(*d*) for *d* ancestors, for each iterator.
    public func states<F: FailableFeature>(of feature: F.Type) -> ObservedValues<LoadState<F.ContainerValue>> {
        ObservedValues(ofStates: F._key.loader, in: self)
    }
}

extension ObservableContainer {
    /// The state of a feature's load, which is tracked like a read.
    ///
    /// The first call begins to load the feature in a task, if it isn't loaded.
    ///
    /// From then on, it's loaded whenever it's missing: after a reset, when it reloads because an input changed, and when
    /// an input of a failed load changes.
    ///
    /// - Parameter feature: The feature to follow.
    /// - Returns: The current state.
    /// - Complexity: O(1) after the first call, which takes O(*d*) for *d* ancestors.
    public func state<F: FailableFeature>(of feature: F.Type) -> LoadState<F.ContainerValue> {
        guard case .tracked(let tracker, let container) = _container.role else { return .idle }
        return tracker.state(of: F._key.loader, in: container)
    }
}
