public import Fugu
import Observation

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
/// Get one from `state(of:)` of an `ObservableContainer`, or follow all of them with `states(of:)`.
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
        let definition = F._key
        return ObservedValues(self, isStarted: false) { container in
            let (stream, continuation) = AsyncStream<LoadState<F.ContainerValue>>
                .makeStream(bufferingPolicy: .bufferingNewest(1))
            let monitor = LoadMonitor(
                definition, onChange: { continuation.yield($0.typed()) }, onEnd: { continuation.finish() })
            continuation.onTermination = { _ in monitor.cancel() }
            monitor.begin(in: container)
            return stream
        }
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
        companion { ObservedStates() }.state(of: F._key, in: untracked)
    }
}

/// The loads whose states an observable container was asked for.
private final class ObservedStates: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    /// The monitors, which this keeps and which don't keep it.
    private let monitors = Locked<[Key: LoadMonitor]>([:])

    /// Represents the state of a key's load in the key paths that the Observation framework compares.
    private subscript(key: Key) -> Bool { true }

    /// Returns the state of a load, and registers the access before it's read.
    func state<Instance: Sendable>(of feature: KeyDefinition, in container: Container) -> LoadState<Instance> {
        let key = feature.key
        registrar.access(self, keyPath: \.[key])
        if let known = monitors.withLock({ $0[key] }) { return known.current.typed() }
        let made = LoadMonitor(feature) { [weak self] _ in
            guard let self else { return }
            registrar.withMutation(of: self, keyPath: \.[key]) {}
        }
        let monitor = monitors.withLock { monitors in
            if let known = monitors[key] { return known }
            monitors[key] = made
            return made
        }
        if monitor === made { monitor.begin(in: container) }
        return monitor.current.typed()
    }
}
