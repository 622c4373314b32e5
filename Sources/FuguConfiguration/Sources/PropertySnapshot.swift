/// What a source held at one moment. It never changes; a reload makes another.
///
/// A dotted name answers with a value or a whole table, and `"api.timeout" = 1` answers as a nested `timeout` in `api`
/// does.
public struct PropertySnapshot: Sendable {
    private enum Content {
        case document(PropertyTree, NameIndex?)
        case texts(@Sendable (String) -> LocatedValue?, unknown: @Sendable ([String]) -> [PropertyError])
    }

    /// What the source is called in errors: for a file its absolute path.
    public let source: String
    /// Whether the source was optional and is not there.
    public let isMissing: Bool
    private let content: Content

    /// Values that are there as such.
    ///
    /// - Throws: a `PropertyError` if a dotted name is also given nested, or if the values are nested deeper than 512
    ///   levels.
    public init(_ values: [String: PropertyValue], source: String) throws(PropertyError) {
        guard let store = NodeStore(table: values) else {
            throw PropertyError(ErrorText.nestedTooDeep, source: source)
        }
        try self.init(PropertyTree(store: store, source: source))
    }

    /// Texts that are parsed to the type that is asked for: `true` and `false`, numbers, `a,b` for arrays.
    ///
    /// - Parameters:
    ///   - source: what the source is called in errors.
    ///   - text: gives the text for a dotted name, nil if there is none; called on any thread, and must always give the
    ///     same text for the same name.
    public init(source: String, text: @escaping @Sendable (_ name: String) -> String?) {
        self.init(source: source) { name in
            text(name).map { PropertyTree(store: NodeStore(text: $0, name: name), source: source).root }
        }
    }

    /// Nothing at all, for a source that was optional and is not there.
    public static func missing(source: String) -> PropertySnapshot {
        PropertySnapshot(source: source, isMissing: true) { _ in nil }
    }

    init(
        source: String, isMissing: Bool = false,
        unknown: @escaping @Sendable ([String]) -> [PropertyError] = { _ in [] },
        value: @escaping @Sendable (String) -> LocatedValue?
    ) {
        self.source = source
        self.isMissing = isMissing
        content = .texts(value, unknown: unknown)
    }

    /// A parsed document, whose names with dots are entered as if they were nested.
    init(_ tree: PropertyTree) throws(PropertyError) {
        source = tree.source
        isMissing = false
        guard tree.root.node.kind == .table else {
            throw PropertyError(
                ErrorText.notATableAtTop, source: source, line: tree.root.origin.line, column: tree.root.origin.column)
        }
        guard tree.store.hasDottedNames else {
            content = .document(tree, nil)
            return
        }
        var store = tree.store
        do {
            let index = try NameIndex(&store)
            content = .document(PropertyTree(store: store, source: tree.source), index)
        } catch {
            throw PropertyError(error, in: tree)
        }
    }

    /// The value under a dotted name. Takes time for the length of the name, not for the size of the source.
    package func value(named name: String) -> LocatedValue? {
        switch content {
        case .texts(let value, _): return value(name)
        case .document(let tree, let index?):
            return index.node(named: name).map { LocatedValue(tree: tree, id: $0) }
        case .document(let tree, nil):
            var value = tree.root
            for segment in name.split(separator: ".", omittingEmptySubsequences: false) {
                guard let member = value.member(String(segment)) else { return nil }
                value = member
            }
            return value
        }
    }

    /// An error for each name that is neither known nor belongs to a known table, with the nearest known name. The
    /// environment reports none, since most of it is meant for others.
    package func unknownNames(known: [String]) -> [PropertyError] {
        switch content {
        case .texts(_, let unknown): unknown(known)
        case .document(let tree, _): UnknownNames(known: known).errors(in: tree)
        }
    }
}

extension PropertyError {
    fileprivate init(_ failure: NameIndex.Failure, in tree: PropertyTree) {
        switch failure {
        case .givenTwice(let first, let second):
            let nodes = [first, second].sorted { Self.offset($0, tree) < Self.offset($1, tree) }
            let isLocated = Self.offset(nodes[0], tree) != Node.noOffset
            let firstLine = isLocated ? tree.store.line(of: Self.offset(nodes[0], tree)) : nil
            self.init(ErrorText.givenTwice(firstLine: firstLine), keyOf: LocatedValue(tree: tree, id: nodes[1]))
        case .tooDeep(let node):
            self.init(ErrorText.nestedTooDeep, keyOf: LocatedValue(tree: tree, id: node))
            name = nil
        }
    }

    private static func offset(_ node: Int32, _ tree: PropertyTree) -> UInt32 { tree.store.nodes[Int(node)].keyOffset }

    /// An error about a name; its place is where the name stands.
    private init(_ reason: String, keyOf value: LocatedValue) {
        self.init(reason, source: value.tree.source, name: value.name)
        guard value.node.keyOffset != Node.noOffset else { return }
        let (line, column) = value.tree.store.position(of: Int(value.node.keyOffset))
        (self.line, self.column) = (line, column)
    }
}
