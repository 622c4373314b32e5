extension PropertySource {
    /// Returns the same source with the values under some names marked as secrets.
    ///
    /// No error, report, or explanation then prints them, whether their keys are declared as secrets or not.
    ///
    ///     try container.apply(EnvironmentSource(prefix: "APP").markingSecrets("*password", "*token", "vault.*"))
    ///
    /// - Parameter patterns: Dotted names in which `*` matches any characters, including dots. Case is ignored.
    /// - Returns: The source.
    public func markingSecrets(_ patterns: String...) -> some PropertySource {
        WrappedSource(source: self) { [patterns = patterns.map { NamePattern($0) }] in $0.marking(patterns) }
    }

    /// Returns the same source without the names that are meant for others.
    ///
    /// It gives no values under them, and `validate` doesn't report them.
    ///
    ///     try container.apply(EnvironmentSource(prefix: "SHOP").ignoringNames("port.*", "service.*"))
    ///
    /// - Parameter patterns: Dotted names, without the prefix of variables, in which `*` matches any characters. Case is ignored,
    ///   and dots, dashes, and underscores are the same: `port.*` is for `SHOP_PORT_80_TCP`.
    /// - Returns: The source.
    public func ignoringNames(_ patterns: String...) -> some PropertySource {
        WrappedSource(source: self) { [patterns = patterns.map { NamePattern($0, Spelling.argument) }] in
            $0.ignoring(patterns)
        }
    }

    /// Returns the same source under a prefix: the name `port` is answered with the source's `database.port`.
    ///
    /// Names outside the prefix are for others, so `validate` doesn't report them.
    ///
    /// - Parameter prefix: The dotted name of a table.
    /// - Returns: The source.
    public func scoped(to prefix: String) -> some PropertySource {
        WrappedSource(source: self) { $0.scoped(to: prefix) }
    }

    /// Returns the same source with other names.
    ///
    /// - Parameter name: A closure that returns the source's name for a dotted name, or `nil` if it has none.
    /// - Returns: The source.
    public func mappingNames(_ name: @escaping @Sendable (String) -> String?) -> some PropertySource {
        WrappedSource(source: self) { $0.renaming(name) }
    }

    /// Returns the same source without empty texts, so that a variable that is set to nothing is one that isn't set.
    ///
    /// It concerns variables, lines of `.env` files, arguments, and the files of a folder.
    ///
    /// - Returns: The source.
    public func ignoringEmptyTexts() -> some PropertySource {
        WrappedSource(source: self) { $0.withoutEmptyTexts() }
    }
}

extension PropertySource {
    /// Returns the same source, in which a name with an ending leads to a file that has the value.
    ///
    /// That's how containers are given secrets:
    ///
    ///     // APP_DATABASE_PASSWORD_FILE=/run/secrets/password gives the value of database.password.
    ///     try container.apply(EnvironmentSource(prefix: "APP").readingFiles(namedBy: "_FILE"))
    ///
    /// A file is read as one of a ``FolderSource``, and its value is a secret. That's when the value is asked for first, and
    /// after each reload; a pipe is read once. It's an error for the name alone if a file can't be read, or if the value is
    /// also given itself.
    ///
    /// Don't use it for a source that has the name of a key with that ending, such as `log.file` beside `log`.
    ///
    /// - Parameter ending: The end of the names, as the source spells it: `_FILE` in variables and arguments, `_file` in a TOML file
    ///   whose names are written so.
    /// - Returns: The source.
    public func readingFiles(namedBy ending: String) -> some PropertySource {
        WrappedSource(source: self) { [reader = FileReader()] in $0.readingFiles(namedBy: ending, reader) }
    }
}

/// A source that changes the snapshots of another one.
private struct WrappedSource<Source: PropertySource>: PropertySource {
    let source: Source
    let view: @Sendable (PropertySnapshot) -> PropertySnapshot

    var name: String { source.name }

    func load() throws(PropertyError) -> PropertySnapshot { view(try source.load()) }

    func modificationStamp() -> PropertySourceStamp? { source.modificationStamp() }

    func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        source.observeChanges(body)
    }

    var description: String { source.description }
}

extension AsyncPropertySource {
    /// Returns the same source with the values under some names marked as secrets.
    ///
    /// See ``PropertySource/markingSecrets(_:)``.
    ///
    /// - Parameter patterns: Dotted names in which `*` matches any characters, including dots. Case is ignored.
    /// - Returns: The source.
    public func markingSecrets(_ patterns: String...) -> some AsyncPropertySource {
        MarkedAsyncSource(source: self, patterns: patterns.map { NamePattern($0) })
    }
}

/// A source whose values under some names are secrets.
private struct MarkedAsyncSource<Source: AsyncPropertySource>: AsyncPropertySource {
    let source: Source
    let patterns: [NamePattern]

    var name: String { source.name }

    func fetch() async throws -> PropertySnapshot { try await source.fetch().marking(patterns) }
}

/// A pattern for the names that a source keeps secret or leaves to others.
struct NamePattern: Sendable {
    let text: String
    private let parts: [String]
    /// Returns a name as it's compared.
    private let spelling: @Sendable (String) -> String

    init(_ pattern: String) { self.init(pattern) { $0.lowercased() } }

    init(_ pattern: String, _ spelling: @escaping @Sendable (String) -> String) {
        (text, self.spelling) = (pattern, spelling)
        parts = spelling(pattern).split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the same pattern with a text of its own.
    func renamed(_ rename: (String) -> String?) -> NamePattern? { rename(text).map { NamePattern($0, spelling) } }

    /// Returns a Boolean value that indicates whether the pattern matches the name or one around it.
    func concerns(_ name: String) -> Bool {
        let ends = name.indices.filter { name[$0] == "." } + [name.endIndex]
        return ends.contains { matches(spelling(String(name[..<$0]))[...]) }
    }

    private func matches(_ name: Substring) -> Bool {
        guard parts.count > 1 else { return name == parts[0] }
        guard name.hasPrefix(parts[0]) else { return false }
        var rest = name.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let end = Self.end(of: part, in: rest) else { return false }
            rest = rest[end...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }

    private static func end(of part: String, in text: Substring) -> Substring.Index? {
        text.indices.first { text[$0...].hasPrefix(part) }.map { text.index($0, offsetBy: part.count) }
    }
}
