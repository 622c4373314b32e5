import Fugu
import LoggingAdapter
import ServiceLifecycle

/// Writes the hits once a second.
///
/// What is left at the end, the counter's own closer writes.
struct HitWriter: Service {
    let container: Container

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            let hits = try await container[HitCounter.self]
            while !Task.isCancelled {
                // Cancelled, it returns: nothing has failed.
                do { try await container.clock.sleep(for: .seconds(1)) } catch { return }
                do { try await hits.flush() } catch { container.logger.error("Hits are kept for later: \(error)") }
            }
        }
    }
}
