public import Fugu

// MARK: Keys that `ContainerKeys` declares

extension Container {
    /// Returns which value a read of a key gives, where it comes from, and what it hides.
    ///
    /// Values of secret keys are left out. The default is read if nothing else gives a value.
    ///
    /// - Parameter key: The member of `ContainerKeys` that declares the key.
    public func explain<Value>(_ key: KeyPath<ContainerKeys, PropertyKey<Value>>) -> Explanation {
        explain(ContainerKeys()[keyPath: key])
    }

    /// Returns the value of a key, which code, a rule, or a source must give: a default does not count.
    ///
    /// - Parameter key: The member of `ContainerKeys` that declares the key.
    /// - Throws: ``PropertyError`` if what a source has is not what the key asks for, or if nothing gives a value.
    public func require<Value>(_ key: KeyPath<ContainerKeys, PropertyKey<Value>>) throws -> Value {
        try require(ContainerKeys()[keyPath: key])
    }

    /// Checks everything at once, say at the start of a program, with all keys that it knows.
    ///
    /// ```swift
    /// try container.validate(\.timeout, \.host, properties: Credentials.self)
    /// ```
    ///
    /// - Parameters:
    ///   - first: The member of `ContainerKeys` that declares the first key.
    ///   - others: The members that declare the others.
    ///   - properties: All properties with names that are types.
    /// - Throws: ``PropertyErrors`` with all that is wrong: values in the order of the keys, then unknown names.
    public func validate<Key: ConfigurationKey, each Other: ConfigurationKey>(
        _ first: KeyPath<ContainerKeys, Key>, _ others: repeat KeyPath<ContainerKeys, each Other>,
        properties: any NamedProperty.Type...
    ) throws {
        let declared = ContainerKeys()
        var keys: [any ConfigurationKey] = [declared[keyPath: first]]
        for key in repeat each others { keys.append(declared[keyPath: key]) }
        try validate(keys, properties)
    }

    /// Makes keys known before anything reads them: to ``validate()``, ``explain()``, and as secrets to every error and
    /// explanation from now on.
    ///
    /// ```swift
    /// container.declare(\.port, \.password, properties: Retries.self)
    /// ```
    ///
    /// - Parameters:
    ///   - first: The member of `ContainerKeys` that declares the first key.
    ///   - others: The members that declare the others.
    ///   - properties: The properties that are types.
    public func declare<Key: ConfigurationKey, each Other: ConfigurationKey>(
        _ first: KeyPath<ContainerKeys, Key>, _ others: repeat KeyPath<ContainerKeys, each Other>,
        properties: any NamedProperty.Type...
    ) {
        let declared = ContainerKeys()
        var keys: [any ConfigurationKey] = [declared[keyPath: first]]
        for key in repeat each others { keys.append(declared[keyPath: key]) }
        declare(keys, properties)
    }
}
