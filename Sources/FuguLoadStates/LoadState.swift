import Fugu

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
