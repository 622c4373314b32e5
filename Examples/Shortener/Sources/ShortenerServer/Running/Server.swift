import Fugu
import FuguScopes
import Hummingbird
import HummingbirdAdapter
import LifecycleAdapter
import Logging
import LoggingAdapter
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The whole program, put together from a container.
package struct Server {
    let container: Container
    let onRunning: @Sendable (_ port: Int) -> Void
    /// The archives, of which a few stay open for the next export.
    let archives: KeyedChildren<String>

    package init(_ container: Container, onRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in }) {
        self.container = container
        self.onRunning = onRunning
        archives = container.children(by: \.archive, capacity: 2)
    }

    /// Services end in the reverse of their order: first the server, which answers what it has accepted; the container last.
    package func group(signals: [UnixSignal] = []) -> ServiceGroup {
        let logger = container.logger
        var configuration = ServiceGroupConfiguration(
            services: [
                ContainerService(container, logger: logger),
                ReloadService(container, every: container.lookInterval, logger: logger),
                WarmUpService(container: container),
                HitWriter(container: container),
                // Accepted requests are answered, even after the group's maximum duration.
                UninterruptedService(application, limit: container.lastPatience, logger: logger),
            ],
            gracefulShutdownSignals: signals, logger: logger)
        configuration.maximumGracefulShutdownDuration = container.patience
        return ServiceGroup(configuration: configuration)
    }

    /// Gives each request a container, and then the router.
    var responder: some HTTPResponder<Connection> {
        ContainerResponder(container, router.buildResponder()) { [container] in $0.begin($1, $2, of: container) }
    }

    private var application: some ApplicationProtocol {
        Application(
            responder: responder,
            configuration: .init(address: .hostname(container.host, port: Int(container.port))),
            onServerRunning: { [container, onRunning] channel in
                let port = channel.localAddress?.port ?? 0
                container.logger.notice("Listening at \(container.host):\(port)")
                onRunning(port)
            }, logger: container.logger)
    }

    private var router: Router<AppContext> {
        container.addPathRules()
        let router = Router(context: AppContext.self)
        router.add(middleware: TracingMiddleware())
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: LogRequestsMiddleware(.debug))
        router.add(middleware: SecurityHeaders(isSecure: container.publicURL.isSecure))
        router.add(middleware: Failures())
        HealthRoutes().add(to: router)
        PageRoutes().add(to: router, of: container)
        LinkRoutes().add(to: router, of: container)
        ArchiveRoutes(archives: archives).add(to: router)
        InspectionRoutes().add(to: router, of: container)
        return router
    }
}

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

    func note(_ feature: String, isLoaded: Bool) {
        current.withLock { state in
            if isLoaded { state.finished.append(feature) }
            state.loading.removeAll { $0 == feature }
        }
    }

    func finish() { current.withLock { $0.isReady = true } }
}

/// Loads the features that the program needs, while the server already answers readiness requests.
struct WarmUpService: Service {
    let container: Container

    func run() async throws {
        let (logger, readiness) = (container.logger, container.readiness)
        readiness.begin(["\(Links.self)", "\(HitCounter.self)"])
        try await container.warmUp { feature, error, finished, total in
            readiness.note(feature, isLoaded: error == nil)
            logger.info("Loaded \(feature), \(finished) of \(total)")
        } _: {
            $0.load(Links.self)
            $0.load(HitCounter.self)
        }
        readiness.finish()
        // A service that returns ends its group.
        try? await gracefulShutdown()
    }
}
