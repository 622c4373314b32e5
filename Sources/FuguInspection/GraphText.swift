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
