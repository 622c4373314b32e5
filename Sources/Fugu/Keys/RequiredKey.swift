extension PropertyKey {
    /// Returns a key without a name and without a default, whose value code has to give.
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     var session: PropertyKey<Session> { .required { Session() } }
    /// }
    ///
    /// try await container.withChild { $0.session = Session() } operation: { print($0.session) }
    /// ```
    ///
    /// A read of a missing value stops the program. A read in a strict container, that of a test, gives the value for tests; without
    /// one, it fails the test and gives the empty value of a type that has one, such as zero, no text, or `nil`. For another type, it stops the
    /// process, because it can't throw and has nothing to give. In a function with parameters, give the key an `id`; otherwise, the
    /// program stops with a message.
    ///
    /// - Parameters:
    ///   - isSecret: A Boolean value that indicates whether the value must never be printed.
    ///   - id: A value that differs between the keys of one place in the source that creates several keys.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    ///   - testValue: A closure that returns the value for tests and for Xcode previews that nothing gives.
    /// - Returns: The key.
    @_alwaysEmitIntoClient
    public static func required<ID: Hashable & Sendable>(
        isSecret: Bool = false, id: ID = NoID(), member: StaticString = #function, fileID: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column, testValue: (@Sendable () -> Value)? = nil
    ) -> PropertyKey {
        let place = KeyPlace(Value.self, .property, member, fileID, line, column)
        return PropertyKey(
            interned: InternedKey.find(place, orID: id)
                ?? intern(required: place, KeyDistinction(id), isSecret, testValue))
    }

    @usableFromInline
    static func intern(
        required place: KeyPlace, _ distinction: KeyDistinction?, _ isSecret: Bool,
        _ testValue: (@Sendable () -> Value)?
    ) -> InternedKey {
        intern(place, distinction, requiredDefault(testValue), isSecret, isRequired: true, testValue: testValue)
    }

    /// Returns the default of a required key, which gives the value for tests, if there's one, or stops the program.
    ///
    /// - `fix`: How to give the value, unless only code can.
    package static func requiredDefault(
        _ testValue: (@Sendable () -> Value)?, fix: String? = nil
    ) -> @Sendable () -> Value {
        {
            if let testValue, Container.current.givesTestValue { return testValue() }
            Container.stopWithoutRequired(fix ?? Messages.requiredFix)
        }
    }
}

/// Returns the empty value of a type that has one, for a test that has failed already: `nil`, `false`, zero, or nothing in a collection.
func emptyValue<Value>(of type: Value.Type) -> Value? {
    func none<V: ExpressibleByNilLiteral>(_: V.Type) -> Any { V(nilLiteral: ()) }
    func zero<V: AdditiveArithmetic>(_: V.Type) -> Any { V.zero }
    func list<V: RangeReplaceableCollection>(_: V.Type) -> Any { V() }
    func set<V: SetAlgebra>(_: V.Type) -> Any { V() }
    func dictionary<V: ExpressibleByDictionaryLiteral>(_: V.Type) -> Any { V() }
    let value: Any? =
        switch type {
        case is Bool.Type: false
        case let type as any ExpressibleByNilLiteral.Type: none(type)
        case let type as any AdditiveArithmetic.Type: zero(type)
        case let type as any RangeReplaceableCollection.Type: list(type)
        case let type as any SetAlgebra.Type: set(type)
        case let type as any ExpressibleByDictionaryLiteral.Type: dictionary(type)
        default: nil
        }
    return value as? Value
}
