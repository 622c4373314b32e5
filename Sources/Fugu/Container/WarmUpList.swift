/// The features to load before your program starts serving.
///
/// See ``Container/warmUp(progress:_:)``.
public struct WarmUpList: Sendable {
    package private(set) var items: [KeyDefinition] = []

    package init() {}

    /// Adds a feature, of whatever kind.
    ///
    /// - Parameter feature: The type of the feature.
    public mutating func load<K: ContainerKey>(_ feature: K.Type) { items.append(K._key) }

    /// Adds a feature, of whatever kind.
    ///
    /// - Parameter key: A key path to the feature: `\.greeter`.
    public mutating func load<K: ValueKey>(_ key: (ContainerKeys) -> K) {
        items.append(key(ContainerKeys())._key)
    }
}

extension Container {
    /// Loads features of any kind, concurrently where their dependencies permit.
    ///
    ///     try await container.warmUp { $0.load(Database.self); $0.load(Search.self) }
    ///
    /// A load whose inputs change meanwhile, so that its instance isn't kept, is repeated up to three times. Canceling the calling task
    /// cancels the loads for which nobody else waits. A plain feature that blocks in its load
    /// blocks a thread of the pool: make it an ``AsyncFeature``. A plain feature that can't be loaded, such as one of a cycle,
    /// stops the program, as it does at any other read; to have cycles listed, use `check` of FuguInspection.
    ///
    /// - Parameters:
    ///   - progress: A closure that is called after each feature loads or fails, one call at a time, on any thread: with the feature's
    ///     name, the error that its load threw or `nil`, the number of features that have finished, and the number of all.
    ///   - list: A closure that names the features.
    /// - Throws: ``WarmUpError`` with all failures, after everything else was loaded.
    /// - Complexity: Besides the loads, O(*n*) for *n* features.
    public func warmUp(
        progress: (@Sendable (_ feature: String, _ error: (any Error)?, _ finished: Int, _ total: Int) -> Void)? = nil,
        _ list: (inout WarmUpList) -> Void
    ) async throws {
        var warmUp = WarmUpList()
        list(&warmUp)
        let items = warmUp.items
        let failures = await withTaskGroup(of: (Int, [WarmUpError.Failure]).self) { group in
            for (index, item) in items.enumerated() {
                group.addTask {
                    var failures = await item.failures(in: self)
                    // An instance that isn't kept, since an input changed meanwhile, isn't there for `loaded`.
                    for _ in 1...3 where failures.isEmpty && !item.isKept(in: self) {
                        failures = await item.failures(in: self)
                    }
                    return (index, failures)
                }
            }
            var finished = 0
            // By the place in the list.
            var failures = [[WarmUpError.Failure]](repeating: [], count: items.count)
            for await (index, failure) in group {
                finished += 1
                failures[index] = failure
                progress?(items[index].key.name, failure.first?.error, finished, items.count)
            }
            return failures.joined().withoutRepeatedSupplies
        }
        guard failures.isEmpty else { throw WarmUpError(failures: failures) }
    }
}

extension KeyDefinition {
    /// Whether a load that can't go on blocks its thread.
    package var blocksItsThread: Bool { if case .plain = method { true } else { false } }

    /// Reads the key, and returns what nothing supplies and, last, the load that failed.
    ///
    /// - `isAlone`: Whether the caller's load doesn't need it.
    package func failures(in container: Container, isAlone: Bool = false) async -> [WarmUpError.Failure] {
        // Work without a key finds out where a load failed, and collects what nothing supplies.
        let parent = isAlone ? nil : Work.current
        let work = Work(inWarmUpOf: container, under: parent)
        defer { work.end() }
        do {
            _ = try await Context.run(nil, work) { try await read(.reload, in: container) }
            return missing(in: work)
        } catch {
            return missing(in: work) + [failure(error, in: work)]
        }
    }

    /// Does the same for a key whose load doesn't suspend, which the caller's load doesn't need.
    package func failuresNow(in container: Container) -> [WarmUpError.Failure] {
        let work = Work(inWarmUpOf: container, under: nil)
        defer { work.end() }
        do {
            _ = try Context.run(nil, work) { try readNow(.reload, in: container) }
            return missing(in: work)
        } catch {
            return missing(in: work) + [failure(error, in: work)]
        }
    }

    /// Whether the container has what a load gave.
    package func isKept(in container: Container) -> Bool {
        let node = container.node
        return node.family.lock.withLock { token in if case .found = node.look(token, key) { true } else { false } }
    }

    @inline(never) private func missing(in work: Work) -> [WarmUpError.Failure] {
        work.missingSupplies.map { ($0.path, $0) }
    }

    @inline(never) private func failure(_ error: any Error, in work: Work) -> WarmUpError.Failure {
        let path = (error as? LoadError)?.path ?? work.way(to: error).map(\.name)
        return (path.isEmpty ? [key.name] : path, error)
    }
}

extension Work {
    fileprivate convenience init(inWarmUpOf container: Container, under parent: Work?) {
        self.init(.warmUp(FamilyLocked(Needs())), in: container.node.family, under: parent, within: nil)
    }
}

extension Sequence<WarmUpError.Failure> {
    /// The failures, without further paths to features that nothing supplies.
    @inline(never) fileprivate var withoutRepeatedSupplies: [WarmUpError.Failure] {
        var seen: Set<Key> = []
        return filter { failure in
            guard let missing = (failure.error as? LoadError)?.missingSupply else { return true }
            return seen.insert(missing).inserted
        }
    }
}
