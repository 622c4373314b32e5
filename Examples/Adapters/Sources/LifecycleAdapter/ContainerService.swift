public import Fugu
public import Logging
public import ServiceLifecycle

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
