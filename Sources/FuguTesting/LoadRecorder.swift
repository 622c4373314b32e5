public import Fugu

/// Records what is loaded in a container's family, and who needed it.
///
///     let recorder = LoadRecorder()
///     _ = container[Report.self]
///     #expect(recorder.loads.map(\.description) == ["Report", "Report → Thermometer"])
///
/// It records from its making on: every load of a feature of any kind, in the container, its ancestors and all their
/// descendants, also those that fail, in the order in which they begin. What was set, was there already or was refused
/// by a strict container is no load. Defaults of properties are none either. Use it from any thread.
public final class LoadRecorder: Sendable {
    /// One load.
    public struct Load: Sendable, Hashable, CustomStringConvertible {
        /// The names of the features on the way to it: who needed it, outermost first, and itself.
        public let path: [String]
        /// What was loaded.
        public var feature: String { path[path.count - 1] }
        /// Whose load read it; nil if none did.
        public var reader: String? { path.dropLast().last }
        /// The path with arrows.
        public var description: String { path.joined(separator: " → ") }
    }

    private let recorder: EventRecorder

    /// Begins to record.
    public init(of container: Container = .current) { recorder = EventRecorder(of: container) { $0 == .loadBegan } }

    /// The loads that have begun so far.
    public var loads: [Load] { recorder.events.map { Load(path: $0.path) } }
}
