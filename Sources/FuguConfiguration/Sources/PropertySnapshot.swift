import Fugu

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
    package let isMissing: Bool
    private var content: any SnapshotContent

    /// Creates a snapshot of values.
    ///
    /// - Parameters:
    ///   - values: The values.
    ///   - source: The name of the source in errors.
    ///   - origin: A closure that returns the place of the value under a dotted name, such as `servers[2].port`, or `nil` if
    ///     it isn't known. Errors and explanations show it. It's called on any thread.
    /// - Throws: ``PropertyError`` if a dotted name is also given nested, or if the values are nested deeper than 512
    ///   levels.
    /// - Complexity: O(*n*) for *n* values.
    public init(
        _ values: [String: PropertyValue], source: String,
        origin: (@Sendable (_ name: String) -> PropertyOrigin?)? = nil
    ) throws(PropertyError) {
        guard let store = NodeStore(table: values) else {
            throw PropertyError(ErrorText.nestedTooDeep, source: source)
        }
        try self.init(PropertyTree(store: store, source: source, origins: origin))
    }

    /// Creates a snapshot of texts, which are parsed to the type of the key: `true` and `false`, numbers, `a,b` for
    /// arrays.
    ///
    /// - Parameters:
    ///   - source: The name of the source in errors.
    ///   - origin: A closure that returns the place of the text under a dotted name, or `nil` if it isn't known. Errors and
    ///     explanations show it. It's called on any thread.
    ///   - text: A closure that returns the text for a dotted name, or `nil`. It's called on any thread, and must
    ///     always return the same text for the same name.
    public init(
        source: String, origin: (@Sendable (_ name: String) -> PropertyOrigin?)? = nil,
        text: @escaping @Sendable (_ name: String) -> String?
    ) {
        self.init(source: source, content: AskedTexts(source: source, origin: origin, text: text))
    }

    /// Returns an empty snapshot for an optional source that is missing.
    ///
    /// - Parameter source: The name of the source in errors.
    /// - Returns: The snapshot.
    public static func missing(source: String) -> PropertySnapshot {
        PropertySnapshot(source: source, isMissing: true, content: AskedTexts(source: source, origin: nil) { _ in nil })
    }

    init(source: String, isMissing: Bool = false, content: any SnapshotContent) {
        self.source = source
        self.isMissing = isMissing
        self.content = content
    }

    /// Creates a snapshot of a parsed document, in which names with dots are entered as if they were nested.
    init(_ tree: PropertyTree) throws(PropertyError) {
        self.init(source: tree.source, content: try Document(tree))
    }

    /// Returns the value under a dotted name.
    ///
    /// It takes time in proportion to the length of the name, not to the size of the source.
    package func value(named name: String) -> LocatedValue? { content.value(named: name) }

    /// Returns an error for each name that is neither known nor part of a known table, with the nearest known name.
    package func unknownNames(known: [String]) -> [PropertyError] {
        var mistakes = Mistakes()
        noteUnknownNames(KnownNames(known), to: &mistakes)
        return mistakes.list
    }

    /// - `before`: The snapshot before a reload, whose names are left out.
    func noteUnknownNames(_ known: KnownNames, unlike before: PropertySnapshot? = nil, to mistakes: inout Mistakes) {
        var known = known
        known.before = before?.content
        content.noteUnknownNames(known, to: &mistakes)
    }

    /// Returns the name's spelling and place in this source: `APP_URL`, or `url in /srv/app.toml`.
    func place(of name: String) -> String? { content.place(of: name) }

    /// Returns the variable of the name, or `nil` if this isn't a source of variables.
    func variable(for name: String) -> String? { content.variable(for: name) }

    /// What a test should know that applies the source.
    var warning: String? { content.warning }

    /// The present state of the files that values were read from by their paths, or nothing if it's that of the reading.
    var fileStamp: [Int64] { content.fileStamp }

    /// Returns the same snapshot with its names translated into the source's own.
    func renaming(_ rename: @escaping @Sendable (String) -> String?) -> PropertySnapshot {
        var snapshot = self
        snapshot.content = RenamedContent(content: content, scope: nil, rename: rename)
        return snapshot
    }

    /// Returns a snapshot of a table.
    func scoped(to table: String) -> PropertySnapshot {
        var snapshot = self
        snapshot.content = RenamedContent(content: content, scope: table) { table + "." + $0 }
        return snapshot
    }

    /// Returns the same snapshot without empty texts.
    func withoutEmptyTexts() -> PropertySnapshot {
        var snapshot = self
        snapshot.content = FilledContent(content: content)
        return snapshot
    }

    /// Returns the same snapshot, in which names with an ending lead to files that have the values.
    func readingFiles(namedBy ending: String, _ reader: FileReader) -> PropertySnapshot {
        var snapshot = self
        snapshot.content = FileNamingContent(content: content, ending: ending, files: NamedFiles(reader: reader))
        return snapshot
    }

    /// Returns the same snapshot without some names.
    func ignoring(_ patterns: [NamePattern]) -> PropertySnapshot {
        var snapshot = self
        snapshot.content = IgnoringContent(content: content, patterns: patterns)
        return snapshot
    }

    /// Returns the same snapshot with the values under some names marked as secrets.
    func marking(_ patterns: [NamePattern]) -> PropertySnapshot {
        var snapshot = self
        snapshot.content = MarkedContent(content: content, patterns: patterns)
        return snapshot
    }
}

extension PropertySnapshot: PropertyReader {
    /// Returns the value under a name.
    ///
    /// - Parameters:
    ///   - name: The dotted path.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if the source has none.
    /// - Throws: ``PropertyError`` if the value has another type. It quotes no value, since the value may be a secret.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) throws -> Value? {
        guard let value = value(named: name), value.isMeant(for: type) else { return nil }
        return try value.decode(type, named: name, form: nil, quotesValues: false)
    }
}

extension PropertySnapshot: CustomStringConvertible, CustomReflectable {
    /// The source and the number of its values.
    public var description: String {
        "PropertySnapshot(\(Quoted.line(source))\(content.valueCount.map { ", \(SourceText.values($0))" } ?? ""))"
    }

    /// A mirror that shows no values.
    public var customMirror: Mirror { Mirror(self, children: ["source": source, "isMissing": isMissing]) }
}

/// The content of a snapshot, which answers names.
protocol SnapshotContent: Sendable {
    /// The number of values, if it's known.
    var valueCount: Int? { get }
    func value(named name: String) -> LocatedValue?
    /// Adds an error for each name that isn't known.
    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes)
    /// Returns the name's spelling and place, or `nil` if this content can't have the name.
    func place(of name: String) -> String?
    /// Returns the variable of the name, or `nil` if this content has no variables.
    func variable(for name: String) -> String?
    /// What a test should know that applies the source.
    var warning: String? { get }
    /// The present state of the files that values were read from by their paths, or nothing if it's that of the reading.
    var fileStamp: [Int64] { get }
}

extension SnapshotContent {
    var warning: String? { nil }
    var fileStamp: [Int64] { [] }
    func variable(for name: String) -> String? { nil }
}

/// Another content under other names.
private struct RenamedContent: SnapshotContent {
    let content: any SnapshotContent
    /// The table outside of which the content has no names.
    let scope: String?
    let rename: @Sendable (String) -> String?

    var valueCount: Int? { content.valueCount }
    var warning: String? { content.warning }
    var fileStamp: [Int64] { content.fileStamp }

    func value(named name: String) -> LocatedValue? { rename(name).flatMap(content.value) }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        var renamed = known.renamed(rename)
        renamed.members = known.members.compactMap(rename)
        renamed.tables = { known.tables().compactMap(rename) }
        renamed.scope = known.scope.flatMap(rename) ?? scope
        // Patterns outside this content are for its own names.
        let secrets = known.names.filter { name in known.secrets.contains { $0.concerns(name) } }
        renamed.secrets = secrets.compactMap(rename).map(NamePattern.init)
        renamed.singles = { known.singles().compactMap(rename) }
        renamed.lists = { known.lists().compactMap(rename) }
        renamed.switches = { known.switches().compactMap(rename) }
        renamed.ignored = known.ignored.compactMap { $0.renamed(rename) }
        renamed.before = (known.before as? RenamedContent)?.content
        content.noteUnknownNames(renamed, to: &mistakes)
    }

    func place(of name: String) -> String? { rename(name).flatMap(content.place) }

    func variable(for name: String) -> String? { rename(name).flatMap(content.variable) }
}

/// Another content with other values.
private protocol ContentView: SnapshotContent {
    var content: any SnapshotContent { get }
}

extension ContentView {
    var valueCount: Int? { content.valueCount }
    var warning: String? { content.warning }
    var fileStamp: [Int64] { content.fileStamp }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        content.noteUnknownNames(inside(known), to: &mistakes)
    }

    /// Returns the same names, for what's inside.
    func inside(_ known: KnownNames) -> KnownNames {
        var known = known
        known.before = (known.before as? Self)?.content
        return known
    }

    func place(of name: String) -> String? { content.place(of: name) }

    func variable(for name: String) -> String? { content.variable(for: name) }
}

/// Another content in which an empty text is no value.
private struct FilledContent: ContentView {
    let content: any SnapshotContent

    func value(named name: String) -> LocatedValue? {
        content.value(named: name).flatMap { $0.node.kind == .text && $0.isEmptyText ? nil : $0 }
    }
}

/// Another content in which names with an ending lead to files that have the values.
private struct FileNamingContent: ContentView {
    let content: any SnapshotContent
    let ending: String
    let files: NamedFiles

    var fileStamp: [Int64] { content.fileStamp + files.stamp }

    func value(named name: String) -> LocatedValue? {
        let given = content.value(named: name)
        guard let way = content.value(named: name + ending), way.isMeant(for: String.self) else { return given }
        func problem(_ reason: String) -> LocatedValue { .problem(reason, at: way.origin, name) }
        guard given == nil else { return problem(ErrorText.givenTwice(at: given!.origin)) }
        guard way.tree.problem == nil, let path = way.textOrNil else { return problem(ErrorText.noPath) }
        switch files.content(of: FileContents.absolutePath(path)) {
        case .failure(let failure):
            // Who mistakes one name for the other gives a secret in place of the path, so the error doesn't show it.
            return problem(ErrorText.unreadableNamed(failure.description))
        case .success(let bytes):
            var value = PropertyTree(store: NodeStore(file: bytes, name: name), source: path, way: way.keyOrigin).root
            value.isSecret = true
            return value
        }
    }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        content.noteUnknownNames(inside(known).adding(ending: ending), to: &mistakes)
    }
}

/// The files that a snapshot's values name, which keep the content that they had at first.
private final class NamedFiles: Sendable {
    private struct File {
        let content: Result<[UInt8], FileContents.Failure>
        /// The state from before the file was read, so that a change in between is noticed.
        let stamp: [Int64]
    }

    private let reader: FileReader
    private let files = Locked<[String: File]>([:])

    init(reader: FileReader) { self.reader = reader }

    func content(of path: String) -> Result<[UInt8], FileContents.Failure> {
        if let known = files.withLock({ $0[path] }) { return known.content }
        let stamp = Self.stamp(of: path)
        let file = File(content: Result { () throws(FileContents.Failure) in try reader.read(path) }, stamp: stamp)
        return files.withLock { files in
            files[path] = files[path] ?? file
            return files[path]!.content
        }
    }

    /// The present state of all files, or nothing if none has changed since it was read.
    var stamp: [Int64] {
        let files = files.withLock { $0 }.sorted { $0.key < $1.key }
        let present = files.map { Self.stamp(of: $0.key) }
        return present == files.map(\.value.stamp) ? [] : Array(present.joined())
    }

    private static func stamp(of path: String) -> [Int64] { FileContents.parts(path) ?? [-1] }
}

/// Another content without the names that are for others.
private struct IgnoringContent: ContentView {
    let content: any SnapshotContent
    let patterns: [NamePattern]

    func value(named name: String) -> LocatedValue? { ignores(name) ? nil : content.value(named: name) }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        var known = inside(known)
        known.ignored += patterns
        content.noteUnknownNames(known, to: &mistakes)
    }

    func place(of name: String) -> String? { ignores(name) ? nil : content.place(of: name) }

    private func ignores(_ name: String) -> Bool { patterns.contains { $0.concerns(name) } }
}

/// Another content in which the values under some names are secrets.
private struct MarkedContent: ContentView {
    let content: any SnapshotContent
    let patterns: [NamePattern]

    func value(named name: String) -> LocatedValue? {
        guard var value = content.value(named: name) else { return nil }
        value.isSecret = value.isSecret || concerns(value, name)
        return value
    }

    /// Returns whether a pattern matches the name, one around it, or one inside the value.
    private func concerns(_ value: LocatedValue, _ name: String) -> Bool {
        if patterns.contains(where: { $0.concerns(name) }) { return true }
        var open = [(value, name)]
        while let (value, name) = open.popLast() {
            guard value.node.kind == .table || value.node.kind == .array else { continue }
            var isMatched = false
            value.forEachChild { child in
                let isElement = value.node.kind == .array
                let inner = isElement ? name : name + "." + child.tree.store.string(child.node.key)
                if !isElement, patterns.contains(where: { $0.concerns(inner) }) { isMatched = true }
                open.append((child, inner))
            }
            if isMatched { return true }
        }
        return false
    }

    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        var known = inside(known)
        known.secrets += patterns
        content.noteUnknownNames(known, to: &mistakes)
    }
}

/// The texts of a custom source.
private struct AskedTexts: SnapshotContent {
    let source: String
    let origin: (@Sendable (String) -> PropertyOrigin?)?
    let text: @Sendable (String) -> String?

    var valueCount: Int? { nil }

    func value(named name: String) -> LocatedValue? {
        text(name).map { PropertyTree(store: NodeStore(text: $0, name: name), source: source, origins: origin).root }
    }

    func noteUnknownNames(_: KnownNames, to _: inout Mistakes) {}

    func place(of name: String) -> String? { "\(name) in \(Quoted.line(source))" }
}
