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
    /// ``/Fugu/PropertyKey/required(_:form:isSecret:help:member:fileID:line:column:)``.
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
        try validate(keys.map { DeclaredKey(any: $0) } + properties.map { DeclaredKey($0) })
    }

    private func validate(_ keys: [DeclaredKey]) throws {
        let all = keys + declaredKeys
        let stacks = allSources.compactMap { $0 as? SourceStack }
        let found = findings(about: all.distinct, in: stacks.flatMap(\.entries), KnownNames(all, knownNames))
        let errors = found + all.disagreements
        guard errors.isEmpty else { throw PropertyErrors(errors) }
    }

    /// Returns an error for each wrong or missing value, for each condition that isn't met, and for each unknown name.
    ///
    /// Every key has been used by now, so all secrets are known before any text is written.
    private func findings(
        about keys: [DeclaredKey], in entries: [SourceStack.Entry], _ known: KnownNames
    ) -> [PropertyError] {
        var errors = keys.compactMap { $0.mistake(self) }
        // A condition may read any declared key.
        let checks = declaredChecks
        if errors.isEmpty, !checks.isEmpty, declaredKeys.distinct.allSatisfy({ $0.mistake(self) == nil }) {
            errors = checks.compactMap { $0.mistake(self) }
        }
        let inspections = keys.map { $0.inspection(self) }
        var known = known
        known.members = inspections.flatMap(\.members)
        return errors + inspections.flatMap(\.errors) + entries.flatMap { $0.snapshot.unknownNames(known) }
    }

    /// Throws the errors that other sources would cause and the present ones don't.
    ///
    /// Only keys whose values differ and sources that were read again are checked.
    func check(_ new: SourceStack, over old: SourceStack) throws {
        let (declared, checks) = (declaredKeys, declaredChecks)
        guard !declared.isEmpty || !checks.isEmpty else { return }
        let keys = declared.distinct.filter { $0.name.map { !new.holdsTheSame($0, as: old) } ?? false }
        let known = KnownNames(declared, knownNames)
        let after = zip(old.entries, new.entries).filter { $0 !== $1 }.map(\.1)
        var errors: [PropertyError]
        if keys.isEmpty, checks.isEmpty {
            errors = after.flatMap { $0.snapshot.unknownNames(known) }
        } else {
            errors = try trial(of: new, over: old).findings(about: keys, in: after, known)
        }
        guard !errors.isEmpty else { return }
        struct Subject: Hashable {
            let source, name: String?
            init(_ error: PropertyError) { (source, name) = (error.source, error.name) }
        }
        let present = Set(findings(about: keys, in: old.entries, known).map(Subject.init))
        errors.removeAll { present.contains(Subject($0)) }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
    }

    /// Returns a copy of this container with other sources.
    private func trial(of new: SourceStack, over old: SourceStack) throws -> Container {
        let trial = Container(copying: self)
        trial.handleReports { _ in }
        guard let copied = SourceStack.of(trial) else { return trial }
        let fresh = Dictionary(uniqueKeysWithValues: zip(old.entries.map(ObjectIdentifier.init), new.entries))
        let entries = copied.entries.map { fresh[ObjectIdentifier($0)] ?? $0 }
        _ = try trial.replaceSources(copied, by: SourceStack(entries))
        return trial
    }
}

extension KnownNames {
    fileprivate init(_ keys: [DeclaredKey], _ read: [String]) {
        self.init(read + keys.flatMap { ($0.name.map { [$0] } ?? []) + $0.memberNames })
    }
}
