extension Container {
    /// Calls a handler for every event in the family of this container: in the container, its ancestors and all their
    /// descendants.
    ///
    ///     let token = container.observeEvents { event in
    ///         if event.kind == .failed { logger.warning("\(event)") }
    ///     }
    ///
    /// The handler runs on the thread that caused the event, before that thread continues, and outside every lock. It
    /// can be called by several threads at the same time. Its reads are never inputs, and it doesn't receive the events
    /// that it causes itself. A first read of a property that gives the default isn't an event.
    ///
    /// While nobody observes events, they cost nothing: a read has no branch for them. While somebody does, loads take a few
    /// microseconds longer, and a write takes the way that it takes when its key is observed.
    ///
    /// - Parameter handler: A closure that receives each event.
    /// - Returns: A token that ends the observation. You can ignore it; then the observation ends with the root container.
    @discardableResult
    public func observeEvents(_ handler: @escaping @Sendable (ContainerEvent) -> Void) -> ObservationToken {
        ObservationToken(EventObserver(in: node, handler))
    }
}
