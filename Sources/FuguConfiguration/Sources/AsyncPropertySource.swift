public import Fugu

/// A source whose values are fetched asynchronously, for example over a network.
///
///     try await container.apply(RemoteFlags(url))
public protocol AsyncPropertySource: Sendable {
    /// The name of the source in errors.
    var name: String { get }

    /// Fetches all current values. The container calls it outside every lock.
    ///
    /// - Returns: The values.
    /// - Throws: An error that `apply` or `refresh` passes on. Nothing changes then.
    func fetch() async throws -> PropertySnapshot
}

extension Container {
    /// Fetches an async source, and gives its values to reads here and in descendants.
    ///
    /// ``reload(checksUnread:)`` keeps the fetched values; ``refresh()`` fetches again.
    ///
    /// - Parameter source: The source.
    /// - Throws: What the source throws. Nothing changes then.
    /// - Complexity: Besides fetching, O(*k*) for *k* names that were read or are observed.
    public func apply(_ source: some AsyncPropertySource) async throws {
        try apply(FetchedSource(source: source, snapshot: try await source.fetch()))
    }

    /// Fetches every async source of this container again, concurrently, and publishes all values together.
    ///
    /// If one of them can't be fetched, or if a key that was read, is observed, or was declared would become wrong,
    /// nothing changes at all.
    ///
    /// - Throws: What a source throws, or ``PropertyErrors``.
    /// - Complexity: Besides fetching, O(*k*) for *k* names that were read or are observed.
    public func refresh() async throws {
        while let old = SourceStack.of(self) {
            let fetched = try await old.fetched()
            if try publish(old.replacing(fetched), over: old) { return }
        }
    }
}

/// Fetched values, which don't change.
struct FetchedSource: PropertySource {
    let source: any AsyncPropertySource
    let snapshot: PropertySnapshot

    var name: String { source.name }

    func load() throws(PropertyError) -> PropertySnapshot { snapshot }

    func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp() }
}

extension SourceStack {
    fileprivate func fetched() async throws -> [(application: Application, source: FetchedSource)] {
        try await withThrowingTaskGroup(of: (application: Application, source: FetchedSource).self) { group in
            for entry in entries {
                guard let old = entry.source as? FetchedSource else { continue }
                group.addTask {
                    (entry.application, FetchedSource(source: old.source, snapshot: try await old.source.fetch()))
                }
            }
            var fetched: [(application: Application, source: FetchedSource)] = []
            for try await one in group { fetched.append(one) }
            return fetched
        }
    }

    fileprivate func replacing(_ fetched: [(application: Application, source: FetchedSource)]) throws -> SourceStack {
        try changingEntries { entries in
            try entries.map { entry in
                try fetched.first { $0.application === entry.application }
                    .map { try entry.reread($0.source) } ?? entry
            }
        }
    }
}
