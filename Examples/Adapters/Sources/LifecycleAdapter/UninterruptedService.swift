public import Logging
public import ServiceLifecycle

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
