/// Finds what stands in a document and nobody reads.
struct UnknownNames {
    private let known: [String]
    private let names: Set<String>
    /// Every table that some known name lies in.
    private let tables: Set<String>
    private let longest: Int

    init(known: [String]) {
        self.known = known.sorted()
        names = Set(known)
        tables = Set(known.flatMap { Self.prefixes($0) })
        longest = known.reduce(0) { max($0, $1.utf8.count) }
    }

    /// In the order of the document, so that counting lines costs one walk.
    func errors(in tree: PropertyTree) -> [PropertyError] {
        var errors: [PropertyError] = []
        var cursor = PositionCursor(start: tree.store.start)
        collect(tree.root, "", &cursor, &errors)
        return errors
    }

    private func collect(
        _ table: LocatedValue, _ prefix: String, _ cursor: inout PositionCursor, _ errors: inout [PropertyError]
    ) {
        var next = table.firstChild
        while let child = next {
            next = child.nextSibling
            let name = prefix + child.tree.store.string(child.node.key)
            if names.contains(name) || Self.prefixes(name, upTo: longest).contains(where: names.contains) { continue }
            if tables.contains(name), child.node.kind == .table {
                collect(child, name + ".", &cursor, &errors)
            } else {
                errors.append(error(name, child, &cursor))
            }
        }
    }

    private func error(_ name: String, _ value: LocatedValue, _ cursor: inout PositionCursor) -> PropertyError {
        let suggestion = NearestName.suggestion(for: name, among: known)
        var error = PropertyError(
            ErrorText.unknownName(suggestion: suggestion), source: value.tree.source, name: name)
        if value.node.keyOffset != Node.noOffset {
            (error.line, error.column) = cursor.move(to: Int(value.node.keyOffset), in: value.tree.store.bytes)
        }
        return error
    }

    /// `a` and `a.b` for `a.b.c`.
    private static func prefixes(_ name: String, upTo length: Int = .max) -> [String] {
        let utf8 = name.utf8.prefix(length == .max ? length : length + 1)
        return utf8.indices.filter { utf8[$0] == UInt8(ascii: ".") }.map { String(name[..<$0]) }
    }
}
