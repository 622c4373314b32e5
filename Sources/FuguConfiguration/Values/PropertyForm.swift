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
