/// A key for a property, declared as a computed member of ``ContainerKeys``.
///
/// ```swift
/// extension ContainerKeys {
///     var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
///     var baseURL: PropertyKey<String?> { .init("api.base_url") }
/// }
/// ```
///
/// A key is identified by its name and the type of its value. A key without a name is identified by the place in the source where
/// it's created, by the type of its value, and by its `id`. A computed member is therefore the same key at each use. Keys that
/// are made in a loop or in a function with parameters need an `id` each:
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

    @inlinable init(interned: InternedKey) { self.interned = interned }

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

    /// Creates a key that sources may supply under a dotted name.
    ///
    /// - Parameters:
    ///   - name: The dotted path that sources look up.
    ///   - defaultValue: The value while neither code nor a source gives one.
    ///   - form: The form of the values that sources may supply.
    ///   - isSecret: A Boolean value that indicates whether the value must never be printed.
    ///   - help: A line that describes the value, as `--help` and sample files show it.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    @_alwaysEmitIntoClient
    public init(
        _ name: String, defaultValue: @autoclosure @escaping @Sendable () -> Value,
        form: @autoclosure () -> PropertyForm<Value>? = nil, isSecret: Bool = false, help: String? = nil,
        member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) where Value: Decodable {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        if let known = InternedKey.find(place, name: name) {
            interned = known
        } else {
            interned = Self.intern(named: name, place, defaultValue, isSecret, help, form())
        }
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

    /// Creates a key that sources may supply under a dotted name; its value is `nil` unless they or code give one.
    ///
    /// - Parameters:
    ///   - name: The dotted path that sources look up.
    ///   - form: The form of the values that sources may supply.
    ///   - isSecret: A Boolean value that indicates whether the value must never be printed.
    ///   - help: A line that describes the value, as `--help` and sample files show it.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    @_alwaysEmitIntoClient
    public init(
        _ name: String, form: @autoclosure () -> PropertyForm<Value>? = nil, isSecret: Bool = false,
        help: String? = nil, member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line,
        column: UInt = #column
    ) where Value: ExpressibleByNilLiteral & Decodable {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        interned =
            InternedKey.find(place, name: name) ?? Self.intern(named: name, place, { nil }, isSecret, help, form())
    }
}

extension PropertyKey {
    /// The dotted path that sources look up, if the key has one.
    package var name: String? { naming?.name }

    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public var _key: KeyDefinition {
        KeyDefinition(
            raw, .plain { try $0.answer($1, { Request(self) }, { _ in Payload(descriptor.defaultValue()) }) },
            naming: { descriptor.naming })
    }

    /// Returns the key that was first created with this name.
    package static func existing(_ name: String) -> PropertyKey? {
        ValueKeys.existing(name, type: Value.self).map { PropertyKey(interned: $0) }
    }

    /// Returns a key for a read by name, whose value is `nil` unless a source has one.
    ///
    /// Its errors quote no value, because it isn't known whether the value is a secret.
    package static func untyped<Wrapped: Decodable & Sendable>(_ name: String) -> PropertyKey where Value == Wrapped? {
        if let known = existing(name) { return known }
        let naming = PropertyNaming(name, Value.self, isSecret: true, isDeclared: false)
        let place = KeyPlace(Value.self, .property, #function, #fileID, #line, #column)
        return PropertyKey(interned: intern(place, .name(naming), { nil }, false))
    }

    /// The name and type that sources need, if the key has a name.
    package var naming: PropertyNaming? { descriptor.naming }
    /// A Boolean value that indicates whether the value must never be printed.
    package var isSecret: Bool { isDeclaredSecret || naming?.isSecret == true }
    /// A Boolean value that indicates whether this declaration says that the value must never be printed.
    package var isDeclaredSecret: Bool { descriptor.isSecret }
    /// A line that describes the value, if the key has one.
    package var help: String? { descriptor.help }
    /// The form of the values that sources may supply, if the key has one.
    package var form: PropertyForm<Value>? { descriptor.form }
    /// A Boolean value that indicates whether the key has no default.
    package var isRequired: Bool { descriptor.isRequired }
    /// The name in messages.
    package var label: String { descriptor.label }
    /// The place in the program that creates the key.
    package var place: String {
        let place = descriptor.place
        return "\(place.fileID):\(place.line):\(place.column)"
    }

    var descriptor: PropertyDescriptor<Value> { interned.descriptor() }

    @usableFromInline
    static func intern(
        named name: String, _ place: KeyPlace, _ defaultValue: @escaping @Sendable () -> Value, _ isSecret: Bool,
        _ help: String?, _ form: PropertyForm<Value>?
    ) -> InternedKey where Value: Decodable {
        let naming = PropertyNaming(name, Value.self, isSecret: isSecret, form: form)
        return intern(place, .name(naming), defaultValue, isSecret, help, form: form)
    }

    @usableFromInline
    static func intern(
        _ place: KeyPlace, _ distinction: KeyDistinction?, _ defaultValue: @escaping @Sendable () -> Value,
        _ isSecret: Bool, _ help: String? = nil, form: PropertyForm<Value>? = nil, isRequired: Bool = false
    ) -> InternedKey {
        ValueKeys.intern(
            place, distinction,
            PropertyDescriptor(
                place: place, distinction: distinction, defaultValue: defaultValue, isSecret: isSecret, help: help,
                form: form, isRequired: isRequired))
    }
}

/// The arguments that a property key was created with.
final class PropertyDescriptor<Value: Sendable>: ValueKeyDescriptor {
    let place: KeyPlace
    let distinction: KeyDistinction?
    let defaultValue: @Sendable () -> Value
    let isSecret: Bool
    /// The description of the value for `--help` and sample files.
    let help: String?
    /// The form of the values that sources may supply.
    let form: PropertyForm<Value>?
    /// Whether there's no default.
    let isRequired: Bool

    init(
        place: KeyPlace, distinction: KeyDistinction?, defaultValue: @escaping @Sendable () -> Value, isSecret: Bool,
        help: String?, form: PropertyForm<Value>?, isRequired: Bool
    ) {
        self.place = place
        self.distinction = distinction
        self.defaultValue = defaultValue
        self.isSecret = isSecret
        self.help = help
        self.form = form
        self.isRequired = isRequired
    }

    var typeName: String { "PropertyKey<\(Value.self)>" }
}
