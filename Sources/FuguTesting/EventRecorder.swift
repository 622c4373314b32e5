public import Fugu
public import FuguInspection

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
