extension Container {
    /// Runs an operation with a child of this container that is closed when the operation has ended.
    ///
    /// The child is ``current`` while the operation runs, and closes however the operation ends: when it returns, throws or
    /// is cancelled.
    ///
    ///     try await server.withChild { $0[RequestID.self] = id } operation: { try await respond(in: $0) }
    ///
    /// - Parameters:
    ///   - configure: Sets what is the child's own. If it throws, the operation doesn't run.
    ///   - operation: Is given the child.
    /// - Returns: What `operation` returns.
    /// - Throws: What `configure` or `operation` throws; then a failure of the closing is reported (see
    ///   ``handleReports(by:)``). Otherwise ``CloseError``, if the closing fails.
    public func withChild<R>(
        _ configure: (Container) throws -> Void = { _ in }, operation: (Container) async throws -> R
    ) async throws -> R {
        let child = child()
        let result: R
        do {
            try configure(child)
            result = try await Container.$current.withValue(child) { try await operation(child) }
        } catch {
            do { try await child.close() } catch let closing { child.report(closing, after: error) }
            throw error
        }
        try await child.close()
        return result
    }

    private func report(_ closing: any Error, after error: any Error) {
        backend.node.family.reports.report(Messages.closeFailed(closing, after: error))
    }
}
