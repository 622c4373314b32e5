/// A value that a container holds under this type's name.
///
///     struct Timeout: Property { static var defaultValue: Duration { .seconds(30) } }
///     container[Timeout.self] = .seconds(5)
///
/// `defaultValue` is evaluated at the first read in each family of containers and kept until it is reset.
public protocol Property {
    /// What is held. Classes are shared, everything else is copied.
    associatedtype Value: Sendable
    /// The value while nothing was set. Runs at most once at a time for a container and without any lock held.
    static var defaultValue: Value { get }
    /// Whether the value must never be printed, by no error, report, graph or description. False unless said.
    static var isSecret: Bool { get }
    /// How sources are asked for it; declared by ``NamedProperty``. Not for use outside this library.
    static var _naming: PropertyNaming? { get }
}

extension Property {
    /// No: the value may be printed.
    public static var isSecret: Bool { false }
    /// Nothing: sources are not asked for it. Not for use outside this library.
    public static var _naming: PropertyNaming? { nil }
}

/// A property that sources may supply under a dotted name, `api.timeout`.
public protocol NamedProperty: Property where Value: Decodable {
    /// The dotted path under which sources are asked.
    static var name: String { get }
}

extension NamedProperty {
    /// Its name and how it is decoded. Not for use outside this library.
    public static var _naming: PropertyNaming? { PropertyNaming(name, Value.self, isSecret: isSecret) }
}

/// The namespace for value keys of properties: a static constant here is all it takes.
///
///     extension Properties { static let timeout = PropertyKey(defaultValue: 30) }
///     container.timeout = 5
public enum Properties {}

/// Names a property by a value instead of a type.
///
/// Two keys are the same if they are copies of one another, or if they have the same name and the same type of value.
/// What a key was made with is kept for the life of the process: declare keys as static constants.
@frozen public struct PropertyKey<Value: Sendable>: Sendable, Hashable {
    @usableFromInline let raw: UInt
    let index: UInt

    /// A key without a name.
    /// - Parameters:
    ///   - defaultValue: Evaluated at the first read in each family of containers.
    ///   - isSecret: Whether the value must never be printed.
    ///   - fileID: Names the key in messages, with `line`.
    ///   - line: Names the key in messages, with `fileID`.
    public init(
        defaultValue: @autoclosure @escaping @Sendable () -> Value, isSecret: Bool = false,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(nil, defaultValue, isSecret, fileID, line)
    }

    /// A key that sources may supply under a dotted name.
    public init(
        _ name: String, defaultValue: @autoclosure @escaping @Sendable () -> Value, isSecret: Bool = false,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: Decodable {
        self.init(PropertyNaming(name, Value.self, isSecret: isSecret), defaultValue, isSecret, fileID, line)
    }

    /// A key without a name, nil unless set.
    public init(
        isSecret: Bool = false, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: ExpressibleByNilLiteral {
        self.init(nil, { nil }, isSecret, fileID, line)
    }

    /// A key that sources may supply under a dotted name, nil unless they or code do.
    public init(
        _ name: String, isSecret: Bool = false, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value: ExpressibleByNilLiteral & Decodable {
        self.init(PropertyNaming(name, Value.self, isSecret: isSecret), { nil }, isSecret, fileID, line)
    }

    private init(
        _ naming: PropertyNaming?, _ defaultValue: @escaping @Sendable () -> Value, _ isSecret: Bool,
        _ fileID: StaticString, _ line: UInt
    ) {
        let descriptor = PropertyDescriptor(
            naming: naming, defaultValue: defaultValue, isSecret: isSecret, fileID: fileID, line: line)
        (raw, index) = ValueKeys.register(descriptor, name: naming?.name, type: Value.self, kind: .property)
    }

    /// The dotted path under which sources are asked, if there is one.
    public var name: String? { descriptor.naming?.name }

    /// The key of this name, whoever made it first.
    package static func existing(_ name: String) -> PropertyKey? {
        ValueKeys.existing(name, type: Value.self).map { PropertyKey(raw: $0.key, index: $0.index) }
    }

    /// A key for those who ask by name: nil unless something gives a value, and with nothing in its errors, since nobody
    /// has said whether it is a secret.
    package static func untyped<Wrapped: Decodable & Sendable>(_ name: String) -> PropertyKey where Value == Wrapped? {
        if let known = existing(name) { return known }
        let naming = PropertyNaming(name, Value.self, isSecret: true, isDeclared: false)
        return PropertyKey(naming, { nil }, false, #fileID, #line)
    }

    private init(raw: UInt, index: UInt) { (self.raw, self.index) = (raw, index) }

    /// How sources are asked for it, if it has a name.
    package var naming: PropertyNaming? { descriptor.naming }
    /// Whether its value must never be printed.
    package var isSecret: Bool { descriptor.isSecret || naming?.isSecret == true }
    /// What messages call it.
    package var label: String { descriptor.label }

    var descriptor: PropertyDescriptor<Value> { ValueKeys.descriptor(at: index) as! PropertyDescriptor<Value> }

    /// Whether both are copies of one key, or have the same name and the same type of value.
    public static func == (left: Self, right: Self) -> Bool { left.raw == right.raw }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(raw) }
}

/// What a property key was made with.
struct PropertyDescriptor<Value: Sendable>: ValueKeyDescriptor {
    let naming: PropertyNaming?
    let defaultValue: @Sendable () -> Value
    let isSecret: Bool
    let fileID: StaticString
    let line: UInt

    var label: String { naming?.name ?? "PropertyKey<\(Value.self)> (\(fileID):\(line))" }
}
