extension Container {
    /// The entries that code set in this container, with the times that identify what it set.
    package var overrides: [Key: UInt64] { Dictionary(uniqueKeysWithValues: held().map { ($0.key, $0.time) }) }

    /// Whether this is the shared container itself.
    package var isShared: Bool { node === Container.shared.node }
    /// Whether this is the shared container or below it, and not a copy.
    package var isWithinShared: Bool { node.family === Container.shared.node.family }

    /// Returns the path from a key to the nearest from which it was loaded, or to itself, that other containers, or those below
    /// them, give another value.
    ///
    /// External features don't count: nobody reads them elsewhere without a failure. Neither does what this container gives
    /// another value than the shared one.
    package func way(from key: Key, toGivenIn others: [Container]) -> [Key]? {
        let (node, family, shared) = (node, node.family, Container.shared)
        var keys = [key]
        family.lock.withLock { token in
            _ = family.way(token, from: key) { input in
                keys.append(input)
                return false
            }
        }
        let own = Set(node.family.given(keys, besides: shared) { _ in Array(node.path(below: shared.node)) })
        keys.removeAll { $0.traits.isExternal }
        let given = Set(
            others.flatMap { other in
                other.node.family.given(keys, besides: self) { token in other.node.subtree(token) }
            })
        if given.contains(key) { return own.contains(key) ? nil : [key] }
        let way = family.lock.withLock { token in family.way(token, from: key) { given.contains($0) } }
        return way.count > 1 && !way.contains(where: own.contains) ? way : nil
    }
}

extension Family {
    /// Returns those keys to which code, a rule, or a source gives a value in some nodes, except what another container has, too.
    fileprivate func given(_ keys: [Key], besides other: Container, in nodes: (LockToken) -> [Node]) -> [Key] {
        let (node, theirs) = (other.node, other.allSources)
        let settings = node.family.lock.withLock { token in
            keys.map { key in node.path.firstResult { $0.setting(token, of: key) } }
        }
        let (given, sources) = lock.withLock { token in
            let nodes = nodes(token)
            let sources = nodes.compactMap { $0.storage[token].rare?.sources.value }
            return (nodes.map { node in keys.map { node.setting(token, of: $0) } }, sources)
        }
        return keys.indices.filter { index in
            if given.contains(where: { $0[index] != nil && !$0[index].isSame(as: settings[index]) }) { return true }
            // What nobody has read in that family isn't held yet.
            guard let naming = keys[index].naming else { return false }
            return sources.contains { sources in
                (try? naming.ask(sources).get()) != nil
                    && !theirs.contains { sources.holdsTheSame(naming.name, as: $0) }
            }
        }.map { keys[$0] }
    }
}

extension Container {
    /// Calls a closure at the first read of each entry that code has set here so far.
    ///
    /// Each entry becomes a loader, which its first read runs, or replaces by the value that code has set, so that other reads stay
    /// fast.
    ///
    /// - Parameter onRead: A closure that is called on the reading thread, outside every lock.
    package func watchOverrides(onRead: @escaping @Sendable (Key) -> Void) {
        let node = node
        while true {
            let held = held()
            let writes = held.map { entry in
                let telling = entry.loader.telling { onRead(entry.key) }
                return Write(node, TypedKey(resetting: entry.key), .replace(telling))
            }
            // Keep what was set meanwhile.
            let isDone = node.family.commit(writes, outdates: false) { token in
                held.contains { node.storage.existingCell(token, $0.key)?.time != $0.time }
            }
            if isDone { return }
        }
    }

    /// A Boolean value that indicates whether a teardown closure is registered.
    package var hasClosers: Bool {
        let node = node
        return node.family.lock.withLock { token in
            node.subtree(token).contains { $0.hasClosers(token) }
        }
    }

    /// Returns the entries that code set here, each with a loader that returns it.
    private func held() -> [(key: Key, loader: Replacement, time: UInt64)] {
        let node = node
        return node.family.lock.withLock { token in
            node.storage.cells(token).compactMap {
                cell -> (key: Key, loader: Replacement, time: UInt64)? in
                // Code didn't set what a decoration wraps.
                if cell.has(CellFlags.automatic) || cell.key.decorated != nil { return nil }
                // What replaces it will have another time.
                cell.mark(CellFlags.input)
                return switch cell.setting(token) {
                case .replace(let replacement): (cell.key, replacement, cell.time)
                case .set(let payload):
                    (
                        cell.key,
                        Replacement(load: { _ in payload }, loadAsync: { _ in payload }, awaited: (payload, {})),
                        cell.time
                    )
                default: nil
                }
            }
        }
    }
}

extension Replacement {
    /// Returns the same loader, which also calls a closure when it runs, and in copies, too.
    fileprivate func telling(_ onLoad: @escaping @Sendable () -> Void) -> Replacement {
        let (load, loadAsync) = (load, loadAsync)
        var tellingAsync: (@Sendable (Container) async throws -> Payload)?
        if let loadAsync {
            tellingAsync = { container in
                onLoad()
                return try await loadAsync(container)
            }
        }
        let made = Replacement(
            load: { container in
                onLoad()
                return try load(container)
            }, loadAsync: tellingAsync,
            awaited: awaited.map { value, onRead in
                let tell: @Sendable () -> Void = {
                    onLoad()
                    onRead()
                }
                return (value, tell)
            })
        return link.map { made.linked($0.telling(onLoad)) } ?? made
    }
}

extension Link {
    fileprivate func telling(_ onLoad: @escaping @Sendable () -> Void) -> Link {
        let kind: Layer.Kind =
            switch layers.layer.kind {
            case .decoration(let load): .decoration { load($0).telling(onLoad) }
            case .element(let place, let load, let list):
                // In a copy, another element may come after this one, whose list is then read.
                .element(place, load.telling(onLoad), list: { list($0, $1).telling(onLoad) })
            }
        return Link(within: within, layers: layers.replacing(Layer(kind)), level: level, wrapsInherited: wrapsInherited)
    }
}
