public import Fugu
public import FuguInspection

/// A recorder of what an observer receives, which lets a test wait for it without sleeping.
///
///     let recorder = ObservationRecorder(\.timeout, in: container)
///     container.timeout = 5
///     #expect(recorder.values == [5])
///
/// It observes from its creation until it is released or canceled. You can use it from any thread.
public final class ObservationRecorder<Value: Sendable>: Sendable {
    private let state: RecorderState<Value>
    private let token: ObservationToken

    private init(_ observe: (@escaping @Sendable (Value) -> Void) -> ObservationToken) {
        let state = RecorderState<Value>()
        self.state = state
        token = observe { state.add($0) }
    }

    deinit { token.cancel() }

    /// The values that were observed so far, the oldest first.
    ///
    /// The value at the recorder's creation isn't among them.
    public var values: [Value] { state.values }

    /// Waits until a number of values were observed, or until the calling task is canceled.
    ///
    /// - Parameter count: The number of values.
    /// - Returns: All values that were observed.
    public func values(atLeast count: Int) async -> [Value] { await state.values(atLeast: count) }

    /// Ends the observation.
    ///
    /// The recorded values stay.
    ///
    /// A task that waits for values continues to wait until it's canceled.
    public func cancel() { token.cancel() }

    /// Creates a recorder of a property or feature.
    ///
    /// - Parameters:
    ///   - key: The type to observe.
    ///   - container: The container to observe.
    public convenience init<K: ContainerKey>(
        _ key: K.Type, in container: Container = .current
    ) where K.ContainerValue == Value {
        self.init { container.observe(K.self, observer: $0) }
    }

    /// Creates a recorder of a key.
    ///
    /// - Parameters:
    ///   - key: A key path to the key to observe: `\.timeout`.
    ///   - container: The container to observe.
    public convenience init<K: ValueKey>(
        _ key: (ContainerKeys) -> K, in container: Container = .current
    ) where K.Value == Value {
        self.init { container.observe(key, observer: $0) }
    }
}

/// The recorded values, and the tasks that wait for more.
private final class RecorderState<Value: Sendable>: Sendable {
    private struct Watcher {
        let count: Int
        let ticket: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var values: [Value] = []
        var watchers: [Watcher] = []
        var lastTicket: UInt64 = 0

        mutating func takeSatisfied() -> [Watcher] {
            let satisfied = watchers.filter { $0.count <= values.count }
            watchers.removeAll { $0.count <= values.count }
            return satisfied
        }
    }

    private let state = Locked(State())

    var values: [Value] { state.withLock { $0.values.map(\.self) } }

    func add(_ value: Value) {
        let satisfied = state.withLock { state in
            state.values.append(value)
            return state.takeSatisfied()
        }
        for watcher in satisfied { watcher.continuation.resume() }
    }

    func values(atLeast count: Int) async -> [Value] {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let satisfied = state.withLock { state in
                    state.watchers.append(Watcher(count: count, ticket: ticket, continuation: continuation))
                    return state.takeSatisfied()
                }
                for watcher in satisfied { watcher.continuation.resume() }
                // If the task was canceled before it registered, nothing woke it.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        return values
    }

    private func leave(_ ticket: UInt64) {
        let watcher = state.withLock { state in
            state.watchers.firstIndex { $0.ticket == ticket }.map { state.watchers.remove(at: $0) }
        }
        watcher?.continuation.resume()
    }
}

/// A recorder of the loads in a container's family, and of the loads that needed them.
///
///     let recorder = LoadRecorder()
///     _ = container[Report.self]
///     #expect(recorder.loads.map(\.description) == ["Report", "Report → Thermometer"])
///
/// It records every load of a feature that begins after the recorder was created, in the container, its ancestors, and
/// all their descendants, including loads that fail. Instances that were set or were already there, and reads that a
/// strict container refuses, aren't loads. Defaults of properties aren't, either. You can use it from any thread.
public final class LoadRecorder: Sendable {
    /// A load of a feature.
    public struct Load: Sendable, Hashable, CustomStringConvertible {
        /// The names of the features on the path to the load, the outermost first and the loaded one last.
        public let path: [String]
        /// The name of the loaded feature.
        public var feature: String { path[path.count - 1] }
        /// The name of the feature whose load read it, or `nil` if none did.
        public var reader: String? { path.dropLast().last }
        /// The path with arrows.
        public var description: String { path.joined(separator: " → ") }
    }

    private let recorder: EventRecorder

    /// Starts recording.
    ///
    /// - Parameter container: The container whose family to record.
    public init(of container: Container = .current) { recorder = EventRecorder(of: container) { $0 == .loadBegan } }

    /// The loads that have begun so far.
    public var loads: [Load] { recorder.events.map { Load(path: $0.path) } }
}

/// Records the events of a container's family.
///
///     let recorder = EventRecorder()
///     _ = container[Report.self]
///     #expect(recorder.events.map(\.kind) == [.loadBegan, .loaded])
///
/// It records until it is released. Use it from any thread.
public final class EventRecorder: Sendable {
    private let state = Locked<[ContainerEvent]>([])
    private let token: ObservationToken

    /// Creates a recorder, which records from now on.
    ///
    /// - Parameters:
    ///   - container: A container of the family.
    ///   - isWanted: A closure that returns a Boolean value that indicates whether to record events of a kind.
    public init(
        of container: Container = .current,
        where isWanted: @escaping @Sendable (ContainerEvent.Kind) -> Bool = { _ in true }
    ) {
        token = container.observeEvents { [state] event in
            if isWanted(event.kind) { state.withLock { $0.append(event) } }
        }
    }

    deinit { token.cancel() }

    /// The events so far, in the order in which they happened.
    public var events: [ContainerEvent] { state.withLock { $0.sorted { $0.number < $1.number } } }
}
