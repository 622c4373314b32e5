import Fugu

/// Describes the entries of a graph in sentences.
struct GraphExplainer {
    private let containers: [Int: ContainerGraph.Container]
    private let entries: [ContainerGraph.Entry.ID: ContainerGraph.Entry]
    private let readers: [ContainerGraph.Entry.ID: [ContainerGraph.Entry.ID]]

    init(_ graph: ContainerGraph) {
        containers = Dictionary(uniqueKeysWithValues: graph.containers.map { ($0.id, $0) })
        entries = Dictionary(uniqueKeysWithValues: graph.entries.map { ($0.id, $0) })
        readers = graph.readers
    }

    func sentences(on entry: ContainerGraph.Entry) -> [String] {
        var sentences = [beginning(entry)]
        // Nearest first.
        let hidden = sequence(first: entry) { $0.overrides.flatMap { entries[$0] } }.dropFirst()
        sentences += hidden.map { Messages.hidden($0.value, $0.state, in: place($0.container)) }
        if let reason = reason(entry) { sentences.append(reason) }
        let inputs = entry.inputs.map(name) + Messages.hiddenCount(entry.hiddenInputs)
        if entry.state == .loaded {
            sentences.append(Messages.inputs(inputs))
        } else if !inputs.isEmpty {
            sentences.append(Messages.readSoFar(inputs, isOver: entry.state == .failed))
        }
        if entry.isStale { sentences.append(Messages.stale(entry.changedInputs.map(name))) }
        if let error = entry.lastError, entry.state != .failed { sentences.append(Messages.failedOnce(error)) }
        let readers = readers(of: entry.id) + Messages.hiddenCount(entry.hiddenReaders)
        let isThere = entry.state != .failed && entry.state != .loading
        sentences.append(isThere ? Messages.readers(readers) : Messages.neededBy(readers))
        return sentences
    }

    /// Returns the names of the instances that were loaded from an entry.
    func readers(of id: ContainerGraph.Entry.ID) -> [String] { (readers[id] ?? []).map(name) }

    private func beginning(_ entry: ContainerGraph.Entry) -> String {
        let place = place(entry.container)
        let value = entry.isSecret ? "secret" : entry.value
        return switch entry.state {
        case .set: Messages.valueSet(entry.name, value, in: place)
        case .supplied: Messages.valueSupplied(entry.name, value, in: place)
        case .defaultValue: Messages.valueDefault(entry.name, value)
        case .replaced: Messages.loaderSet(entry.name, in: place)
        case .loaded: Messages.loaded(entry.name, entry.duration.map { .seconds($0) }, entry.loadCount)
        case .loading: Messages.loading(entry.name)
        case .failed: Messages.failed(entry.name, in: place, entry.lastError)
        }
    }

    private func reason(_ entry: ContainerGraph.Entry) -> String? {
        guard entry.state == .loaded else { return nil }
        if entry.container == 0 { return Messages.livesInRoot() }
        if entry.isLocal { return Messages.livesLocally(in: place(entry.container)) }
        return Messages.lives(in: place(entry.container), since: entry.anchors)
    }

    private func place(_ container: Int) -> String { Messages.place(containers[container]) }

    private func name(_ id: ContainerGraph.Entry.ID) -> String {
        guard let entry = entries[id] else { return id }
        return entry.container == 0 ? entry.name : "\(entry.name) (\(place(entry.container)))"
    }
}

extension ContainerGraph {
    /// Returns sentences that explain an entry: its origin, why it lives in its container, its inputs, its readers, and
    /// whether it's stale.
    ///
    /// They contain no values.
    ///
    /// - Parameter id: The identifier of an entry.
    /// - Returns: The sentences. There are none if the graph has no such entry.
    /// - Complexity: O(*n*) for *n* entries and inputs.
    public func explanation(of id: Entry.ID) -> [String] {
        self[id].map { GraphExplainer(self).sentences(on: $0) } ?? []
    }
}
