public import Fugu

extension PropertyKey where Value: Decodable {
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
    ) {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        if let known = InternedKey.find(place, name: name) {
            self.init(interned: known)
        } else {
            self.init(interned: Self.intern(named: name, place, defaultValue, isSecret, help, form()))
        }
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
    ) where Value: ExpressibleByNilLiteral {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        self.init(
            interned: InternedKey.find(place, name: name)
                ?? Self.intern(named: name, place, { nil }, isSecret, help, form()))
    }

    /// Returns a key without a default, whose value code, a rule, or a source has to give.
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     var databaseURL: PropertyKey<URL> { .required("database.url") }
    /// }
    /// ```
    ///
    /// The value is read like any other: `container.databaseURL`. If it's missing, `validate` throws an error for it together
    /// with all others, and a reload that takes it away is refused. A read of a missing value stops the program; `require` throws
    /// instead. A read in a strict container, that of a test, gives the value for tests; without one, it fails the test and gives
    /// the empty value of a type that has one, and stops the process otherwise, because it can't throw and has nothing to give.
    ///
    /// - Parameters:
    ///   - name: The dotted path that sources look up.
    ///   - form: The form of the values that sources may supply.
    ///   - isSecret: A Boolean value that indicates whether the value must never be printed.
    ///   - help: A line that describes the value, as `--help` and sample files show it.
    ///   - testValue: A closure that returns the value for tests and for Xcode previews that nothing gives.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    /// - Returns: The key.
    @_alwaysEmitIntoClient
    public static func required(
        _ name: String, form: @autoclosure () -> PropertyForm<Value>? = nil, isSecret: Bool = false,
        help: String? = nil, testValue: (@Sendable () -> Value)? = nil, member: StaticString = #function,
        fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> PropertyKey {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        return PropertyKey(
            interned: InternedKey.find(place, name: name)
                ?? intern(required: name, place, isSecret, help, form(), testValue))
    }

    @usableFromInline
    static func intern(
        named name: String, _ place: KeyPlace, _ defaultValue: @escaping @Sendable () -> Value, _ isSecret: Bool,
        _ help: String?, _ form: PropertyForm<Value>?
    ) -> InternedKey {
        let naming = PropertyNaming(name, Value.self, isSecret: isSecret, form: form, help: help)
        return intern(place, .name(naming), defaultValue, isSecret)
    }

    @usableFromInline
    static func intern(
        required name: String, _ place: KeyPlace, _ isSecret: Bool, _ help: String?, _ form: PropertyForm<Value>?,
        _ testValue: (@Sendable () -> Value)?
    ) -> InternedKey {
        let naming = PropertyNaming(
            name, Value.self, isSecret: isSecret, isRequired: true, form: form, help: help)
        return intern(
            place, .name(naming), requiredDefault(testValue, fix: ErrorText.requiredFix), isSecret, isRequired: true,
            testValue: testValue)
    }
}

extension PropertyKey {
    /// Returns a key for a read by name, whose value is `nil` unless a source has one.
    ///
    /// Its errors quote no value, because it isn't known whether the value is a secret.
    static func untyped<Wrapped: Decodable & Sendable>(_ name: String) -> PropertyKey where Value == Wrapped? {
        if let known = existing(name) { return known }
        let naming = PropertyNaming(name, Value.self, isSecret: true, isDeclared: false)
        let place = KeyPlace(Value.self, .property, #function, #fileID, #line, #column)
        return PropertyKey(interned: intern(place, .name(naming), { nil }, false))
    }

    /// What sources need to know, if the key has a name.
    var propertyNaming: PropertyNaming? { naming as? PropertyNaming }
    /// The dotted path that sources look up, if the key has one.
    package var name: String? { naming?.name }
    /// The key's name, or if it has none, its name in messages.
    var shownName: String { name ?? label }
    /// A Boolean value that indicates whether the value must never be printed.
    var isSecret: Bool { isDeclaredSecret || propertyNaming?.isSecret == true }
    /// A line that describes the value, if the key has one.
    var help: String? { propertyNaming?.help }
    /// The form of the values that sources may supply, if the key has one.
    var form: PropertyForm<Value>? { propertyNaming?.form as? PropertyForm<Value> }
    /// Whether the members of a table come from all sources.
    var isMerged: Bool { form?.mergesTables == true }
}

/// The name of a key, and how to ask sources for it.
final class PropertyNaming: KeyNaming {
    /// The dotted path of the key.
    package let name: String
    private let isSecretItself: Bool
    /// Whether the value must never be printed, because this name, one inside it, or one around it is secret.
    var isSecret: Bool { isSecretItself || SecretNames.concern(name) }
    /// Whether a graph must not show the value, because the name is secret, or because a source has supplied it as a secret.
    package var isHidden: Bool { isSecret || SecretNames.isSupplied(name) }
    /// Whether there's no default, so that a read stops the program if nothing gives a value.
    let isRequired: Bool
    /// The form of the values that sources may supply, a `PropertyForm` of the key's type.
    let form: (any Sendable)?
    /// The description of the value for `--help` and sample files.
    let help: String?
    private let answer: @Sendable (SourceStack, _ isSecret: Bool) -> SuppliedValue

    /// `isDeclared`: Whether the key's declaration says `isSecret`, so that it applies to other keys of that name;
    /// `false` if it's only a precaution.
    init<Value: Decodable & Sendable>(
        _ name: String, _: Value.Type, isSecret: Bool, isDeclared: Bool = true, isRequired: Bool = false,
        form: PropertyForm<Value>? = nil, help: String? = nil
    ) {
        self.name = name
        self.isRequired = isRequired
        self.form = form
        self.help = help
        isSecretItself = isSecret
        if isSecret, isDeclared { SecretNames.add(name) }
        answer = { sources, isSecret in
            sources.answer(name, as: Value.self, form: form, isSecret: isSecret, isRequired: isRequired)
                .map { $0.map { Payload($0) } }
        }
    }

    package func ask(_ supplier: any ValueSupplier) -> SuppliedValue {
        guard let sources = supplier as? SourceStack else { return .success(nil) }
        return answer(sources, isSecret)
    }
}
