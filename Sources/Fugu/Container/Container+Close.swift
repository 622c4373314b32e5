extension Container {
    /// Ends what was loaded here and in descendants, in order.
    ///
    /// Loads begun before, and what they need, finish first. Then everything registered by ``FeatureContainer/onClose(_:)``
    /// runs: children's first, dependents before what they depend on, last made first; then the features are released.
    /// A second call waits for the first and does nothing. Cancelling the caller does not cancel the closing.
    ///
    /// From the call on, other loads are refused: throwing and async features throw ``LoadError``. Properties keep
    /// answering, and so do plain features: one that isn't there is loaded for its reader alone, kept by nobody and
    /// reported (see ``handleReports(by:)``). Closers that such a load registers don't run.
    ///
    /// Closers of instances that left early, which may be under way, are waited for; what goes wrong in them is reported,
    /// not thrown.
    /// - Parameter deadline: How long each closer may take; one that takes longer is cancelled, left to itself and named.
    ///   Those of instances that left early have that long from the call on.
    /// - Throws: ``CloseError`` with all failures, after everything has run; ``CloseError/WaitsForItself`` at once, if
    ///   called by a closer or a load of this container or of one below it.
    /// - Complexity: O(*n*) for *n* containers, instances and closers, and O(*n* log *n*) if there are closers. Doesn't
    ///   suspend if there is nothing to wait for and nothing to run.
    public func close(deadline: Duration? = nil) async throws {
        let node = backing.node
        if node.closeAtOnce() { return }
        if let error = Current.holdsUpClosing(node) { throw error }
        let failures = await node.close(deadline, within: Current.closing)
        guard failures.isEmpty else { throw CloseError(failures: failures) }
    }
}
