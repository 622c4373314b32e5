import Fugu

/// Finds the names in a document that no key reads.
struct UnknownNames {
    private let known: KnownNames
    private var nearest = NearestName()

    init(_ known: KnownNames) { self.known = known }

    /// Returns the errors in the order of the document.
    mutating func errors(in tree: PropertyTree) -> [PropertyError] {
        var errors: [PropertyError] = []
        var open: [(table: LocatedValue, branch: KnownNames.Branch, prefix: String)] = [(tree.root, known.root, "")]
        while let (table, branch, prefix) = open.popLast() {
            var inner: [(LocatedValue, KnownNames.Branch, String)] = []
            table.forEachChild { child in
                let key = tree.store.string(child.node.key)
                let segments = key.segments
                // A pattern such as `vendor.*` is for the table itself, too.
                guard !known.ignores(prefix + key + (child.node.kind == .table ? "." : "")) else { return }
                switch Self.search(segments.map(String.init), from: branch) {
                case .name: return
                case .table(let found) where child.node.kind == .table: inner.append((child, found, prefix + key + "."))
                case .table(let found): errors.append(notATable(prefix + key, child, found))
                case .nothing(let last, let index):
                    let name = prefix + segments[...index].joined(separator: ".")
                    guard known.scope.map({ name.hasPrefix($0 + ".") }) ?? true else { return }
                    errors.append(unknown(name, child, last))
                }
            }
            open += inner.reversed()
        }
        // Sort the errors, which were found table by table, in the order of the document.
        return errors.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }

    private enum Found {
        case name
        case table(KnownNames.Branch)
        /// The branch that lacks the segment, and the segment's index.
        case nothing(KnownNames.Branch, Int)
    }

    private static func search(_ segments: [String], from branch: KnownNames.Branch) -> Found {
        var branch = branch
        for (index, segment) in segments.enumerated() {
            guard let next = branch.branches[segment] else { return .nothing(branch, index) }
            if next.isName { return .name }
            branch = next
        }
        return .table(branch)
    }

    private func notATable(_ name: String, _ value: LocatedValue, _ branch: KnownNames.Branch) -> PropertyError {
        let members = branch.segments.map { name + "." + $0 + (branch.branches[$0]!.isName ? "" : ".…") }
        return error(
            ErrorText.expectedTable(members: members, found: value.kindText(quotesValues: false)), name, value)
    }

    private mutating func unknown(
        _ name: String, _ value: LocatedValue, _ branch: KnownNames.Branch
    ) -> PropertyError {
        let segments = name.segments
        let prefix = segments.dropLast().map { $0 + "." }.joined()
        let sibling = nearest.suggestion(for: String(segments.last ?? ""), in: branch.segments)
        let meant = sibling.map { prefix + $0 } ?? known.nameEnding(like: name)
        return error(ErrorText.unknownName(suggestion: meant), name, value)
    }

    private func error(_ reason: String, _ name: String, _ value: LocatedValue) -> PropertyError {
        let origin = value.keyOrigin
        return PropertyError(
            reason, source: origin.source, line: origin.line, column: origin.column,
            name: SecretNames.printable(name))
    }
}

extension PropertyError {
    fileprivate var position: SourcePosition { SourcePosition(line: line ?? 0, column: column ?? 0) }
}

private struct SourcePosition: Comparable {
    let line: Int
    let column: Int

    static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
