extension Container {
    /// Runs an operation with a child of this container, and closes the child when the operation ends.
    ///
    /// The child is ``current`` while the operation runs. It's closed whether the operation returns, throws, or is
    /// canceled. Until then, what's read in it stays open, even if it's replaced or reloaded in a container above; inside another
    /// operation, until that ends, too, since it may have got what was read. Loads in progress in the child finish first: give a
    /// deadline if a task that goes on could leave one there that doesn't end.
    ///
    ///     try await server.withChild { $0[RequestID.self] = id } operation: { try await respond(in: $0) }
    ///
    /// - Parameters:
    ///   - deadline: The time that closing the child may take, from the end of the operation, as for ``close(deadline:)``.
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
        deadline: Duration? = nil, _ configure: (Container) throws -> Void = { _ in }, fileID: StaticString = #fileID,
        line: UInt = #line, operation: (Container) async throws -> R
    ) async throws -> R {
        let child = child(made: .withChild, fileID, line)
        let result = try await child.run({ try child.configure(configure) }, deadline, operation)
        try await child.close(deadline)
        return result
    }

    /// Runs an operation with a child of this container that has what the containers from ``current`` up to the root have set, without
    /// the root, and closes the child when the operation ends; a failure of that is reported.
    ///
    /// - `key`: A key of which the child has what this container has.
    package func withChildOfCurrent<R>(
        except key: Key, _ fileID: StaticString, _ line: UInt, operation: (Container) async throws -> R
    ) async rethrows -> R {
        let child = child(made: .withChild, fileID, line)
        let result = try await child.run({ child.takeFromCurrent(except: key) }, nil, operation)
        await child.endOperation(nil, after: nil)
        return result
    }

    /// Begins an operation with such a child, until ``endOperation()``.
    package func beginOperationOfCurrent(except key: Key, _ fileID: StaticString, _ line: UInt) -> Container {
        let child = child(made: .withChild, fileID, line)
        child.node.beginOperation()
        child.takeFromCurrent(except: key)
        return child
    }

    /// Closes the child of an operation that has begun by itself; a failure is reported.
    package func endOperation() async { await endOperation(nil, after: nil) }

    /// Runs an operation with this child, and closes the child if the operation, or what configures it, throws.
    private func run<R>(
        _ configure: () throws -> Void, _ deadline: Duration?, _ operation: (Container) async throws -> R
    ) async rethrows -> R {
        node.beginOperation()
        do {
            try configure()
            return try await Container.with(self) { try await operation(self) }
        } catch {
            await endOperation(deadline, after: error)
            throw error
        }
    }

    /// Whether a teardown closure runs here.
    package var isInTeardown: Bool { Work.current?.chain.contains { $0.isOfClosers } == true }

    /// Closes the child of an operation, and reports a failure.
    private func endOperation(_ deadline: Duration?, after error: (any Error)?) async {
        do { try await close(deadline) } catch let closing {
            report(error.map { Messages.closeFailed(closing, after: $0) } ?? "\(closing)")
        }
    }
}
