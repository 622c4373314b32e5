extension FeatureContainer {
    /// Starts a task that belongs to the instance being loaded, such as one that polls.
    ///
    /// ```swift
    /// final class Prices: Feature, Sendable {
    ///     func refresh() async throws { … }
    ///
    ///     static func load(in container: any FeatureContainer) -> Prices {
    ///         let prices = Prices()
    ///         container.task { container in
    ///             while true {
    ///                 try await container.clock.sleep(for: .seconds(60))
    ///                 try await prices.refresh()
    ///             }
    ///         }
    ///         return prices
    ///     }
    /// }
    /// ```
    ///
    /// The task begins once the instance is kept; if it isn't, the task never begins. It has no task-local values of the instance's
    /// first reader. The container that it receives, which is also ``Container/current``, answers from the container in which the
    /// instance lives; what it reads isn't an input.
    ///
    /// The task is canceled and awaited as a teardown closure that you register at this place, so it has ended before what the load
    /// has registered earlier is closed. If it closes its own container, or one above, it gets a ``CloseError``,
    /// as a teardown closure does. An error that it throws before it's
    /// canceled is reported. Outside a load, the task belongs to the container, and begins at once.
    ///
    /// - Parameters:
    ///   - priority: The priority of the task.
    ///   - operation: The operation, which receives the container.
    public func task(
        priority: TaskPriority? = nil, _ operation: @escaping @Sendable (any FeatureContainer) async throws -> Void
    ) {
        let (container, key) = _container.ofTask
        let task = OwnedTask(priority) {
            let node = container.node
            let work = Work(.task(of: key, in: node), in: node.family, under: nil, within: nil)
            defer { work.markFinished() }
            await Context.run(apart: work) {
                do {
                    try await Container.with(container) { try await operation(container) }
                } catch {
                    if !Task.isCancelled { container.report(Messages.taskFailed(of: key, error)) }
                }
            }
        }
        _container.add(Closer(close: { await task.end() }, task: task))
    }
}

extension Container {
    /// The container that a task receives, which doesn't keep the one that runs it, and the key of the instance for whose load it's the
    /// handle.
    fileprivate var ofTask: (container: Container, key: Key?) {
        if case .handle(let load) = role { (self, load.key) } else { (Container(viewing: node), nil) }
    }
}
