import Fugu
import Synchronization

extension ContainerKeys {
    package var readiness: FeatureKey<Readiness> { .init { _ in Readiness() } }
}

/// The progress of the warm-up.
package final class Readiness: Sendable {
    package struct State: Codable, Sendable, Equatable {
        package var isReady = false
        package var finished: [String] = []
        package var loading: [String] = []
    }

    private let current = Mutex(State())

    package var state: State { current.withLock { $0 } }

    func begin(_ features: [String]) { current.withLock { $0.loading = features } }

    func note(_ progress: WarmUpList.Progress) {
        current.withLock { state in
            if progress.error == nil { state.finished.append(progress.feature) }
            state.loading.removeAll { $0 == progress.feature }
        }
    }

    func finish() { current.withLock { $0.isReady = true } }
}
