public import Fugu

/// A place that values are fetched from, over a network say.
///
///     try await container.apply(RemoteFlags(url))
public protocol AsyncPropertySource: Sendable {
    /// What the source is called in errors.
    var name: String { get }

    /// Fetches everything that is there now. It runs outside of every lock.
    func fetch() async throws -> PropertySnapshot
}

extension Container {
    /// Fetches a source and lets its values count here and in descendants, as the other `apply` does.
    ///
    /// `reload()` leaves what was fetched as it is; see ``refresh()``.
    ///
    /// - Throws: What the source throws; then nothing changes.
    public func apply(_ source: some AsyncPropertySource) async throws {
        try apply(FetchedSource(source: source, snapshot: try await source.fetch()))
    }

    /// Fetches every async source of this container again, all at once, and publishes what came together.
    ///
    /// All or nothing: if one cannot be fetched, or a key that was read or is observed no longer decodes, everything stays as
    /// it is.
    ///
    /// - Throws: What a source throws, or ``PropertyErrors``.
    public func refresh() async throws {
        while let old = SourceStack.of(self) {
            let fetched = try await old.fetched()
            let isDone = try replaceSources(old, by: old.replacing(fetched)) { errors in
                if !errors.isEmpty { throw PropertyErrors(errors) }
            }
            if isDone { return }
        }
    }
}

/// What was fetched; it does not change.
struct FetchedSource: PropertySource {
    let source: any AsyncPropertySource
    let snapshot: PropertySnapshot

    var name: String { source.name }

    func load() throws(PropertyError) -> PropertySnapshot { snapshot }

    func modificationStamp() -> PropertySourceStamp? { PropertySourceStamp() }
}

extension SourceStack {
    fileprivate func fetched() async throws -> [(id: Identity, source: FetchedSource)] {
        try await withThrowingTaskGroup(of: (id: Identity, source: FetchedSource).self) { group in
            for entry in entries {
                guard let old = entry.source as? FetchedSource else { continue }
                group.addTask {
                    (entry.id, FetchedSource(source: old.source, snapshot: try await old.source.fetch()))
                }
            }
            var fetched: [(id: Identity, source: FetchedSource)] = []
            for try await one in group { fetched.append(one) }
            return fetched
        }
    }

    fileprivate func replacing(_ fetched: [(id: Identity, source: FetchedSource)]) throws -> SourceStack {
        let entries = try entries.map { entry in
            try fetched.first { $0.id === entry.id }.map { try Entry(reading: $0.source, id: $0.id) } ?? entry
        }
        return SourceStack(entries, log: log)
    }
}
