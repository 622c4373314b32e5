/// Something that code sets in a container: a value, a swapped or a replaced feature.
package struct Override: Sendable, Hashable {
    let key: Key
    /// What messages call it.
    package var name: String { key.name }
}

extension Container {
    /// What code set in this container.
    package var overrides: [Override] { backend.node.held().map { Override(key: $0.key) } }

    /// Tells of the first read of everything that code set here by now.
    ///
    /// Each is put in its own place again as a loader, which runs when it is read first: other reads pay nothing.
    ///
    /// - Parameter onRead: Is called on the thread that reads, outside of every lock.
    package func watchOverrides(onRead: @escaping @Sendable (Override) -> Void) {
        let node = backend.node
        let replacements = node.held().map { key, loader in
            (key, Operation.replace(loader.telling { onRead(Override(key: key)) }))
        }
        var effects = Effects()
        node.family.lock.withLock { token in
            for (key, operation) in replacements { node.apply(token, operation, to: key, holder: nil, &effects) }
        }
        effects.perform()
    }

    /// Whether something was registered that is to run when the container is closed.
    package var hasClosers: Bool {
        let node = backend.node
        return node.family.lock.withLock { token in
            node.subtree(token).contains { node in
                !node.storage[token].closers.isEmpty
                    || node.storage.cells(token).contains { $0.info?[token].lifetime != nil }
            }
        }
    }
}

extension Node {
    /// What code set here, each as a loader that gives it.
    fileprivate func held() -> [(key: Key, loader: Replacement)] {
        family.lock.withLock { token in
            settings(token).compactMap { cell, operation in
                switch operation {
                case .replace(let replacement): (cell.key, replacement)
                case .set(let payload):
                    (cell.key, Replacement(load: { _ in payload }, loadAsync: { _ in payload }))
                default: nil
                }
            }
        }
    }
}

extension Replacement {
    /// The same loader, which tells that it runs.
    fileprivate func telling(_ onLoad: @escaping @Sendable () -> Void) -> Replacement {
        let (load, loadAsync) = (load, loadAsync)
        var tellingAsync: (@Sendable (Container) async throws -> Payload)?
        if let loadAsync {
            tellingAsync = { container in
                onLoad()
                return try await loadAsync(container)
            }
        }
        return Replacement(
            load: { container in
                onLoad()
                return try load(container)
            }, loadAsync: tellingAsync)
    }
}
