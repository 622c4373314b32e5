import Fugu

extension ContainerGraph {
    init(_ snapshot: GraphSnapshot, includingValues: Bool = false) {
        self = Self.draw(snapshot, includingValues: includingValues).graph
    }

    /// Returns the graph of a snapshot, and the identifiers of its entries.
    static func draw(
        _ snapshot: GraphSnapshot, includingValues: Bool
    ) -> (graph: ContainerGraph, ids: [GraphSnapshot.Place: Entry.ID]) {
        let names = GraphNames(
            of: snapshot.entries.flatMap { [$0.place.key] + $0.anchors + $0.inputs.map(\.key) })
        let sorted = snapshot.entries.map { (entry: $0, name: names[$0.place.key]) }.sorted {
            ($0.entry.depth, $0.entry.place.container, $0.name) < ($1.entry.depth, $1.entry.place.container, $1.name)
        }
        let ids = identifiers(of: sorted)
        let secrets = SecretTexts(in: snapshot)
        let parents = Dictionary(uniqueKeysWithValues: snapshot.containers.map { ($0.id, $0.parent) })
        // A load that has failed or still runs is nothing that could be overridden.
        let absent = Set(snapshot.entries.filter { $0.state == .failed || $0.state == .loading }.map(\.place))
        let present = absent.isEmpty ? ids : ids.filter { !absent.contains($0.key) }
        let entries = sorted.map { entry, name in
            let traits = entry.place.key.traits
            // A place can occur twice: for an input, and for a failure.
            var seen: Set<String> = []
            return Entry(
                id: ids[entry.place]!, name: name, kind: Entry.Kind(entry.place.key.kind),
                state: Entry.State(entry.state),
                container: entry.place.container, depth: entry.depth, isStale: !entry.changed.isEmpty,
                isExternal: traits.isExternal, isLocal: traits.home.isLocal || entry.isLocal, isSecret: traits.isSecret,
                loadCount: Int(entry.loadCount), duration: entry.seconds < 0 ? nil : Double(entry.seconds),
                lastError: entry.error.map(secrets.masked),
                overrides: overridden(by: entry, present, parents),
                inputs: entry.inputs.compactMap { ids[$0] }.filter { seen.insert($0).inserted },
                changedInputs: entry.changed.compactMap { ids[$0] },
                value: includingValues ? entry.value(by: ValueSketch()) : nil,
                anchors: entry.anchors.map { names[$0] })
        }
        let containers = snapshot.containers.sorted { ($0.depth, $0.id) < ($1.depth, $1.id) }.map {
            Container(
                id: $0.id, parent: $0.parent, depth: $0.depth, name: $0.name, childCount: $0.childCount,
                isClosed: $0.isClosed)
        }
        var graph = ContainerGraph(containers: containers, entries: entries)
        graph.dropEmptyContainers()
        return (graph, ids)
    }

    private static func overridden(
        by entry: GraphSnapshot.Entry, _ ids: [GraphSnapshot.Place: Entry.ID], _ parents: [Int: Int?]
    ) -> Entry.ID? {
        guard entry.state == .set || entry.state == .replaced || entry.state == .supplied else { return nil }
        var next = parents[entry.place.container] ?? nil
        while let container = next {
            if let id = ids[GraphSnapshot.Place(key: entry.place.key, container: container)] { return id }
            next = parents[container] ?? nil
        }
        return nil
    }

    private static func identifiers(
        of entries: [(entry: GraphSnapshot.Entry, name: String)]
    ) -> [GraphSnapshot.Place: String] {
        var ids: [GraphSnapshot.Place: String] = [:]
        var counts: [String: Int] = [:]
        for (entry, name) in entries {
            let id = identifier(name, in: entry.place.container)
            counts[id, default: 0] += 1
            // A single underscore before a digit could be part of a name; two can't.
            ids[entry.place] = counts[id]! == 1 ? id : "\(id)__\(counts[id]!)"
        }
        return ids
    }
}

extension ContainerGraph.Entry.State {
    init(_ state: GraphSnapshot.State) {
        self =
            switch state {
            case .set: .set
            case .replaced: .replaced
            case .supplied: .supplied
            case .defaultValue: .defaultValue
            case .loaded: .loaded
            case .loading: .loading
            case .failed: .failed
            }
    }
}

extension ContainerGraph.Entry.Kind {
    init(_ kind: KeyKind) {
        self =
            switch kind {
            case .property: .property
            case .feature: .feature
            case .throwingFeature: .throwingFeature
            case .asyncFeature: .asyncFeature
            }
    }
}

/// The values of secret properties, which an error could quote.
private struct SecretTexts {
    private let texts: [String]

    init(in snapshot: GraphSnapshot) {
        let hasError = snapshot.entries.contains { $0.error != nil }
        texts = hasError ? snapshot.entries.compactMap(\.secret).sorted { $0.count > $1.count } : []
    }

    /// Returns the text with these secrets masked.
    func masked(_ text: String) -> String {
        texts.reduce(text) { $1.isEmpty ? $0 : replaced(Array($0.utf8), Array($1.utf8)) }
    }

    // The standard library's function would link regular expressions into every program.
    private func replaced(_ text: [UInt8], _ secret: [UInt8]) -> String {
        var result: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index...].starts(with: secret) {
                result += "(secret)".utf8
                index += secret.count
            } else {
                result.append(text[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension ContainerGraph {
    /// Returns an identifier of ASCII letters, digits, and underscores that begins with a letter.
    private static func identifier(_ name: String, in container: Int) -> String {
        var text = "c\(container)"
        var isSeparated = false
        for scalar in name.unicodeScalars {
            guard scalar.properties.isAlphabetic || scalar.properties.numericType != nil else {
                isSeparated = false
                continue
            }
            if !isSeparated { text += "_" }
            isSeparated = true
            if scalar.isASCII {
                text.unicodeScalars.append(scalar)
            } else {
                text += "u" + String(scalar.value, radix: 16)
            }
        }
        return text
    }
}

extension GraphSnapshot {
    /// Creates the data for a graph with the loads in progress, at the places where their instances will probably live.
    init(drawing container: Container) {
        self.init(of: container)
        var known = Dictionary(uniqueKeysWithValues: entries.indices.map { (entries[$0].place, $0) })
        let needed = Dictionary(grouping: loads, by: \.neededBy)
        for load in loads where load.isShown {
            let index = known[load.place] ?? entries.count
            if index == entries.count {
                known[load.place] = index
                entries.append(Entry(place: load.place, depth: load.depth, state: .loading))
            }
            entries[index].state = .loading
            let inputs = load.inputs + (needed[load.id] ?? []).map(\.place)
            entries[index].inputs += inputs.filter { !entries[index].inputs.contains($0) }
        }
    }
}
