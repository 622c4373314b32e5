/// The form of the values that a key accepts from sources, beyond their type; its constructors are in `FuguConfiguration`.
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
    package typealias Check = (expected: String, isMet: @Sendable (Value) -> Bool)

    package var check: Check?
    /// How texts of variables, arguments, and `.env` files are read.
    package var text = PropertyTextForm()
    /// Whether the members of a table come from all sources.
    package var mergesTables = false

    package init() {}
}

/// The way in which the text of a variable or an argument is read.
package struct PropertyTextForm: Sendable, Equatable {
    /// The character between two words, or `nil` for a comma.
    package var separator: Character?
    package var acceptsAnyBoolean = false

    package init() {}
}

/// The only view that a container has of its sources: it passes a name and a type, and gets a value or an error.
///
/// Calls come from any thread, outside every lock; an object always gives the same answers.
package protocol ValueSources: AnyObject, Sendable {
    func answer<Value: Decodable & Sendable>(
        _ name: String, as: Value.Type, form: PropertyForm<Value>?, isSecret: Bool
    ) -> SourceAnswer<Value>
    /// Returns a Boolean value that indicates whether a name has the same value as in `others`, so that observers
    /// needn't be notified.
    func holdsTheSame(_ name: String, as others: any ValueSources) -> Bool
    /// Returns the same sources for a copy of their container, followed by `others`, which are of a container further up.
    func copied(over others: (any ValueSources)?) -> any ValueSources
}

/// The answer of sources for a name: a value, or `nil`, or the error of a value that can't be used; a read then gets the default and
/// reports the error once.
package typealias SourceAnswer<Value: Sendable> = Result<Value?, any Error>
