/// The values of a source at one moment.
///
/// It never changes; a reload creates another.
///
/// A dotted name answers with a value or a whole table, and `"api.timeout" = 1` answers like a nested `timeout` in
/// `api`. A snapshot describes itself by its source and its number of values.
public struct PropertySnapshot: Sendable {
    /// The name of the source in errors; for a file, its absolute path.
    public let source: String
    /// A Boolean value that indicates whether the source was optional and is missing.
    public let isMissing: Bool
    private let content: any SnapshotContent
    /// What this source calls a name, if it has names of its own.
    private var rename: (@Sendable (String) -> String?)?
    private var secrets: [SecretPattern] = []

    /// Creates a snapshot of values.
    ///
    /// - Parameters:
    ///   - values: The values.
    ///   - source: The name of the source in errors.
    /// - Throws: ``PropertyError`` if a dotted name is also given nested, or if the values are nested deeper than 512
    ///   levels.
    public init(_ values: [String: PropertyValue], source: String) throws(PropertyError) {
        guard let store = NodeStore(table: values) else {
            throw PropertyError(ErrorText.nestedTooDeep, source: source)
        }
        try self.init(PropertyTree(store: store, source: source))
    }

    /// Creates a snapshot of texts, which are parsed to the type of the key: `true` and `false`, numbers, `a,b` for
    /// arrays.
    ///
    /// - Parameters:
    ///   - source: The name of the source in errors.
    ///   - text: A closure that returns the text for a dotted name, or `nil`. It's called on any thread, and must
    ///     always return the same text for the same name.
    public init(source: String, text: @escaping @Sendable (_ name: String) -> String?) {
        self.init(source: source, content: AskedTexts(source: source, text: text))
    }

    /// Returns an empty snapshot for an optional source that is missing.
    ///
    /// - Parameter source: The name of the source in errors.
    /// - Returns: The snapshot.
    public static func missing(source: String) -> PropertySnapshot {
        PropertySnapshot(source: source, isMissing: true, content: AskedTexts(source: source) { _ in nil })
    }

    init(source: String, isMissing: Bool = false, content: any SnapshotContent) {
        self.source = source
        self.isMissing = isMissing
        self.content = content
    }

    /// A parsed document, whose names with dots are entered as if they were nested.
    init(_ tree: PropertyTree) throws(PropertyError) {
        self.init(source: tree.source, content: try Document(tree))
    }

    /// Returns the value under a dotted name.
    ///
    /// Takes time for the length of the name, not for the size of the source.
    package func value(named name: String) -> LocatedValue? {
        guard let rename else { return content.value(named: name) }
        return rename(name).flatMap { content.value(named: $0) }
    }

    /// Returns an error for each name that is neither known nor belongs to a known table, with the nearest known name.
    package func unknownNames(known: [String]) -> [PropertyError] { unknownNames(KnownNames(known)) }

    func unknownNames(_ known: KnownNames) -> [PropertyError] {
        guard let rename else { return content.unknownNames(known) }
        return content.unknownNames(KnownNames(known.names.compactMap(rename)))
    }

    /// How and where a name is written in this source: `APP_URL`, or `url in /srv/app.toml`.
    func place(of name: String) -> String? {
        guard let name = rename.map({ $0(name) }) ?? name else { return nil }
        return content.place(of: name)
    }

    /// Whether the source itself calls the name's value a secret.
    func isSecret(_ name: String) -> Bool { !secrets.isEmpty && secrets.contains { $0.concerns(name) } }

    // MARK: Wrapping

    func renaming(_ rename: @escaping @Sendable (String) -> String?) -> PropertySnapshot {
        var snapshot = self
        let inner = self.rename
        snapshot.rename = { name in
            guard let inner else { return rename(name) }
            return rename(name).flatMap(inner)
        }
        return snapshot
    }

    func marking(_ patterns: [SecretPattern]) -> PropertySnapshot {
        var snapshot = self
        snapshot.secrets += patterns
        return snapshot
    }
}

extension PropertySnapshot: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The source and the number of its values.
    public var description: String {
        "PropertySnapshot(\(Quoted.line(source))\(content.valueCount.map { ", \(SourceText.values($0))" } ?? ""))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// A mirror that shows no values.
    public var customMirror: Mirror { Mirror(self, children: ["source": source, "isMissing": isMissing]) }
}

/// What answers names for a snapshot.
protocol SnapshotContent: Sendable {
    /// How many values there are, where that is known.
    var valueCount: Int? { get }
    func value(named name: String) -> LocatedValue?
    func unknownNames(_ known: KnownNames) -> [PropertyError]
    /// How and where a name is written; nil if it cannot be.
    func place(of name: String) -> String?
}

/// Texts that a source of one's own gives.
private struct AskedTexts: SnapshotContent {
    let source: String
    let text: @Sendable (String) -> String?

    var valueCount: Int? { nil }

    func value(named name: String) -> LocatedValue? {
        text(name).map { PropertyTree(store: NodeStore(text: $0, name: name), source: source).root }
    }

    func unknownNames(_: KnownNames) -> [PropertyError] { [] }

    func place(of name: String) -> String? { "\(name) in \(Quoted.line(source))" }
}
