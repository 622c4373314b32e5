import Fugu
import FuguInspection
import Synchronization

/// The events of a family that the page shows, and the clients that wait for more.
final class Feed: Sendable {
    private struct State {
        /// The latest events, oldest first.
        var moments: [Moment] = []
        var viewers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastViewer = 0
    }

    private static let limit = 4_000
    private let container: Container
    private let showsValues: Bool
    private let start = ContinuousClock.now
    private let state = Mutex(State())
    private let token = Mutex<ObservationToken?>(nil)

    init(of container: Container, showsValues: Bool) {
        self.container = container
        self.showsValues = showsValues
        let token = container.observeEvents { [weak self] in self?.note($0) }
        self.token.withLock { $0 = token }
    }

    deinit { token.withLock { $0?.cancel() } }

    func graph() -> ContainerGraph { container.graph(includingValues: showsValues) }

    private func note(_ event: ContainerEvent) {
        let moment = Moment(event, since: start)
        let viewers = state.withLock { state in
            state.moments.append(moment)
            // This runs now and then only, because it takes time for every event.
            if state.moments.count > 2 * Self.limit { state.moments.removeFirst(Self.limit) }
            return Array(state.viewers.values)
        }
        for viewer in viewers { viewer.yield() }
    }

    /// Returns the events after the given one.
    func moments(after number: UInt64) -> [Moment] {
        state.withLock { $0.moments.suffix(Self.limit).filter { $0.number > number } }.sorted { $0.number < $1.number }
    }

    /// A sequence of one element at once, and of another whenever something has happened since.
    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let viewer = state.withLock { state in
            state.lastViewer += 1
            state.viewers[state.lastViewer] = continuation
            return state.lastViewer
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.viewers.removeValue(forKey: viewer) }
        }
        continuation.yield()
        return stream
    }

    var viewerCount: Int { state.withLock { $0.viewers.count } }
}
