public import Fugu

extension Container {
    /// Checks everything at once, say at the start of a program, with all keys that it knows.
    ///
    /// Wrong are values that a read would take from a source and that are not what their keys ask for; and names in files
    /// and arguments that neither a key here nor anything read so far has, each with the nearest known name. A value that
    /// is missing has its default and is not wrong; see ``require(_:)-(PropertyKey<Value>)``.
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
        var errors = keys.compactMap { $0.mistake(in: self) }
        errors += properties.compactMap { mistake(of: $0) }
        let known = Set(knownNames + keys.compactMap(\.name) + properties.map { $0.name }).sorted()
        for case let stack as SourceStack in allSources {
            errors += stack.entries.flatMap { $0.snapshot.unknownNames(known: known) }
        }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
    }

    private func mistake<P: NamedProperty>(of property: P.Type) -> PropertyError? {
        answer(layers(of: property)).mistake
    }
}
