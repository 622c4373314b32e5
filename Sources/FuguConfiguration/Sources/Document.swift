import Fugu

/// The content of a file, a text, or a Swift value.
struct Document: SnapshotContent {
    private let tree: PropertyTree
    private let index: NameIndex?

    init(_ tree: PropertyTree) throws(PropertyError) {
        guard tree.root.node.kind == .table else {
            let origin = tree.root.origin
            throw PropertyError(
                ErrorText.notATableAtTop, source: tree.source, line: origin.line, column: origin.column)
        }
        guard tree.store.hasDottedNames else {
            (self.tree, index) = (tree, nil)
            return
        }
        var store = tree.store
        do {
            index = try NameIndex(&store)
            self.tree = PropertyTree(store: store, source: tree.source, origins: tree.origins)
        } catch {
            throw PropertyError(error, in: tree)
        }
    }

    var valueCount: Int? {
        var count = 0
        var open = [tree.root]
        while let table = open.popLast() {
            table.forEachChild { child in
                if child.node.kind == .table { open.append(child) } else { count += 1 }
            }
        }
        return count
    }

    func value(named name: String) -> LocatedValue? {
        if let index { return index.node(named: name).map { LocatedValue(tree: tree, id: $0) } }
        var value = tree.root
        for segment in name.segments {
            guard let member = value.member(String(segment)) else { return nil }
            value = member
        }
        return value
    }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        var unknown = UnknownNames(known)
        unknown.note(in: tree, to: &mistakes)
    }

    func place(of name: String) -> String? { "\(name) in \(Quoted.line(tree.source))" }
}

extension PropertyError {
    fileprivate init(_ failure: NameIndex.Failure, in tree: PropertyTree) {
        switch failure {
        case .givenTwice(let first, let second):
            let nodes = [first, second].sorted { Self.offset($0, tree) < Self.offset($1, tree) }
            let isLocated = Self.offset(nodes[0], tree) != Node.noOffset
            let firstLine = isLocated ? tree.position(of: Self.offset(nodes[0], tree)).line : nil
            self.init(ErrorText.givenTwice(firstLine: firstLine), keyOf: LocatedValue(tree: tree, id: nodes[1]))
        case .tooDeep(let node):
            self.init(ErrorText.nestedTooDeep, keyOf: LocatedValue(tree: tree, id: node))
            name = nil
        }
    }

    private static func offset(_ node: Int32, _ tree: PropertyTree) -> UInt32 { tree.store.nodes[Int(node)].keyOffset }

    /// Creates an error about a name.
    ///
    /// For a file, it gives the place but doesn't quote the name, because anything can be in a file by mistake.
    private init(_ reason: String, keyOf value: LocatedValue) {
        let origin = value.keyOrigin
        let isLocated = value.node.keyOffset != Node.noOffset
        self.init(
            reason, source: origin.source, line: origin.line, column: origin.column,
            name: isLocated ? nil : SecretNames.printable(value.name))
    }
}
