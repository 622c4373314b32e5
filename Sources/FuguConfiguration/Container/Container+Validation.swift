public import Fugu

extension Container {
    /// Checks everything that was declared; see ``declare(_:properties:)`` and ``validate(_:properties:)``.
    ///
    /// - Throws: ``PropertyErrors`` with all that is wrong.
    public func validate() throws { try validate([DeclaredKey]()) }

    /// Checks everything at once, say at the start of a program, with all keys that it knows: these and the declared ones.
    ///
    /// Wrong are values that a read would take from a source and that are not what their keys ask for; and names in files,
    /// arguments and prefixed variables that neither a key here nor anything read so far has, inside of tables too, each
    /// with the nearest known name. A value that is missing has its default and is not wrong; see
    /// ``require(_:)-(PropertyKey<Value>)``.
    ///
    ///     try container.validate(\.timeout, \.host, properties: Credentials.self)
    ///
    /// - Parameters:
    ///   - keys: All keys with names.
    ///   - properties: All properties with names that are types.
    /// - Throws: ``PropertyErrors`` with all that is wrong: values in the order of the keys, then unknown names.
    public func validate(_ keys: any ConfigurationKey..., properties: any NamedProperty.Type...) throws {
        try validate(keys, properties)
    }

    /// Checks everything at once where all keys are types; see ``validate(_:properties:)``.
    public func validate(_ properties: any NamedProperty.Type...) throws { try validate([], properties) }

    /// Checks everything at once, with keys from a list; see ``validate(_:properties:)``.
    public func validate(_ keys: [any ConfigurationKey], _ properties: [any NamedProperty.Type] = []) throws {
        try validate(keys.map { DeclaredKey(any: $0) } + properties.compactMap { DeclaredKey.ofType($0) })
    }

    /// By now every key has been touched, so that what is secret is known before anything is put in words.
    private func validate(_ keys: [DeclaredKey]) throws {
        let labels = Set(keys.map(\.label))
        let keys = keys + declaredKeys.filter { !labels.contains($0.label) }
        var errors = keys.compactMap { $0.mistake(self) }
        let inspections = keys.map { $0.inspection(self) }
        var known = KnownNames(knownNames + keys.compactMap(\.name))
        known.members = inspections.flatMap(\.members)
        errors += inspections.flatMap(\.errors)
        for case let stack as SourceStack in allSources {
            errors += stack.entries.flatMap { $0.snapshot.unknownNames(known) }
        }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
    }
}
