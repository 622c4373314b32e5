import Fugu

/// The form of the values that a key accepts from sources, beyond their type.
///
/// ```swift
/// extension ContainerKeys {
///     var port: PropertyKey<Int> { .init("server.port", defaultValue: 8080, form: .range(1024...65535)) }
///     var tags: PropertyKey<[String]> { .init("server.tags", defaultValue: [], form: .separated(by: ";")) }
/// }
/// ```
///
/// A value that isn't in the form counts as wrong, like one of another type: a read gives the default and reports it,
/// `validate` throws it with its place, and a reload with it is refused. A value that code or a rule has set is what a read gives,
/// whatever the form; `validate` and `require` check it, too. Defaults aren't checked.
public struct PropertyForm<Value: Sendable>: Sendable {
    /// The condition on a value, besides its type.
    ///
    /// `expected` is the expected value in errors: `1024...65535`.
    typealias Check = (expected: String, isMet: @Sendable (Value) -> Bool)

    var check: Check?
    /// How texts of variables, arguments, and `.env` files are read.
    var text = PropertyTextForm()
    /// Whether the members of a table come from all sources.
    var mergesTables = false
    /// The names that the key had before, under which sources may still have the value.
    var formerNames: [String] = []

    init() {}
}

/// The way in which the text of a variable or an argument is read.
struct PropertyTextForm: Sendable, Equatable {
    /// The character between two words, or `nil` for a comma.
    var separator: Character?
    var acceptsAnyBoolean = false

    init() {}
}

extension PropertyForm {
    /// Returns a form of values that a closure accepts.
    ///
    /// ```swift
    /// .init("workers", defaultValue: 4, form: .checked("an even number") { $0.isMultiple(of: 2) })
    /// ```
    ///
    /// - Parameters:
    ///   - expected: The expected value, as errors name it after "expected" and `--help` beside the type.
    ///   - isMet: A closure that returns whether a value is accepted. It's called on any thread, outside every lock.
    /// - Returns: The form.
    public static func checked(_ expected: String, _ isMet: @escaping @Sendable (Value) -> Bool) -> PropertyForm {
        var form = PropertyForm()
        form.check = (expected, isMet)
        return form
    }

    /// Returns a form of values in a range.
    ///
    /// - Parameter range: The range, such as `1...`.
    /// - Returns: The form.
    public static func range(_ range: some RangeExpression<Value> & Sendable) -> PropertyForm where Value: Comparable {
        checked(text(of: range)) { range.contains($0) }
    }

    /// Returns a form of values in a range, for a key whose value can be `nil`.
    ///
    /// - Parameter range: The range, such as `1...`.
    /// - Returns: The form.
    public static func range<Bound: Comparable>(_ range: some RangeExpression<Bound> & Sendable) -> PropertyForm
    where Value == Bound? {
        checked(text(of: range)) { $0.map { range.contains($0) } ?? true }
    }

    private static func text<Bound: Comparable>(of range: some RangeExpression<Bound>) -> String {
        switch range {
        case let range as ClosedRange<Bound>: "\(text(of: range.lowerBound))...\(text(of: range.upperBound))"
        case let range as Range<Bound>: "\(text(of: range.lowerBound))..<\(text(of: range.upperBound))"
        case let range as PartialRangeFrom<Bound>: "\(text(of: range.lowerBound))..."
        case let range as PartialRangeThrough<Bound>: "...\(text(of: range.upperBound))"
        case let range as PartialRangeUpTo<Bound>: "..<\(text(of: range.upperBound))"
        default: "\(range)"
        }
    }

    /// Returns a bound as a source writes it.
    private static func text<Bound>(of bound: Bound) -> String {
        (bound as? Duration).map(DurationWords.seconds) ?? "\(bound)"
    }

    /// Returns this form with what another one asks for, too.
    ///
    /// ```swift
    /// .init("ports", defaultValue: [], form: .separated(by: ";").and(.checked("two ports") { $0.count == 2 }))
    /// ```
    ///
    /// A value must pass the checks of both. If both say how texts are read, the other form decides.
    ///
    /// - Parameter other: The other form.
    /// - Returns: The form.
    public func and(_ other: PropertyForm) -> PropertyForm {
        var form = self
        if let own = check, let its = other.check {
            form.check = ("\(own.expected) and \(its.expected)", { own.isMet($0) && its.isMet($0) })
        } else {
            form.check = check ?? other.check
        }
        form.text.separator = other.text.separator ?? text.separator
        form.text.acceptsAnyBoolean = text.acceptsAnyBoolean || other.text.acceptsAnyBoolean
        form.mergesTables = mergesTables || other.mergesTables
        form.formerNames = formerNames + other.formerNames
        return form
    }

    /// Returns a form in which a text is a list of words between separators, in place of commas.
    ///
    /// - Parameter separator: The character between two words.
    /// - Returns: The form.
    public static func separated(by separator: Character) -> PropertyForm {
        var form = PropertyForm()
        form.text.separator = separator
        return form
    }

    /// A form in which the tables of several sources are merged member by member, for a key whose value is a table.
    ///
    /// A member comes from the source that was applied last among those that have it, also as a variable or an argument of
    /// its own: `APP_POOL_SIZE` for the member `size` of `pool`. Tables inside the table are merged in turn, and arrays
    /// never. The sources of one container are merged; those of a child hide those of its ancestors. If a source has any member,
    /// the key's default gives none.
    ///
    /// To find the members, an instance is decoded from zeros and empty strings. A type whose `init(from:)` stops the program
    /// with such values can't be merged.
    public static var merged: PropertyForm {
        var form = PropertyForm()
        form.mergesTables = true
        return form
    }

    /// Returns a form in which the value may stand under a name that the key had before.
    ///
    /// ```swift
    /// .init("server.port", defaultValue: 8080, form: .formerly("port"))
    /// ```
    ///
    /// A source that has only the old name gives its value, and a report names the new one, once. If it has both, the new name
    /// wins, and the report says so. Between sources, their order decides, whichever names they use. `--help`, sample files, and
    /// explanations mention the old name.
    ///
    /// - Parameter names: The old names, those that win first.
    /// - Returns: The form.
    public static func formerly(_ names: String...) -> PropertyForm {
        var form = PropertyForm()
        form.formerNames = names
        return form
    }

    /// A form in which a text is a Boolean value in any of the usual spellings: `true`, `yes`, `on`, or `1`, and `false`,
    /// `no`, `off`, or `0`, in uppercase or lowercase.
    public static var anyBoolean: PropertyForm {
        var form = PropertyForm()
        form.text.acceptsAnyBoolean = true
        return form
    }
}

// Not in Fugu, to whose programs regular expressions would add 1.4 MB.
extension PropertyForm {
    /// Returns a form of texts that match a pattern as a whole.
    ///
    /// ```swift
    /// .init("host", defaultValue: "localhost", form: .pattern(/[a-z.]+/, "a host in lowercase"))
    /// ```
    ///
    /// - Parameters:
    ///   - pattern: The pattern. It's made anew for each value, since a `Regex` can't be passed between threads.
    ///   - expected: The expected value, as errors name it after "expected" and `--help` beside the type.
    /// - Returns: The form.
    public static func pattern<Pattern: RegexComponent & SendableMetatype>(
        _ pattern: @autoclosure @escaping @Sendable () -> Pattern, _ expected: String
    ) -> PropertyForm where Value: StringProtocol {
        checked(expected) { String($0).wholeMatch(of: pattern()) != nil }
    }

    /// Returns a form of texts that match a pattern as a whole, for a key whose value can be `nil`.
    ///
    /// - Parameters:
    ///   - pattern: The pattern. It's made anew for each value, since a `Regex` can't be passed between threads.
    ///   - expected: The expected value, as errors name it after "expected" and `--help` beside the type.
    /// - Returns: The form.
    public static func pattern<Pattern: RegexComponent & SendableMetatype, Text: StringProtocol>(
        _ pattern: @autoclosure @escaping @Sendable () -> Pattern, _ expected: String
    ) -> PropertyForm where Value == Text? {
        checked(expected) { $0.map { String($0).wholeMatch(of: pattern()) != nil } ?? true }
    }
}

/// The text of durations.
enum DurationWords {
    /// Returns a duration in seconds, with as many digits as needed, as a source writes it: `1.5s`.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let sign = seconds < 0 || attoseconds < 0 ? "-" : ""
        let digits = "\(attoseconds.magnitude)"
        var fraction = String(repeating: "0", count: 18 - digits.count) + digits
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(sign)\(seconds.magnitude)" + (fraction.isEmpty ? "" : ".\(fraction)") + "s"
    }
}
