public import Fugu

extension Container {
    /// Checks the values of all declared keys.
    ///
    /// See ``declare(_:properties:)`` and ``validate(_:properties:)``.
    ///
    /// - Throws: ``PropertyErrors`` with all problems.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys. Suggestions for unknown names are limited
    ///   in number.
    public func validate() throws { try validate([DeclaredKey]()) }

    /// Checks the values of all keys at once, for example at the start of a program.
    ///
    /// The declared keys are checked, too. A value that a read would take from a source must have the type of its key.
    /// Names in files, in arguments, and in variables with the prefix must be known, also inside tables; an unknown
    /// name is reported with the nearest known one. Declarations must agree: a name has one type and one default, and two
    /// names don't share a variable. A missing value has its default and isn't an error, unless the key is
    /// ``Fugu/PropertyKey/required(_:form:isSecret:help:member:fileID:line:column:)``.
    ///
    ///     try container.validate(\.timeout, \.host, properties: Credentials.self)
    ///
    /// - Parameters:
    ///   - keys: The keys with names.
    ///   - properties: The properties with names that are types.
    /// - Throws: ``PropertyErrors`` with all problems: values in the order of the keys, then unknown names,
    ///   then declarations that disagree.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys. Suggestions for unknown names are limited
    ///   in number.
    public func validate(_ keys: any ConfigurationKey..., properties: any NamedProperty.Type...) throws {
        try validate(keys, properties)
    }

    /// Checks the values of all properties at once, where all keys are types.
    ///
    /// See ``validate(_:properties:)``.
    ///
    /// - Parameter properties: The properties with names.
    /// - Throws: ``PropertyErrors`` with all problems: values in the order of the keys, then unknown names,
    ///   then declarations that disagree.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys. Suggestions for unknown names are limited
    ///   in number.
    public func validate(_ properties: any NamedProperty.Type...) throws { try validate([], properties) }

    /// Checks the values of all keys in a list.
    ///
    /// See ``validate(_:properties:)``.
    ///
    /// - Parameters:
    ///   - keys: The keys with names.
    ///   - properties: The properties with names that are types.
    /// - Throws: ``PropertyErrors`` with all problems: values in the order of the keys, then unknown names,
    ///   then declarations that disagree.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys. Suggestions for unknown names are limited
    ///   in number.
    public func validate(_ keys: [any ConfigurationKey], _ properties: [any NamedProperty.Type] = []) throws {
        try validate(keys.map { DeclaredKey(any: $0) } + properties.compactMap { DeclaredKey.ofType($0) })
    }

    private func validate(_ keys: [DeclaredKey]) throws {
        let all = keys + declaredKeys
        let errors = mistakes(of: all.distinct, known: knownNames) + all.disagreements
        guard errors.isEmpty else { throw PropertyErrors(errors) }
    }

    /// Returns an error for each wrong or missing value, for each condition that isn't met, and for each unknown name.
    ///
    /// Every key has been used by now, so all secrets are known before any text is written.
    private func mistakes(of keys: [DeclaredKey], known names: [String]) -> [PropertyError] {
        var errors = keys.compactMap { $0.mistake(self) }
        if errors.isEmpty { errors = declaredChecks.compactMap { $0.mistake(self) } }
        let inspections = keys.map { $0.inspection(self) }
        var known = KnownNames(names + keys.compactMap(\.name) + inspections.flatMap(\.names))
        known.members = inspections.flatMap(\.members)
        errors += inspections.flatMap(\.errors)
        for case let stack as SourceStack in allSources {
            errors += stack.entries.flatMap { $0.snapshot.unknownNames(known) }
        }
        return errors
    }

    /// Throws the mistakes that declared keys would have with other sources and don't have with the present ones.
    ///
    /// `new`: The sources that are to replace those of this container.
    func check(_ new: SourceStack) throws {
        let keys = declaredKeys.distinct
        guard !keys.isEmpty || !declaredChecks.isEmpty else { return }
        let trial = Container(copying: self)
        trial.handleReports { _ in }
        let fresh = Dictionary(uniqueKeysWithValues: new.entries.map { (ObjectIdentifier($0.application), $0) })
        guard let old = SourceStack.of(trial) else { return }
        let entries = old.entries.map { fresh[ObjectIdentifier($0.application)] ?? $0 }
        guard try trial.replaceSources(old, by: SourceStack(entries)) else { return }
        let names = knownNames
        let mistakes = trial.mistakes(of: keys, known: names)
        guard !mistakes.isEmpty else { return }
        struct Subject: Hashable {
            let source, name: String?
        }
        let present = Set(self.mistakes(of: keys, known: names).map { Subject(source: $0.source, name: $0.name) })
        let errors = mistakes.filter { !present.contains(Subject(source: $0.source, name: $0.name)) }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
    }
}
