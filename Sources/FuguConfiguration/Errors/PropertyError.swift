/// A value from outside that cannot be used, or a source that cannot be read, with the place to mend.
///
/// It prints as one line: `/srv/app/config.toml:12:9: api.timeout: expected Int, found string "abc"`.
public struct PropertyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as a sentence without the place and the name.
    public var reason: String
    /// The source: the absolute path of a file, `environment variable APP_PORT`, or the name that the source was given.
    public var source: String?
    /// The line in the source, from 1; nil where a source has none.
    public var line: Int?
    /// The column in the line, from 1, counted in Unicode scalars; nil where a source has none.
    public var column: Int?
    /// The dotted name of the value, such as `servers[2].port`; nil if no single value is at fault.
    public var name: String?
    /// What was asked for, such as `Int`.
    public var expected: String?
    /// What was there instead, such as `string "abc"`; only its kind, `string`, where the value must not be printed.
    public var found: String?

    /// An error whose reason is told in words of your own.
    public init(
        _ reason: String, source: String? = nil, line: Int? = nil, column: Int? = nil, name: String? = nil,
        expected: String? = nil, found: String? = nil
    ) {
        self.reason = reason
        self.source = source
        self.line = line
        self.column = column
        self.name = name
        self.expected = expected
        self.found = found
    }

    /// A value that is not what was asked for; the reason is `expected …, found …`.
    public init(
        expected: String, found: String, source: String? = nil, line: Int? = nil, column: Int? = nil,
        name: String? = nil
    ) {
        self.init(
            ErrorText.mismatch(expected: expected, found: found), source: source, line: line, column: column,
            name: name,
            expected: expected, found: found)
    }

    /// The same error with nothing in it that could hold the value: place, name and expected type stay.
    public var masked: PropertyError {
        PropertyError(
            ErrorText.masked(expected: expected), source: source, line: line, column: column, name: name,
            expected: expected)
    }

    /// Source, line, column, name and reason on one line, what is unknown left out. Control characters are escaped, so that
    /// nothing from outside can end the line.
    public var description: String {
        let place = PropertyOrigin(source: source ?? "", line: line, column: column).description
        return [place, Quoted.line(name ?? ""), Quoted.line(reason)].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// Everything that is wrong, together; never empty.
public struct PropertyErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors in the order in which they were found.
    public var errors: [PropertyError]

    /// All the errors of one check.
    public init(_ errors: [PropertyError]) {
        self.errors = errors
    }

    /// One line for each error.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// Where a value came from; prints as `/srv/app/config.toml:12:9`.
public struct PropertyOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The absolute path of a file, `environment variable APP_PORT`, or the name that the source was given.
    public var source: String
    /// The line, from 1; nil where a source has none.
    public var line: Int?
    /// The column, from 1, in Unicode scalars; nil where a source has none.
    public var column: Int?

    /// A place in a source.
    public init(source: String, line: Int? = nil, column: Int? = nil) {
        self.source = source
        self.line = line
        self.column = column
    }

    /// The source, line and column with colons between them, as editors and terminals know it.
    public var description: String {
        ([Quoted.line(source)] + [line, column].compactMap { $0.map { number in "\(number)" } }).joined(separator: ":")
    }
}
