import Fugu
import LoggingAdapter
import ServiceLifecycle

/// Writes the hits once a second.
///
/// The counter's own closer writes the rest at the end.
struct HitWriter: Service {
    let container: Container

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            let hits = try await container[HitCounter.self]
            while !Task.isCancelled {
                // A cancellation isn't a failure, so it returns.
                do { try await container.clock.sleep(for: .seconds(1)) } catch { return }
                do { try await hits.flush() } catch { container.logger.error("Hits are kept for later: \(error)") }
            }
        }
    }
}
