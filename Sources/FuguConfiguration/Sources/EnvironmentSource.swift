/// A source of values from environment variables: `api.baseUrl` with the prefix `APP` is `APP_API_BASE_URL`.
///
/// A name is written in uppercase, with `_` in place of dots and dashes and before each word that begins with an
/// uppercase letter. Text is parsed to the type of the key: `true` and `false`, numbers, `a,b` for arrays, `30s` for a
/// `Duration`. A whole table is a JSON object, since members can't be distinguished from names with an underscore; the members
/// of a table that a key merges have variables of their own (see ``PropertyForm/merged``). A line break at the end and
/// a byte order mark aren't part of a text.
///
/// A variable whose bytes aren't UTF-8 is an error when its key is read.
///
/// With a prefix, all variables that begin with it are considered to be meant for this program: `validate` reports
/// those that no key has.
public struct EnvironmentSource: CountedSource {
    private let variables: VariableList

    /// Creates a source of environment variables.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of all names, spelled as a name is: `APP`, `app`, and `APP_` are the same. Empty for none.
    ///   - environment: The variables, those of this process by default, taken at this call.
    public init(prefix: String = "", environment: [String: String] = EnvironmentSource.current) {
        variables = VariableList(prefix: prefix, environment: environment)
    }

    /// The variables of this process at this moment.
    public static var current: [String: String] { processEnvironment() }

    /// The name of the source: `environment`, with the prefix if there is one.
    public var name: String { variables.prefix.isEmpty ? "environment" : "environment \(variables.prefix)_" }

    var valueCount: Int { variables.valueCount ?? 0 }

    /// Returns the variables.
    ///
    /// - Returns: The values.
    /// - Throws: Nothing.
    public func load() throws(PropertyError) -> PropertySnapshot { PropertySnapshot(source: name, content: variables) }
}

/// A source that reads a `.env` file: lines of `NAME=value`, named as in ``EnvironmentSource``.
///
/// ```text
/// # a comment
/// export APP_SERVER_PORT=8080
/// APP_GREETING="Hello\nthere"   # escapes \n \r \t \" \\ \$
/// APP_PATTERN='taken $as it is'
/// APP_COLOR=#FF0000             # a comment begins after a blank
/// ```
///
/// A value in double quotes has escapes, and one in single quotes or backticks has none; all may span lines. A value without
/// quotes ends with its line or at a `#` after a blank. Nothing is expanded: a `$` is a `$`. A name that appears twice is an
/// error, and bytes that aren't UTF-8 are one when the key of their line is read.
public struct DotEnvSource: PropertySource {
    private let document: DocumentSource
    private let prefix: String

    /// Creates a source that reads a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is resolved when the file is read. A pipe is read once.
    ///   - prefix: The prefix of all names, spelled as a name is: `APP`, `app`, and `APP_` are the same. Empty for none.
    ///   - isOptional: Pass `true` to treat a missing file as empty.
    public init(path: String = ".env", prefix: String = "", isOptional: Bool = false) {
        document = DocumentSource(path: path, isOptional: isOptional)
        self.prefix = prefix
    }

    /// Creates a source that reads a text.
    ///
    /// - Parameters:
    ///   - text: The lines.
    ///   - name: The name of the text in errors.
    ///   - prefix: The prefix of all names, spelled as a name is: `APP`, `app`, and `APP_` are the same. Empty for none.
    public init(text: String, name: String, prefix: String = "") {
        document = DocumentSource(bytes: Array(text.utf8), name: name)
        self.prefix = prefix
    }

    /// The path as it was given, or the name of the text.
    public var name: String { document.name }

    /// Reads and parses the file or text.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` with the absolute path, line, and column.
    /// - Complexity: O(*n*) for *n* bytes.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try document.load { [prefix] (bytes, name) throws(PropertyError) in
            let tree = try DotEnvParser(store: NodeStore(source: bytes)).parsed(name: name)
            return PropertySnapshot(source: name, content: VariableList(prefix: prefix, tree: tree))
        }
    }

    /// Returns a stamp that differs after the file has changed.
    ///
    /// - Returns: The stamp, or `nil` for a text.
    public func modificationStamp() -> PropertySourceStamp? { document.modificationStamp() }
}

/// Parses the lines of a `.env` file into a table.
private struct DotEnvParser: TextParser {
    var store: NodeStore
    var index = 0

    /// Lines are independent of one another, and nobody may want the one that isn't text.
    static var checksAllBytes: Bool { false }

    mutating func document() throws(SyntaxFailure) {
        let root = store.add(.collection(.table, at: here))
        while true {
            skipSpace(andLines: true)
            if isAtEnd { return }
            if byte == UInt8(ascii: "#") { skipLine() } else { try variable(in: root) }
        }
    }

    private mutating func variable(in root: Int32) throws(SyntaxFailure) {
        skipExport()
        let keyOffset = here
        while ByteClass.isBareKey(byte) || byte == UInt8(ascii: ".") { index += 1 }
        let key = Text(start: keyOffset, length: here - keyOffset)
        guard key.length > 0 else { throw failure(.expected("a name")) }
        let place = try place(in: root, key: key, keyOffset: keyOffset)
        skipSpace()
        guard take("=") else { throw failure(.expected("=")) }
        skipSpace()
        let start = here
        let text =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): try quoted(byte)
            default: plain()
            }
        _ = add(.text(text, .text, at: start), at: place)
        skipSpace()
        if isAtComment { skipLine() }
        guard isAtEnd || isLineEnd else { throw failure(.expected("the end of the line")) }
    }

    private mutating func skipExport() {
        let word = Array("export".utf8)
        let end = index + word.count
        guard end < store.end, store.bytes[index..<end].elementsEqual(word),
            store.bytes[end] == 0x20 || store.bytes[end] == 0x09
        else { return }
        index = end
        skipSpace()
    }

    private mutating func plain() -> Text {
        let start = index
        var end = start
        while !isAtEnd, !isLineEnd, !isAtComment {
            index += 1
            if !isBlank(index - 1) { end = index }
        }
        return Text(start: UInt32(start), length: UInt32(end - start))
    }

    private mutating func quoted(_ quote: UInt8) throws(SyntaxFailure) -> Text {
        let opening = index
        index += 1
        let start = UInt32(store.bytes.count)
        var isEscaped = false
        while byte != quote {
            guard !isAtEnd else { throw failure(.stringNotClosed, at: opening) }
            // A line break is one character, however the file writes it.
            if byte == 0x0D, store.bytes[index + 1] == 0x0A { index += 1 }
            isEscaped = byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"")
            if isEscaped {
                index += 1
                try escape(opening)
            } else {
                store.appendByte(byte)
            }
            index += 1
        }
        index += 1
        let text = Text(start: start, length: UInt32(store.bytes.count) - start)
        // A line break that is written as an escape is meant.
        return isEscaped ? text : text.unframed(in: store.bytes)
    }

    private mutating func escape(_ opening: Int) throws(SyntaxFailure) {
        switch byte {
        case UInt8(ascii: "n"): store.appendByte(0x0A)
        case UInt8(ascii: "r"): store.appendByte(0x0D)
        case UInt8(ascii: "t"): store.appendByte(0x09)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "'"): store.appendByte(byte)
        case _ where isAtEnd: throw failure(.stringNotClosed, at: opening)
        default: throw failure(.unknownEscape(isTOML: true))
        }
    }

    // MARK: Space

    private var isLineEnd: Bool { byte == 0x0A || byte == 0x0D }

    private func isBlank(_ index: Int) -> Bool { store.bytes[index] == 0x20 || store.bytes[index] == 0x09 }

    /// Whether a comment begins here, which it does after a blank, so that `#FF0000` and `pass#word` are values.
    private var isAtComment: Bool { byte == UInt8(ascii: "#") && isBlank(index - 1) }

    private mutating func skipSpace(andLines: Bool = false) {
        while isBlank(index) || andLines && isLineEnd { index += 1 }
    }

    private mutating func skipLine() {
        while !isAtEnd, !isLineEnd { index += 1 }
    }
}

/// Texts under uppercase names, as in the environment and `.env` files.
///
/// Where a name in uppercase is absent, the variable that is spelled like the key's name has the value.
struct VariableList: SnapshotContent {
    fileprivate enum Content {
        /// `repaired`: The names of those whose bytes aren't text.
        case process([String: String], repaired: Set<String>)
        case file(PropertyTree)
    }

    let prefix: String
    /// The prefix as it was given, with the `_` at its end.
    private let exactPrefix: String
    private let content: Content

    init(prefix: String, environment: [String: String]) {
        self.init(prefix, .process(environment, repaired: RepairedText.variables(in: environment)))
    }

    /// `tree`: A table that contains the variables.
    init(prefix: String, tree: PropertyTree) { self.init(prefix, .file(tree)) }

    private init(_ prefix: String, _ content: Content) {
        self.prefix = Spelling.prefix(prefix)
        exactPrefix = prefix.isEmpty || prefix.hasSuffix("_") ? prefix : prefix + "_"
        self.content = content
    }

    var valueCount: Int? { names.count }

    var warning: String? {
        guard case .process(let variables, _) = content else { return nil }
        // A test may replace some, or leave some out. A few that are the same may be so by accident.
        let own = EnvironmentSource.current
        let count = own.count { variables[$0.key] == $0.value }
        return 2 * count > own.count ? ErrorText.variablesOfProcess(exactPrefix) : nil
    }

    func value(named name: String) -> LocatedValue? {
        value(of: spelling(of: name), named: name) ?? value(of: exactPrefix + name, named: name)
    }

    private func value(of variable: String, named name: String) -> LocatedValue? {
        switch content {
        case .file(let tree):
            guard let value = tree.root.member(variable) else { return nil }
            return tree.store.isUTF8(value.node.text) ? value : .problem(ErrorText.bytesNotText, at: value.origin, name)
        case .process(let variables, let repaired):
            guard let text = variables[variable] else { return nil }
            let origin = origin(of: variable)
            if repaired.contains(variable) { return .problem(ErrorText.bytesNotText, at: origin, name) }
            return PropertyTree(store: NodeStore(text: text, name: name), source: origin.source).root
        }
    }

    private var names: [String] {
        switch content {
        case .file(let tree): tree.root.memberNames
        case .process(let variables, _): Array(variables.keys)
        }
    }

    private func has(_ variable: String) -> Bool {
        switch content {
        case .file(let tree): tree.root.member(variable) != nil
        case .process(let variables, _): variables[variable] != nil
        }
    }

    private func origin(of variable: String) -> PropertyOrigin {
        guard case .file(let tree) = content, let value = tree.root.member(variable) else {
            return PropertyOrigin(source: source(of: variable))
        }
        return value.keyOrigin
    }

    private func source(of variable: String) -> String {
        if case .file(let tree) = content { tree.source } else { "environment variable \(variable)" }
    }

    private func spelling(of name: String) -> String { Spelling.variable(name, prefix: prefix) }

    /// Variables without the prefix are mostly for other programs.
    ///
    /// Of those, only the ones are reported that a type would have read if variables could form tables, and lines of a
    /// file whose names are almost known, or are known ones with a prefix, if no line is read.
    func noteUnknownNames(_ known: KnownNames, to mistakes: inout Mistakes) {
        let before = known.before as? VariableList
        let names = names.filter { before?.has($0) != true }
        guard !names.isEmpty else { return }
        let members = Set(known.members.map(spelling))
        let exact = Set(known.names.map { exactPrefix + $0 })
        var spelled = SpelledNames(known, separator: "_", spelling)
        let isUnread = isFile && prefix.isEmpty && !self.names.contains { spelled.has($0) || exact.contains($0) }
        let prefixed = isUnread ? prefixedNames(known) : []
        var services = ServiceLinks(content)
        for variable in names.sorted() where !spelled.cover(variable) && !exact.contains(variable) {
            let rest = [prefix + "_", exactPrefix].first(where: variable.hasPrefix).map { variable.dropFirst($0.count) }
            guard !known.ignores(String(rest ?? variable[...])) else { continue }
            let isMeant =
                !prefix.isEmpty && rest != nil || spelled.list(around: variable) != nil
                || members.contains(variable) && spelled.table(around: variable) != nil
            guard isMeant || isFile else { continue }
            let link = services.link(of: variable)
            // One error says how to ignore all of a service's variables.
            if link?.isKnown == true { continue }
            let suggestion =
                suggestion(for: variable, &spelled) ?? (isMeant ? nil : forgottenPrefix(of: variable, before: prefixed))
            guard isMeant || suggestion != nil else { continue }
            let name = isFile ? variable : nil
            mistakes.add(source(of: variable), name) {
                let origin = origin(of: variable)
                let reason =
                    link.map {
                        ErrorText.serviceLink($0.patterns(prefix, hasPort: !spelled.cover("\($0.service)_PORT")))
                    }
                    ?? spelled.problem(of: variable, end: rest.map(String.init), suggestion: suggestion)
                return PropertyError(
                    reason, source: origin.source, line: origin.line, column: origin.column, name: name)
            }
        }
    }

    private func suggestion(for variable: String, _ spelled: inout SpelledNames) -> String? {
        // A line such as `exportPORT=1` lacks a blank.
        let word = "export"
        let rest = String(variable.dropFirst(word.count))
        return isFile && variable.hasPrefix(word) && spelled.cover(rest)
            ? rest : spelled.suggestion(for: Spelling.variable(variable, prefix: ""))
    }

    /// Returns the names that could follow a prefix: a single word, such as `PORT`, may well end the name of another program.
    private func prefixedNames(_ known: KnownNames) -> Set<String> {
        Set(known.names.map { Spelling.variable($0, prefix: "") }.filter { $0.contains("_") })
    }

    private func forgottenPrefix(of variable: String, before names: Set<String>) -> String? {
        guard !names.isEmpty else { return nil }
        let end = variable.indices.dropFirst().first { index in
            variable[index] == "_" && names.contains(String(variable[index...].dropFirst()))
        }
        return end.map { "prefix: \"\(variable[..<$0])\"" }
    }

    private var isFile: Bool {
        if case .file = content { true } else { false }
    }

    func variable(for name: String) -> String? { spelling(of: name) }

    func place(of name: String) -> String? {
        let variable = spelling(of: name)
        guard case .file(let tree) = content else { return variable }
        return "\(variable) in \(Quoted.line(tree.source))"
    }
}

/// The variables that Kubernetes sets for each service of a namespace.
private struct ServiceLinks {
    /// The services, each with whether one of its variables was looked for.
    private var services: [Substring: Bool] = [:]

    init(_ content: VariableList.Content) {
        guard case .process(let variables, _) = content else { return }
        for name in variables.keys where name.hasSuffix("_SERVICE_HOST") {
            let service = name.dropLast("_SERVICE_HOST".count)
            // The pod itself may set what would be the first of them, as in `SHOP_PORT=8080`.
            if let port = variables[service + "_SERVICE_PORT"],
                [service + "_PORT", service + "_PORT_\(port)_TCP", service + "_PORT_\(port)_UDP"].contains(where: {
                    variables[String($0)]?.contains("://") == true
                })
            {
                services[service] = false
            }
        }
    }

    struct Link {
        let service: Substring
        /// Whether another variable of the service was found before.
        let isKnown: Bool

        /// Returns patterns for the names of all variables of the service.
        ///
        /// `hasPort`: Whether the variable `…_PORT` isn't one that the program reads.
        func patterns(_ prefix: String, hasPort: Bool) -> [String] {
            let name = (service + ".").dropFirst(prefix.isEmpty ? 0 : prefix.count + 1).lowercased()
            return (hasPort ? [name + "port"] : []) + [name + "port.*", name + "service.*"]
        }
    }

    /// Returns the service that the variable is for, if it's for one.
    mutating func link(of variable: String) -> Link? {
        guard !services.isEmpty else { return nil }
        let ends = variable.indices.filter { variable[$0] == "_" }
        let found = ends.first { end in
            let rest = variable[end...]
            return services[variable[..<end]] != nil
                && (rest == "_PORT" || rest.hasPrefix("_PORT_") || rest.hasPrefix("_SERVICE_"))
        }
        guard let found else { return nil }
        let service = variable[..<found]
        return Link(service: service, isKnown: services.updateValue(true, forKey: service) == true)
    }
}
