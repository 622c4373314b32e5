import Fugu

/// The part that file sources share: where the text comes from.
///
/// `load` reads the file.
package struct DocumentSource: Sendable {
    private enum Origin {
        case file(path: String, isOptional: Bool)
        case text([UInt8], name: String)
    }

    private let origin: Origin
    private let reader = FileReader()

    package init(path: String, isOptional: Bool) { origin = .file(path: path, isOptional: isOptional) }

    package init(bytes: [UInt8], name: String) { origin = .text(bytes, name: name) }

    package var name: String {
        switch origin {
        case .file(let path, _): path
        case .text(_, let name): name
        }
    }

    /// Reads the bytes, those of a pipe only once, and passes them to a closure with the name to show in errors; a missing
    /// optional file gives an empty snapshot.
    package func load(
        _ parse: (consuming [UInt8], _ name: String) throws(PropertyError) -> PropertySnapshot
    ) throws(PropertyError) -> PropertySnapshot {
        switch origin {
        case .text(let bytes, let name): return try parse(bytes, name)
        case .file(let path, let isOptional):
            let path = FileContents.absolutePath(path)
            let bytes: [UInt8]
            do {
                bytes = try reader.read(path)
            } catch {
                if isOptional, error.isMissing { return .missing(source: path) }
                throw PropertyError(ErrorText.unreadable(error.description), source: path)
            }
            return try parse(consume bytes, path)
        }
    }

    package func modificationStamp() -> PropertySourceStamp? {
        switch origin {
        case .file(let path, _): PropertySourceStamp(file: path)
        case .text: PropertySourceStamp()
        }
    }
}

/// A source that reads a JSON file or text whose top is an object.
///
/// Comments (`//` and `/* */`) and one trailing comma are allowed.
public struct JSONSource: PropertySource {
    private let document: DocumentSource

    /// Creates a source that reads a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is resolved when the file is read. A pipe is read once.
    ///   - isOptional: Pass `true` to treat a missing file as empty. A file that can't be read is an error anyway.
    public init(path: String, isOptional: Bool = false) {
        document = DocumentSource(path: path, isOptional: isOptional)
    }

    /// Creates a source that reads a text.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - name: The name of the text in errors.
    public init(text: String, name: String) { self.init(bytes: Array(text.utf8), name: name) }

    init(bytes: [UInt8], name: String) { document = DocumentSource(bytes: bytes, name: name) }

    /// The path as it was given, or the name of the text.
    public var name: String { document.name }

    /// Reads and parses the file or text.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` with the absolute path, line, and column.
    /// - Complexity: O(*n*) for *n* bytes.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try document.load { (bytes: consuming [UInt8], name) throws(PropertyError) in
            try PropertySnapshot(JSONParser.parse(consume bytes, name: name))
        }
    }

    /// Returns a stamp that differs after the file has changed.
    ///
    /// - Returns: The stamp, or `nil` for a text.
    public func modificationStamp() -> PropertySourceStamp? { document.modificationStamp() }
}

/// A source that reads a TOML 1.1 file or text.
public struct TOMLSource: PropertySource {
    private let document: DocumentSource

    /// Creates a source that reads a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is resolved when the file is read. A pipe is read once.
    ///   - isOptional: Pass `true` to treat a missing file as empty. A file that can't be read is an error anyway.
    public init(path: String, isOptional: Bool = false) {
        document = DocumentSource(path: path, isOptional: isOptional)
    }

    /// Creates a source that reads a text.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - name: The name of the text in errors.
    public init(text: String, name: String) { self.init(bytes: Array(text.utf8), name: name) }

    init(bytes: [UInt8], name: String) { document = DocumentSource(bytes: bytes, name: name) }

    /// The path as it was given, or the name of the text.
    public var name: String { document.name }

    /// Reads and parses the file or text.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` with the absolute path, line, and column.
    /// - Complexity: O(*n*) for *n* bytes.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try document.load { (bytes: consuming [UInt8], name) throws(PropertyError) in
            try PropertySnapshot(TOMLParser.parse(consume bytes, name: name))
        }
    }

    /// Returns a stamp that differs after the file has changed.
    ///
    /// - Returns: The stamp, or `nil` for a text.
    public func modificationStamp() -> PropertySourceStamp? { document.modificationStamp() }
}

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
        unknown.note(in: tree, unlike: (known.before as? Document)?.tree, to: &mistakes)
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
