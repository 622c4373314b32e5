public import Fugu
public import FuguInspection

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
