/// A key for a property, declared as a computed member of ``ContainerKeys``.
///
/// ```swift
/// extension ContainerKeys {
///     var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
///     var user: PropertyKey<String?> { .init() }
/// }
/// ```
///
/// A key is identified by the place in the source where it's created, by the type of its value, and by its `id`. A computed member
/// is therefore the same key at each use. With `FuguConfiguration`, keys can have names, for which containers ask their sources; such
/// a key is identified by its name and the type of its value. Keys that are made in a loop or in a function with parameters need an
/// `id` each:
///
/// ```swift
/// let keys = (0..<3).map { PropertyKey(defaultValue: 0, id: $0) }
///
/// func limit(of user: String) -> PropertyKey<Int> { PropertyKey(defaultValue: 10, id: user) }
///
/// container[limit(of: "ada")] = 20
/// ```
///
/// A function with parameters that makes a key without an `id` stops the program, since all its arguments would give the
/// same key. A function that makes the keys of others takes the member and the place of its caller and passes them on:
///
/// ```swift
/// func limit(
///     _ value: Int, member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line,
///     column: UInt = #column
/// ) -> PropertyKey<Int> {
///     PropertyKey(defaultValue: value, member: member, fileID: fileID, line: line, column: column)
/// }
/// ```
///
/// The arguments of the first key at a place are kept for the life of the process.
@frozen public struct PropertyKey<Value: Sendable>: PlainValueKey {
    @usableFromInline let interned: InternedKey

    /// The identity of the key.
    @inlinable var raw: UInt { interned.raw }

    @inlinable package init(interned: InternedKey) { self.interned = interned }

    /// Creates a key without a name.
    ///
    /// In a function with parameters, give the key an `id`; otherwise, the program stops with a message.
    ///
    /// - Parameters:
    ///   - defaultValue: The value while nothing is set. It's evaluated at the first read in each family of containers, and again
    ///     when something changes that it reads from ``Container/current``.
    ///   - isSecret: A Boolean value that indicates whether the value must never be printed.
    ///   - id: A value that differs between the keys of one place in the source that creates several keys.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    /// - Complexity: O(1), without a lock after the key was created once.
    @_alwaysEmitIntoClient @inline(__always)
    public init<ID: Hashable & Sendable>(
        defaultValue: @autoclosure @escaping @Sendable () -> Value, isSecret: Bool = false, id: ID = NoID(),
        member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        interned =
            InternedKey.find(place, orID: id) ?? Self.intern(place, KeyDistinction(id), defaultValue, isSecret)
    }

    /// Creates a key without a name whose value is `nil` unless it's set.
    ///
    /// In a function with parameters, give the key an `id`; otherwise, the program stops with a message.
    ///
    /// - Parameters:
    ///   - isSecret: A Boolean value that indicates whether the value must never be printed.
    ///   - id: A value that differs between the keys of one place in the source that creates several keys.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    @_alwaysEmitIntoClient @inline(__always)
    public init<ID: Hashable & Sendable>(
        isSecret: Bool = false, id: ID = NoID(), member: StaticString = #function,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) where Value: ExpressibleByNilLiteral {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        interned = InternedKey.find(place, orID: id) ?? Self.intern(place, KeyDistinction(id), { nil }, isSecret)
    }
}

extension PropertyKey {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public var _key: KeyDefinition { descriptor.definition(of: Key(raw: raw))! }

    /// Returns the key that was first created with this name.
    package static func existing(_ name: String) -> PropertyKey? {
        ValueKeys.existing(name, type: Value.self).map { PropertyKey(interned: $0) }
    }

    /// The name that suppliers need, if the key has one.
    package var naming: (any KeyNaming)? { descriptor.naming }
    /// A Boolean value that indicates whether this declaration says that the value must never be printed.
    package var isDeclaredSecret: Bool { descriptor.isSecret }
    /// A Boolean value that indicates whether the key has no default.
    package var isRequired: Bool { descriptor.isRequired }
    /// A Boolean value that indicates whether a required key has a value for tests.
    package var hasTestValue: Bool { descriptor.testValue != nil }
    /// The name in messages.
    package var label: String { descriptor.label }
    /// The place in the program that creates the key.
    package var place: String {
        let place = descriptor.place
        return "\(place.fileID):\(place.line):\(place.column)"
    }

    var descriptor: PropertyDescriptor<Value> { interned.descriptor() }

    @usableFromInline
    package static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ defaultValue: @escaping @Sendable () -> Value,
        _ isSecret: Bool, isRequired: Bool = false, testValue: (@Sendable () -> Value)? = nil
    ) -> InternedKey {
        ValueKeys.intern(
            place, distinction,
            PropertyDescriptor(
                place: place, distinction: distinction, defaultValue: defaultValue, isSecret: isSecret,
                isRequired: isRequired, testValue: testValue))
    }
}

/// The arguments that a property key was created with.
final class PropertyDescriptor<Value: Sendable>: ValueKeyDescriptor {
    let place: KeyPlace
    let distinction: KeyDistinction?
    let defaultValue: @Sendable () -> Value
    let isSecret: Bool
    /// Whether there's no default.
    let isRequired: Bool
    /// What a required key has in a test.
    let testValue: (@Sendable () -> Value)?

    init(
        place: KeyPlace, distinction: KeyDistinction?, defaultValue: @escaping @Sendable () -> Value, isSecret: Bool,
        isRequired: Bool, testValue: (@Sendable () -> Value)?
    ) {
        self.place = place
        self.distinction = distinction
        self.defaultValue = defaultValue
        self.isSecret = isSecret
        self.isRequired = isRequired
        self.testValue = testValue
    }

    /// Returns the request for the key, which a strict container refuses without a value, as it does what's external.
    func request(_ key: UInt) -> Request {
        var placeholder: (@Sendable (Container) -> Payload)?
        if let testValue {
            placeholder = { _ in Payload(testValue()) }
        } else if isRequired, Container.isTested, let empty = emptyValue(of: Value.self) {
            placeholder = { _ in Payload(empty) }
        }
        let traits = KeyTraits(reloads: true, isExternal: isRequired, hasTestValue: testValue != nil)
        return Request(key, traits, placeholder: placeholder)
    }

    var typeName: String { "PropertyKey<\(Value.self)>" }
    var valueType: Any.Type { Value.self }
    var traits: KeyTraits { KeyTraits(isRequired: isRequired, isSecret: isSecret || naming?.isHidden == true) }
    func definition(of key: Key) -> KeyDefinition? {
        let naming = naming
        return KeyDefinition(
            key.raw,
            .plain {
                try $0.answer($1, of: naming, { self.request(key.raw) }, { _ in Payload(self.defaultValue()) })
            }, naming: naming)
    }
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? {
        teller.text(of: payload.value(as: Value.self))
    }
}

/// A type that describes values as text.
package protocol ValueTeller {
    func text<Value>(of value: Value) -> String
}

extension Key {
    /// Returns a property's value as text.
    package func tell(_ payload: Payload, by teller: any ValueTeller) -> String? {
        guard let type else { return ValueKeys.descriptor(of: self).tell(payload, by: teller) }
        return (type as? any Property.Type)?.tell(payload, by: teller)
    }
}

extension Property {
    fileprivate static func tell(_ payload: Payload, by teller: any ValueTeller) -> String {
        teller.text(of: payload.value(as: Value.self))
    }
}
