extension Container {
    /// Runs an operation with a child of this container, and closes the child when the operation ends.
    ///
    /// The child is ``current`` while the operation runs. It's closed whether the operation returns, throws, or is
    /// canceled.
    ///
    ///     try await server.withChild { $0[RequestID.self] = id } operation: { try await respond(in: $0) }
    ///
    /// - Parameters:
    ///   - configure: A closure that sets the child's overrides. If it throws, the operation doesn't run.
    ///   - fileID: The file of the call, for messages.
    ///   - line: The line of the call, for messages.
    ///   - operation: The operation, which receives the child.
    /// - Returns: What `operation` returns.
    /// - Throws: What `configure` or `operation` throws; in that case, a failure of the closing is reported (see
    ///   ``handleReports(by:)``). Otherwise, ``CloseError`` if the closing fails.
    /// - Complexity: Besides the operation, O(*n*) for *n* instances and teardown closures of the child, as for
    ///   ``close(deadline:)``.
    public func withChild<R>(
        _ configure: (Container) throws -> Void = { _ in }, fileID: StaticString = #fileID, line: UInt = #line,
        operation: (Container) async throws -> R
    ) async throws -> R {
        let child = child()
        child.wasMade(at: SourcePlace(fileID, line))
        let result: R
        do {
            try child.configure(configure)
            result = try await Container.with(child) { try await operation(child) }
        } catch {
            do { try await child.close() } catch let closing { child.report(closing, after: error) }
            throw error
        }
        try await child.close()
        return result
    }

    private func report(_ closing: any Error, after error: any Error) {
        node.family.reports.report(Messages.closeFailed(closing, after: error))
    }
}
