extension Container {
    /// Runs the teardown closures of this container and its descendants, and releases their features.
    ///
    /// Loads that already run, and what they need, finish first. Then everything registered with
    /// ``FeatureContainer/onClose(_:)`` runs: closures of children first, then dependents before what they depend on. A second
    /// call waits for the first and does nothing else. Cancelling the caller doesn't cancel the closing.
    ///
    /// After the call, loading is refused: throwing and async features throw ``LoadError``. Properties keep answering, and so
    /// do plain features: one that isn't there is loaded for its reader alone, isn't kept, and is reported (see
    /// ``handleReports(by:)``). Closures that such a load registers don't run.
    ///
    /// The call also waits for the closures of instances that were replaced, reset, or reloaded earlier. Their errors are
    /// reported, not thrown.
    ///
    /// - Parameter deadline: The time that each closure may take. One that takes longer is cancelled, abandoned, and named
    ///   in the error. Closures of instances that left earlier have that long from the call on.
    /// - Throws: ``CloseError`` with all failures, after everything has run; ``CloseError/WaitsForItself`` at once, if a
    ///   teardown closure or a load of this container or a descendant makes the call.
    /// - Complexity: O(*n*) for *n* containers, instances and closers, and O(*n* log *n*) if there are closers. Doesn't
    ///   suspend if there is nothing to wait for and nothing to run.
    public func close(deadline: Duration? = nil) async throws {
        let node = backend.node
        if node.closeAtOnce() { return }
        if let error = Current.holdsUpClosing(node) { throw error }
        let failures = await node.close(deadline, within: Current.closing)
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }
}
