/// What a container and its ancestors hold at one moment, and what was made from what. It contains no values.
public struct ContainerGraph: Sendable, Codable, Hashable, CustomStringConvertible {
    /// One thing that is held.
    public struct Entry: Sendable, Codable, Hashable, Identifiable {
        /// How it came there.
        public enum State: String, Sendable, Codable {
            case set, replaced, loaded
        }
        /// Unique in the graph.
        public let id: String
        /// The type's or key's name.
        public let name: String
        /// How it came there.
        public let state: State
        /// How many ancestors the container has in which it lives: 0 is the root.
        public let depth: Int
        /// Whether something changed since that it was made from.
        public let isStale: Bool
        /// The ids of what it was made from.
        public let inputs: [String]
    }

    /// By depth and name.
    public let entries: [Entry]

    /// A flowchart in the Mermaid language: arrows point from what was made to what it was made from.
    public var mermaid: String {
        render(begin: "graph TD", end: nil) { entry in
            "    \(entry.id)[\"\(entry.label.escapedForMermaid)\"]"
        } edge: {
            "    \($0) --> \($1)"
        }
    }

    /// A graph in the DOT language of Graphviz, with the same arrows.
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
    /// What this container and its ancestors hold, and what was made from what.
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
