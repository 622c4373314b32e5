/// A snapshot of what a container and its ancestors hold, and of what each instance was loaded from. It contains no values.
public struct ContainerGraph: Sendable, Codable, Hashable, CustomStringConvertible {
    /// A value or an instance in a graph.
    public struct Entry: Sendable, Codable, Hashable, Identifiable {
        /// The way in which it got into the container.
        public enum State: String, Sendable, Codable {
            case set, replaced, loaded
        }
        /// An identifier, unique in the graph.
        public let id: String
        /// The name of the type or key.
        public let name: String
        /// The way in which it got into the container.
        public let state: State
        /// The number of ancestors of the container in which it lives. The root has none.
        public let depth: Int
        /// A Boolean value that indicates whether an input changed after the instance was loaded.
        public let isStale: Bool
        /// The identifiers of its inputs.
        public let inputs: [String]
    }

    /// The entries, in the order of depth and name.
    public let entries: [Entry]

    /// The graph as a Mermaid flowchart, whose arrows point from an instance to its inputs.
    public var mermaid: String {
        render(begin: "graph TD", end: nil) { entry in
            "    \(entry.id)[\"\(entry.label.escapedForMermaid)\"]"
        } edge: {
            "    \($0) --> \($1)"
        }
    }

    /// The graph in the DOT language of Graphviz, with the same arrows.
    public var dot: String {
        render(begin: "digraph container {", end: "}") { entry in
            "    \(entry.id) [label=\"\(entry.label.escapedForDot)\"\(entry.isStale ? ", style=dashed" : "")];"
        } edge: {
            "    \($0) -> \($1);"
        }
    }

    /// One line for each entry.
    public var description: String {
        let names = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.name) })
        return entries.map { entry in
            let inputs = entry.inputs.compactMap { names[$0] }
            return String(repeating: "  ", count: entry.depth) + entry.label
                + (inputs.isEmpty ? "" : " ← " + inputs.joined(separator: ", "))
        }.joined(separator: "\n")
    }

    private func render(
        begin: String, end: String?, node: (Entry) -> String, edge: (String, String) -> String
    ) -> String {
        var lines = [begin]
        lines += entries.map(node)
        for entry in entries { lines += entry.inputs.map { edge(entry.id, $0) } }
        if let end { lines.append(end) }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ContainerGraph.Entry {
    fileprivate var label: String {
        let place = depth == 0 ? "" : " @\(depth)"
        let plain = name.map { $0 == "\"" ? "'" : $0 }
        return String(plain) + place + (state == .loaded ? "" : " (\(state.rawValue))") + (isStale ? " stale" : "")
    }
}

extension String {
    fileprivate var escapedForDot: String {
        reduce(into: "") { text, character in text += character == "\\" ? "\\\\" : String(character) }
    }

    /// Mermaid takes angle brackets for markup, even inside quotes.
    fileprivate var escapedForMermaid: String {
        reduce(into: "") { text, character in
            switch character {
            case "<": text += "#lt;"
            case ">": text += "#gt;"
            case "#": text += "#35;"
            case "\\": text += "#92;"
            default: text.append(character)
            }
        }
    }
}

extension Container {
    /// A snapshot of what this container and its ancestors hold, and of what each instance was loaded from.
    public var graph: ContainerGraph { ContainerGraph(of: backing.node) }
}

extension ContainerGraph {
    /// An entry whose name is not looked up yet: that is no work for the lock.
    private struct Draft {
        let key: Key
        let depth: Int
        let state: Entry.State
        let isStale: Bool
        let inputs: [Input]
    }

    fileprivate init(of node: Node) {
        node.prepareScopes()
        let drafts = node.family.lock.withLock {
            node.path.flatMap { node in node.storage.cells.compactMap { Self.draft($0, in: node) } }
        }
        func id(_ key: Key, _ depth: Int) -> String { "n\(depth)_\(String(key.raw, radix: 36))" }
        let present = Set(drafts.map { id($0.key, $0.depth) })
        entries = drafts.map { draft in
            Entry(
                id: id(draft.key, draft.depth), name: draft.key.name, state: draft.state, depth: draft.depth,
                isStale: draft.isStale,
                inputs: draft.inputs.map { id($0.key, $0.depth) }.filter { present.contains($0) })
        }.sorted { ($0.depth, $0.name, $0.id) < ($1.depth, $1.name, $1.id) }
    }

    private static func draft(_ cell: CellReference, in node: Node) -> Draft? {
        let facts = cell.info?.value
        let state: Entry.State
        switch (cell.has(CellState.held), cell.has(CellState.loaded)) {
        case (true, false): state = facts?.replacement == nil ? .set : .replaced
        case (_, true): state = .loaded
        case (false, false): return nil
        }
        let recipe = facts?.recipe
        return Draft(
            key: cell.key, depth: node.depth, state: state, isStale: recipe.map { node.isStale($0) } ?? false,
            inputs: recipe?.inputs ?? [])
    }
}
