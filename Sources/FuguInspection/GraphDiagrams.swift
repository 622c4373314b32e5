import Fugu

extension ContainerGraph {
    /// The graph as a Mermaid flowchart: containers as boxes, with arrows from an instance to its inputs.
    ///
    /// Mermaid refuses flowcharts of more than 500 arrows or 50,000 characters, which a few hundred features can reach. For more,
    /// raise both where you start Mermaid. A flowchart can't do that itself, nor can you where others start it, such as in
    /// files on GitHub.
    ///
    /// ```js
    /// mermaid.initialize({ maxEdges: 10000, maxTextSize: 1000000 })
    /// ```
    ///
    /// Mermaid's command-line tool takes the same two settings from the JSON file that you name with `--configFile`. For a large
    /// graph, use ``dot``, the page, or a filter.
    ///
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public var mermaid: String {
        var lines = ["flowchart TD"]
        forEachBox { container, depth in
            lines.append(indent(depth) + "subgraph c\(container.id)[\"\(container.label.escapedForMermaid)\"]")
        } entry: { entry, depth in
            let (open, close) = entry.kind == .property ? ("([", "])") : entry.isExternal ? ("[[", "]]") : ("[", "]")
            lines.append("\(indent(depth))\(entry.id)\(open)\"\(entry.label.escapedForMermaid)\"\(close)")
        } end: { depth in
            lines.append(indent(depth) + "end")
        }
        for entry in entries { for input in entry.inputs { lines.append("    \(entry.id) --> \(input)") } }
        for (look, color) in [("loading", "#2471a3"), ("stale", "#b9770e")] {
            let ids = entries.filter { $0.look == look }.map(\.id)
            guard !ids.isEmpty else { continue }
            lines.append(
                "    classDef \(look) stroke:\(color),stroke-width:2px\(look == "stale" ? ",stroke-dasharray:4" : "")")
            lines.append("    class \(ids.joined(separator: ",")) \(look)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The graph in the DOT language of Graphviz, with the same boxes and arrows.
    ///
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public var dot: String {
        var lines = ["digraph container {", "    node [shape=box];"]
        forEachBox { container, depth in
            lines.append(indent(depth) + "subgraph cluster_\(container.id) {")
            lines.append(indent(depth + 1) + "label=\"\(container.label.escapedForDot)\";")
        } entry: { entry, depth in
            lines.append("\(indent(depth))\(entry.id) [label=\"\(entry.label.escapedForDot)\"\(entry.dotStyle)];")
        } end: { depth in
            lines.append(indent(depth) + "}")
        }
        for entry in entries { for input in entry.inputs { lines.append("    \(entry.id) -> \(input);") } }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private func indent(_ depth: Int) -> String { String(repeating: "    ", count: depth + 1) }
}

extension ContainerGraph.Entry {
    /// The appearance that shows the entry's state.
    fileprivate var look: String { state == .loading ? "loading" : isStale ? "stale" : "" }

    fileprivate var dotStyle: String {
        var style = kind == .property ? ["rounded"] : []
        if isStale { style.append("dashed") }
        var text = style.isEmpty ? "" : ", style=\"\(style.joined(separator: ","))\""
        if isExternal { text += ", peripheries=2" }
        if look == "loading" { text += ", color=\"#2471a3\"" }
        return text
    }
}

extension String {
    fileprivate var escapedForDot: String {
        escaped { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            default: scalar.properties.generalCategory == .control ? " " : nil
            }
        }
    }

    /// Mermaid interprets some characters as markup, even inside quotes.
    fileprivate var escapedForMermaid: String {
        escaped { scalar in
            switch scalar {
            case "<": "#lt;"
            case ">": "#gt;"
            case "#", "\\", "\"", "`", "&": "#\(scalar.value);"
            default: scalar.properties.generalCategory == .control ? " " : nil
            }
        }
    }

    /// Returns the text with some of its characters replaced.
    package func escaped(_ replacement: (Unicode.Scalar) -> String?) -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if let replacement = replacement(scalar) { text += replacement } else { text.unicodeScalars.append(scalar) }
        }
    }
}

extension ContainerGraph: CustomStringConvertible {
    /// One line for each container and entry.
    ///
    /// - Complexity: O(*n*) for *n* containers, entries, and inputs.
    public var description: String {
        var lines: [String] = []
        let names = Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0.name) })
        forEachBox { container, depth in
            lines.append(String(repeating: "  ", count: depth) + container.label)
        } entry: { entry, depth in
            let inputs = entry.inputs.compactMap { names[$0] }
            let list = inputs.isEmpty ? "" : " ← " + inputs.joined(separator: ", ")
            lines.append(String(repeating: "  ", count: depth) + entry.label + list)
        } end: { _ in
        }
        return lines.joined(separator: "\n")
    }

    /// Calls a closure for each container, parents first, with its entries before its children.
    func forEachBox(
        begin: (Container, Int) -> Void, entry: (Entry, Int) -> Void, end: (Int) -> Void
    ) {
        let entries = Dictionary(grouping: entries, by: \.container)
        let children = Dictionary(grouping: containers, by: \.parent)
        let known = Set(containers.map(\.id))
        // The second part of an element is the depth of the box that still has to be closed.
        var open = containers.filter { $0.parent.map { !known.contains($0) } ?? true }.reversed().map {
            (Optional($0), 0)
        }
        while let (container, depth) = open.popLast() {
            guard let container else {
                end(depth)
                continue
            }
            begin(container, depth)
            for next in entries[container.id] ?? [] { entry(next, depth + 1) }
            open.append((nil, depth))
            for child in (children[container.id] ?? []).reversed() { open.append((child, depth + 1)) }
        }
    }
}

extension ContainerGraph.Container {
    var label: String { isClosed ? "\(name) (closed)" : name }
}

extension ContainerGraph.Entry {
    var label: String {
        name + (state == .loaded ? "" : " (\(state.rawValue))") + (isStale ? " stale" : "")
    }
}

/// The names of keys in a snapshot, which don't depend on the addresses of types and so are the same in each run.
struct GraphNames {
    private var names: [Key: String] = [:]

    init(of keys: some Sequence<Key>) {
        let keys = Set(keys)
        names = Dictionary(uniqueKeysWithValues: keys.map { ($0, $0.name) })
        // Use the short name if it's unique; otherwise, add the types around it, and then the module.
        lengthen { $0.codeName }
        lengthen { $0.fullName }
        // Private types of two files can still share one; the compiler's own names give them an order.
        for keys in same {
            let sorted = keys.sorted { $0.mangledName < $1.mangledName }
            for (index, key) in sorted.enumerated().dropFirst() { names[key]! += " (\(index + 1))" }
        }
    }

    /// The keys that share a name.
    private var same: [[Key]] { Dictionary(grouping: names.keys, by: { names[$0]! }).values.filter { $0.count > 1 } }

    /// Gives longer names to keys that share a name.
    private mutating func lengthen(_ longer: (Key) -> String) {
        for key in same.joined() { names[key] = longer(key) }
    }

    subscript(key: Key) -> String { names[key] ?? key.name }
}

extension Key {
    /// The name with the module and all types around it, as far as these have names.
    fileprivate var fullName: String {
        type.map { String(reflecting: $0).replacing(/\(unknown context at [^)]*\)\./, with: "") } ?? name
    }

    /// The compiler's name, which has a mark of the file for a private type.
    fileprivate var mangledName: String { type.flatMap { _mangledTypeName($0) } ?? "" }
}
