public import Fugu
import FuguConfiguration
public import Logging
public import ServiceLifecycle
import UnixSignals

/// Closes a container at the end of a service group.
///
/// Services are shut down in the reverse of their order. So put this one before those that use the container:
///
///     ServiceGroup(services: [ContainerService(container, logger: logger), server], …)
///
/// A group that loses its patience cancels its services. That doesn't cut the closing short: each teardown closure has until
/// its own deadline.
public struct ContainerService: Service {
    private let container: Container
    private let deadline: Duration
    private let logger: Logger

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - container: The container to close.
    ///   - deadline: The time that each teardown closure may take.
    ///   - logger: The logger for teardown closures that fail or take too long.
    public init(_ container: Container, deadline: Duration = .seconds(10), logger: Logger) {
        self.container = container
        self.deadline = deadline
        self.logger = logger
    }

    /// Waits until the group shuts down, and closes the container.
    ///
    /// - Throws: `CloseError`, so that the program can exit with a failure.
    public func run() async throws {
        // A shutdown and a cancellation have the same result.
        try? await gracefulShutdown()
        do {
            try await container.close(deadline: deadline)
        } catch let error as CloseError {
            for failure in error.failures {
                logger.error("Closing \(failure.feature ?? "the container"): \(failure.error)")
            }
            throw error
        }
    }
}

/// Lets a service finish what it has begun, even if its group loses its patience.
///
/// A group whose maximum duration for a graceful shutdown has passed cancels its services. A server that's cancelled can't
/// write the answers to requests that it has accepted. This service turns the cancellation into one more wait: the inner
/// service is asked to shut down gracefully, and is cancelled only when the limit has passed as well.
public struct UninterruptedService<Inner: Service>: Service {
    private let inner: Inner
    private let limit: Duration
    private let logger: Logger

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - inner: The service that must not be interrupted, such as an HTTP server.
    ///   - limit: The time that it has left after the group has cancelled it.
    ///   - logger: The logger of the inner group.
    public init(_ inner: Inner, limit: Duration, logger: Logger) {
        self.inner = inner
        self.limit = limit
        self.logger = logger
    }

    /// Runs the inner service.
    public func run() async throws {
        let group = ServiceGroup(services: [inner], logger: logger)
        // Not a child task, so that a cancellation doesn't reach it.
        let running = Task { try await group.run() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await running.value
            } onGracefulShutdown: {
                Task { await group.triggerGracefulShutdown() }
            }
        } onCancel: { [limit] in
            Task {
                await group.triggerGracefulShutdown()
                try? await Task.sleep(for: limit)
                running.cancel()
            }
        }
    }
}

/// Reads the sources of a container again when the process gets SIGHUP, and when a file has changed.
///
/// After a signal, the log names what has changed, and the loaded features that keep an old value until a restart. A file with a
/// mistake changes nothing: the last good values stay, and the mistake is logged.
public struct ReloadService: Service {
    private let container: Container
    private let interval: Duration?
    private let logger: Logger

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - container: The container whose sources are read.
    ///   - interval: The time between two looks at the files, or `nil` to reload after signals only.
    ///   - logger: The logger for reloads after a signal. The container reports mistakes that polling finds.
    public init(_ container: Container, every interval: Duration? = nil, logger: Logger) {
        self.container = container
        self.interval = interval
        self.logger = logger
    }

    /// Reloads until the group shuts down.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reloadAtSignals() }
            if let interval {
                group.addTask { [container] in
                    await cancelWhenGracefulShutdown { await container.reload(every: interval) }
                }
            }
        }
    }

    private func reloadAtSignals() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        logger.debug("SIGHUP reads the configuration again")
        for await _ in signals.cancelOnGracefulShutdown() {
            do {
                let summary = try container.reload()
                logger.info("Reloaded the configuration. \(summary)")
            } catch {
                let mistakes: [any Error] = (error as? PropertyErrors)?.errors ?? [error]
                for mistake in mistakes { logger.error("The configuration stays as it is: \(mistake)") }
            }
        }
    }
}
