extension Container {
    /// Whether the container is closed.
    package var isClosed: Bool { node.isClosed }

    /// Runs the teardown closures of this container and its descendants, and releases their features, loaded or set.
    ///
    /// Loads that are already in progress, and the loads that they need, finish first. Then everything registered with
    /// ``FeatureContainer/onClose(_:)`` runs: closures of children first, and then those of dependents before those of their
    /// dependencies. A second call waits for the first one, whose deadline counts, and runs closures that were registered after it.
    /// Canceling the caller doesn't cancel the closing.
    ///
    /// After the call, reads of throwing and async features that aren't loaded throw ``LoadError``. Properties and
    /// plain features can still be read: a plain feature that isn't there is loaded for its reader alone, isn't kept,
    /// and is reported (see ``handleReports(by:)``). Teardown closures that such a load registers don't run.
    ///
    /// The call also waits for the closures of instances that were replaced, reset, or reloaded earlier. Their errors are
    /// reported, not thrown.
    ///
    /// - Parameter deadline: The time that each closure may take, and that the loads in progress may take, or `nil` to wait for all
    ///   of them. A closure that takes longer is canceled, abandoned, and named in the error. A load that takes longer is named,
    ///   too; it goes on, but its instance isn't kept. For closures of instances that left earlier, the time begins with the call.
    /// - Throws: ``CloseError`` with all failures, after everything has run; one with the code
    ///   ``CloseError/Code/waitsForItself`` immediately, if a teardown closure or a load of this container or a descendant
    ///   makes the call.
    /// - Complexity: O(*n*) for *n* containers, instances, and teardown closures, and O(*n* log *n*) if there are such
    ///   closures. The method doesn't suspend if there's nothing to wait for and nothing to run.
    public func close(deadline: Duration? = nil) async throws {
        let failures = try await runClose(deadline)
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }
}
