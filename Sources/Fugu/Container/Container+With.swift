// MARK: Binding a container as `current`

extension Container {
    /// Runs an operation with a configured child of ``current`` as ``current``.
    ///
    /// ```swift
    /// Container.with { $0.timeout = 5 } operation: { reload() }
    /// ```
    ///
    /// The child isn't closed afterward. If its loads register teardown closures, call
    /// ``withChild(deadline:_:fileID:line:operation:)`` instead.
    ///
    /// - Parameters:
    ///   - configure: Configures the child before the operation begins.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    ///   - operation: The code that finds the child as ``current``.
    /// - Returns: What the operation returns.
    /// - Throws: What either closure throws.
    public static func with<R, E>(
        _ configure: (Container) throws(E) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
        operation: () throws(E) -> R
    ) throws(E) -> R {
        let child = current.child(made: .with, fileID, line)
        try child.configure(configure)
        return try with(child, operation: operation)
    }

    /// Runs an async operation with a configured child of ``current`` as ``current``.
    ///
    /// The child isn't closed afterward. If its loads register teardown closures, call
    /// ``withChild(deadline:_:fileID:line:operation:)`` instead.
    ///
    /// - Parameters:
    ///   - configure: Configures the child before the operation begins.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    ///   - operation: The code that finds the child as ``current``, also in its tasks.
    /// - Returns: What the operation returns.
    /// - Throws: What either closure throws.
    public static func with<R, E>(
        _ configure: (Container) throws(E) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
        operation: () async throws(E) -> R
    ) async throws(E) -> R {
        let child = current.child(made: .with, fileID, line)
        try child.configure(configure)
        return try await with(child, operation: operation)
    }

    /// Runs an operation with a container as ``current``.
    ///
    /// Use it to carry a container to code that doesn't inherit task-local values: the child models of a model, an
    /// escaping closure, or a detached task.
    ///
    /// ```swift
    /// let container = Container.current
    /// Task.detached { await Container.with(container) { await refresh() } }
    /// ```
    ///
    /// - Parameters:
    ///   - container: The container to bind.
    ///   - operation: The code that finds the container as ``current``.
    /// - Returns: What the operation returns.
    /// - Throws: What the operation throws.
    public static func with<R, E>(_ container: Container, operation: () throws(E) -> R) throws(E) -> R {
        do {
            return try Context.$bound.withValue(Context(binding: container)) { try operation() }
        } catch {
            // Only the operation throws. A `Result` would cost each call a search for its metadata.
            throw error as! E
        }
    }

    /// Runs an async operation with a container as ``current``.
    ///
    /// - Parameters:
    ///   - container: The container to bind.
    ///   - operation: The code that finds the container as ``current``, also in its tasks.
    /// - Returns: What the operation returns.
    /// - Throws: What the operation throws.
    public static func with<R, E>(_ container: Container, operation: () async throws(E) -> R) async throws(E) -> R {
        do {
            return try await Context.$bound.withValue(Context(binding: container)) { try await operation() }
        } catch {
            throw error as! E
        }
    }
}

extension Container {
    /// Runs code that belongs to no load, whoever calls it, and in which no container is bound.
    package static func inNobodysLoad<R>(_ body: () throws -> R) rethrows -> R { try Context.run(.ended, nil, body) }
}
