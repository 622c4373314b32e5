public import Fugu

// MARK: Keys that `ContainerKeys` declares

extension Container {
    /// Explains the value that a read of a key gives: its origin, and what it hides.
    ///
    /// Values of secret keys are left out, and so are the values inside tables and structs. If nothing else gives a
    /// value, the default is evaluated.
    ///
    /// - Parameter key: The member of `ContainerKeys` that declares the key.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<Value>(_ key: KeyPath<ContainerKeys, PropertyKey<Value>>) -> Explanation {
        explain(ContainerKeys()[keyPath: key])
    }

    /// Returns the value of a key that code, a rule, or a source has to give.
    ///
    /// The default doesn't count.
    ///
    /// - Parameter key: The member of `ContainerKeys` that declares the key.
    /// - Returns: The value.
    /// - Throws: ``PropertyError`` if a source has a value of another type, or if nothing gives a value.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func require<Value>(_ key: KeyPath<ContainerKeys, PropertyKey<Value>>) throws -> Value {
        try require(ContainerKeys()[keyPath: key])
    }

    /// Checks the values of all keys at once, for example at the start of a program.
    ///
    /// ```swift
    /// try container.validate(\.timeout, \.host, properties: Credentials.self)
    /// ```
    ///
    /// List every key that isn't declared: a name in a source is an error unless its key is listed, declared, or was read before.
    ///
    /// - Parameters:
    ///   - first: The member of `ContainerKeys` that declares the first key.
    ///   - others: The members that declare the other keys.
    ///   - properties: The properties with names that are types.
    /// - Throws: ``PropertyErrors`` with all problems: values in the order of the keys, then unknown names,
    ///   then declarations that disagree.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys.
    public func validate<Key: ConfigurationKey, each Other: ConfigurationKey>(
        _ first: KeyPath<ContainerKeys, Key>, _ others: repeat KeyPath<ContainerKeys, each Other>,
        properties: any NamedProperty.Type...
    ) throws {
        let declared = ContainerKeys()
        var keys: [any ConfigurationKey] = [declared[keyPath: first]]
        for key in repeat each others { keys.append(declared[keyPath: key]) }
        try validate(keys, properties)
    }

    /// Declares keys before anything reads them.
    ///
    /// ``validate()`` and ``explain()`` then know them, and errors and explanations protect those that are secrets.
    ///
    /// ```swift
    /// container.declare(\.port, \.password, properties: Retries.self)
    /// ```
    ///
    /// - Parameters:
    ///   - first: The member of `ContainerKeys` that declares the first key.
    ///   - others: The members that declare the other keys.
    ///   - properties: The properties that are types.
    /// - Complexity: O(*k*) for *k* keys that are declared here, now and before.
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
