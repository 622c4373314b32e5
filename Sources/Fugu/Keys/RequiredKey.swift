extension PropertyKey where Value: Decodable {
    /// Returns a key without a default, whose value code, a rule, or a source has to give.
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     var databaseURL: PropertyKey<URL> { .required("database.url") }
    /// }
    /// ```
    ///
    /// The value is read like any other: `container.databaseURL`. If it's missing, `validate` throws an error for it together
    /// with all others, and a reload that takes it away is refused. A read of a missing value stops the program, and so the
    /// process of a test: set it in the test's trait.
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
    /// - Returns: The key.
    @_alwaysEmitIntoClient
    public static func required(
        _ name: String, form: @autoclosure () -> PropertyForm<Value>? = nil, isSecret: Bool = false,
        help: String? = nil, member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line,
        column: UInt = #column
    ) -> PropertyKey {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        return PropertyKey(
            interned: InternedKey.find(place, name: name) ?? intern(required: name, place, isSecret, help, form()))
    }

    @usableFromInline
    static func intern(
        required name: String, _ place: KeyPlace, _ isSecret: Bool, _ help: String?, _ form: PropertyForm<Value>?
    ) -> InternedKey {
        intern(
            place, .name(PropertyNaming(name, Value.self, isSecret: isSecret, isRequired: true, form: form)),
            { stopProgram(Messages.requiredIsMissing(name, in: .current)) }, isSecret, help, form: form,
            isRequired: true)
    }
}
