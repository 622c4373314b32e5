import Fugu

/// Loads a feature for the followers of its state, and notifies them.
final class LoadMonitor: Sendable {
    private struct State {
        /// The first load is about to begin.
        var current = LoadState<Payload>.loading(previous: nil) { didSet { isUntold = true } }
        var observation: ObservationToken?
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
    private let feature: KeyDefinition
    private let onChange: @Sendable (LoadState<Payload>) -> Void
    private let onEnd: @Sendable () -> Void

    init(
        _ feature: KeyDefinition, onChange: @escaping @Sendable (LoadState<Payload>) -> Void,
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.feature = feature
        self.onChange = onChange
        self.onEnd = onEnd
    }

    var current: LoadState<Payload> { state.withLock { $0.current } }

    /// Follows the feature in a container, which keeps the monitor until it's canceled or the container is released.
    func begin(in container: Container) {
        container.observe(
            feature.key,
            onValue: { [self] payload in
                change { state in
                    state.current = .loaded(payload)
                    state.isGoneAgain = false
                }
            },
            onGone: { [self] in beginLoad(in: $0) }, onEnd: { [self] in end() },
            keepingToken: { token in state.withLock { $0.observation = token } })
    }

    /// Ends without another state, because nobody follows them anymore.
    func cancel() {
        let (observation, task) = state.withLock { state in
            state.isOver = true
            return (state.observation.take(), state.task.take())
        }
        observation?.cancel()
        task?.cancel()
    }

    private func end() {
        var task: Task<Void, Never>?
        change { state in
            task = state.task.take()
            (state.isOver, state.observation, state.current) = (true, nil, .idle)
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
        // The load must not become part of the work that changed the input.
        Container.inNobodysLoad {
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
                result = .success(try await Container.with(container) { try await feature.read(in: container) })
            } catch {
                result = .failure(error)
            }
            if endLoad(with: result, in: container, isLast: attempt == 8) { return }
        }
        beginLoad(in: container, isRepeated: true)
    }

    /// Returns whether the load has ended, or has to be repeated.
    private func endLoad(with result: Result<Payload, any Error>, in container: Container, isLast: Bool) -> Bool {
        let isKept = feature.isKept(in: container)
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
    private func change(_ body: (inout State) -> Void) {
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

    private func takeNews() -> (state: LoadState<Payload>, isLast: Bool)? {
        state.withLock { state in
            state.isTelling = state.isUntold
            guard state.isUntold else { return nil }
            state.isUntold = false
            return (state.current, state.isOver)
        }
    }
}
