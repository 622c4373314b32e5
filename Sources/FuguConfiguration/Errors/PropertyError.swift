/// An error that describes a value that can't be used or a source that can't be read, with the place to fix.
///
/// Its description is one line: `/srv/app/config.toml:12:9: api.timeout: expected Int, found string "abc"`.
public struct PropertyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem as a sentence, without the place and the name.
    public var reason: String
    /// The source: the absolute path of a file, `environment variable APP_PORT`, or the name of the source; for a value that
    /// no source has, `set by code` or `set by a rule`.
    public var source: String?
    /// The line in the source, from 1, or `nil` if the source has no lines.
    public var line: Int?
    /// The column in the line, from 1, counted in Unicode scalars, or `nil` if the source has no lines.
    public var column: Int?
    /// The dotted name of the value, such as `servers[2].port`, or `nil` if the problem isn't a single value.
    public var name: String?
    /// The expected type, such as `Int`.
    public var expected: String?
    /// The value that was found instead, such as `string "abc"`.
    ///
    /// If the value must not be printed, it's only the kind, `string`.
    public var found: String?

    /// Creates an error with a reason of your own.
    ///
    /// - Parameters:
    ///   - reason: The problem as a sentence.
    ///   - source: The source.
    ///   - line: The line in the source.
    ///   - column: The column in the line.
    ///   - name: The dotted name of the value.
    ///   - expected: The expected type.
    ///   - found: The value that was found instead.
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

    /// Creates an error whose reason is `expected …, found …`.
    ///
    /// - Parameters:
    ///   - expected: The expected type.
    ///   - found: The value that was found instead.
    ///   - source: The source.
    ///   - line: The line in the source.
    ///   - column: The column in the line.
    ///   - name: The dotted name of the value.
    package init(
        expected: String, found: String, source: String? = nil, line: Int? = nil, column: Int? = nil,
        name: String? = nil
    ) {
        self.init(
            ErrorText.mismatch(expected: expected, found: found), source: source, line: line, column: column,
            name: name,
            expected: expected, found: found)
    }

    /// The same error without anything that could hold the value.
    ///
    /// Place, name, and expected type stay.
    package var masked: PropertyError {
        PropertyError(
            ErrorText.masked(expected: expected), source: source, line: line, column: column, name: name,
            expected: expected)
    }

    /// The source, line, column, name, and reason on one line.
    ///
    /// Control characters are escaped, so that nothing from outside can end the line, and what is too long for a line is
    /// cut.
    public var description: String {
        let place = PropertyOrigin(source: source ?? "", line: line, column: column).description
        return [place, Quoted.line(name ?? "", limit: 200), Quoted.line(reason)].filter { !$0.isEmpty }
            .joined(separator: ": ")
    }
}

/// The problems of one check; never empty.
///
/// Of more than fifty, it has the first, and an error without a place that says how many others there are.
public struct PropertyErrors: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors in the order in which they were found.
    public var errors: [PropertyError]

    /// Creates an error that collects others.
    ///
    /// - Parameter errors: The errors.
    package init(_ errors: [PropertyError]) {
        self.errors = errors
    }

    /// The errors, one on each line.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}

/// The place of a value in a source.
///
/// Its description reads like `/srv/app/config.toml:12:9`.
public struct PropertyOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The absolute path of a file, `environment variable APP_PORT`, or the name that the source was given.
    public var source: String
    /// The line, from 1, or `nil` if the source has none.
    public var line: Int?
    /// The column, from 1, in Unicode scalars, or `nil` if the source has none.
    public var column: Int?

    /// Creates a place.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - line: The line, from 1.
    ///   - column: The column, from 1, in Unicode scalars.
    public init(source: String, line: Int? = nil, column: Int? = nil) {
        self.source = source
        self.line = line
        self.column = column
    }

    /// The source, line, and column with colons between them, as editors and terminals read it.
    public var description: String {
        ([Quoted.line(source, limit: 1000)] + [line, column].compactMap { $0.map { number in "\(number)" } }).joined(
            separator: ":")
    }
}

/// Collects the errors of a check: the first fifty, and the number of the others.
///
/// An error is made only if it's shown, so a check of a million names takes little more than finding them.
struct Mistakes {
    /// The source and the name that an error is about.
    struct Subject: Hashable {
        let source, name: String?
    }

    private static let limit = 50

    private(set) var errors: [PropertyError] = []
    private(set) var count = 0
    /// The subjects of which nothing is collected.
    private let present: Set<Subject>
    /// The subjects, which are collected in place of errors.
    private var subjects: Set<Subject>?

    /// `present`: The subjects whose errors were there before, of which nothing is collected.
    init(except present: Set<Subject> = []) { self.present = present }

    /// Returns the subjects of what a closure adds.
    static func subjects(_ body: (inout Mistakes) -> Void) -> Set<Subject> {
        var mistakes = Mistakes()
        mistakes.subjects = []
        body(&mistakes)
        return mistakes.subjects!
    }

    mutating func add(_ source: String?, _ name: @autoclosure () -> String?, _ error: () -> PropertyError) {
        guard subjects == nil else {
            subjects!.insert(Subject(source: source, name: name()))
            return
        }
        guard present.isEmpty || !present.contains(Subject(source: source, name: name())) else { return }
        count += 1
        if errors.count < Self.limit { errors.append(error()) }
    }

    mutating func add(_ more: some Sequence<PropertyError>) {
        for error in more { add(error.source, error.name) { error } }
    }

    /// The errors, and one that says how many others there are.
    var list: [PropertyError] {
        count > errors.count ? errors + [PropertyError(ErrorText.more(count - errors.count))] : errors
    }

    /// Throws the errors if there are any.
    func check() throws { if count > 0 { throw PropertyErrors(list) } }
}
