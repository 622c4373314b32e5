import Fugu
import LoggingAdapter
import ServiceLifecycle

/// Loads the features that the program needs, while the server already answers readiness requests.
struct WarmUpService: Service {
    let container: Container

    func run() async throws {
        let (logger, readiness) = (container.logger, container.readiness)
        readiness.begin(["\(Links.self)", "\(HitCounter.self)"])
        try await container.warmUp { progress in
            readiness.note(progress)
            logger.info("Loaded \(progress.feature), \(progress.finished) of \(progress.total), \(progress.elapsed)")
        } _: {
            $0.load(Links.self)
            $0.load(HitCounter.self)
        }
        readiness.finish()
        // A service that returns ends its group.
        try? await gracefulShutdown()
    }
}
