public import Fugu

extension Container {
    /// Checks the values of the declared keys and of others at once, for example at the start of a program.
    ///
    /// A value that a read would take from a source must have the type and the form of its key, and one that code or a rule has
    /// set must have the form. Names in files, in arguments, and in variables
    /// with the prefix must be those of keys that are listed, declared, or were read before, also inside tables; an unknown name
    /// is an error that suggests the nearest known one. In a table that can't be decoded, only the first wrong member is found,
    /// and no unknown one. Declarations must agree: a name has one type, one default, and one form, and two names don't share a
    /// variable. A missing value has its default and isn't an error, unless the key is
    /// ``Fugu/PropertyKey/required(_:form:isSecret:help:testValue:member:fileID:line:column:)``.
    ///
    /// ```swift
    /// try container.validate()
    /// try container.validate(\.timeout, \.host)
    /// ```
    ///
    /// - Parameter keys: Key paths to keys that aren't declared.
    /// - Throws: ``PropertyErrors`` with all problems, or the first fifty and their number: values in the order of the keys, then
    ///   unknown names, then declarations that disagree.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys. Suggestions for unknown names are limited
    ///   in number.
    public func validate<each Value: Decodable>(_ keys: repeat KeyPath<ContainerKeys, PropertyKey<each Value>>) throws {
        try validate(DeclaredKey.list(repeat each keys))
    }

    /// Checks the values of the declared keys and of those in a list at once.
    ///
    /// - Parameter keys: Keys that aren't declared.
    /// - Throws: ``PropertyErrors`` with all problems, or the first fifty and their number: values in the order of the keys, then
    ///   unknown names, then declarations that disagree.
    /// - Complexity: O(*n* + *k*) for *n* names in the sources and *k* keys. Suggestions for unknown names are limited
    ///   in number.
    public func validate(_ keys: [any ConfigurationKey]) throws { try validate(keys.map { DeclaredKey(any: $0) }) }

    private func validate(_ keys: [DeclaredKey]) throws {
        let all = keys + declaredKeys
        var mistakes = Mistakes()
        mistakes.add(all.distinct.lazy.compactMap { $0.mistake(self) ?? $0.refusal(self) })
        // A condition may read any declared key.
        if mistakes.count == 0 { mistakes.add(declaredChecks.lazy.compactMap { $0.mistake(self) }) }
        noteUnknown(to: all.distinct, in: allSources.flatMap(\.entries), KnownNames(all, self), &mistakes)
        mistakes.add(all.disagreements)
        try mistakes.check()
    }

    /// Adds an error for each unknown name, and for each member that gets lost.
    ///
    /// Every key has been used by now, so all secrets are known before any text is written.
    ///
    /// `before`: The snapshots before a reload, whose names are left out.
    private func noteUnknown(
        to keys: [DeclaredKey], in entries: [SourceStack.Entry],
        unlike before: [ObjectIdentifier: PropertySnapshot] = [:], _ known: KnownNames, _ mistakes: inout Mistakes
    ) {
        var known = known
        known.members = keys.flatMap { $0.inspect(self, &mistakes) }
        for entry in entries {
            entry.snapshot.noteUnknownNames(
                known, unlike: before[ObjectIdentifier(entry.application)], to: &mistakes)
        }
    }

    /// Throws the errors that other sources would cause and the present ones don't.
    ///
    /// Only keys whose values differ and sources that were read again are checked.
    func check(_ new: SourceStack, over old: SourceStack, _ readings: inout SourceReadings) throws {
        let (declared, checks) = (declaredKeys, declaredChecks)
        guard !declared.isEmpty || !checks.isEmpty else { return }
        let keys = declared.distinct.filter { $0.name.map { !new.holdsTheSame($0, as: old) } ?? false }
        let known = KnownNames(declared, self)
        let before = Set(old.entries.map(ObjectIdentifier.init))
        let after = new.entries.filter { entry in
            !before.contains(ObjectIdentifier(entry)) && !readings.searched.contains { $0 === entry }
        }
        let trial = keys.isEmpty && checks.isEmpty ? self : trial(of: new)
        // Most of the names that were unknown before are recognized without a text for each.
        let snapshots = Dictionary(old.entries.map { (ObjectIdentifier($0.application), $0.snapshot) }) { first, _ in
            first
        }
        func note(_ mistakes: inout Mistakes) {
            mistakes.add(keys.lazy.compactMap { $0.mistake(trial) })
            trial.noteUnknown(to: keys, in: after, unlike: snapshots, known, &mistakes)
        }
        var mistakes = Mistakes()
        note(&mistakes)
        if mistakes.count > 0 {
            mistakes = Mistakes(
                except: Mistakes.subjects { mistakes in
                    mistakes.add(keys.lazy.compactMap { $0.mistake(self) })
                    noteUnknown(to: keys, in: old.entries, known, &mistakes)
                })
            note(&mistakes)
        }
        // A value that would become wrong could make a condition fail that is met otherwise.
        if mistakes.count == 0, !checks.isEmpty { mistakes.add(broken(checks, in: trial, over: old)) }
        try mistakes.check()
        readings.searched += after
    }

    /// Returns the errors of conditions that are met with the old sources, but not in a trial.
    ///
    /// Both sides are compared as a program reads them: in place of a value that is wrong stands the default. Where a
    /// required value is missing, a condition can't be asked.
    private func broken(_ checks: [DeclaredCheck], in trial: Container, over old: SourceStack) -> [PropertyError] {
        guard trial.hasAllRequired else { return [] }
        let unmet = checks.compactMap { check in check.mistake(trial).map { (check, $0) } }
        guard !unmet.isEmpty else { return [] }
        let present = self.trial(of: old)
        guard present.hasAllRequired else { return unmet.map(\.1) }
        return unmet.filter { $0.0.mistake(present) == nil }.map(\.1)
    }

    private var hasAllRequired: Bool {
        declaredKeys.distinct.allSatisfy { !$0.isRequired || $0.mistake(self) == nil }
    }

    /// Returns a copy of this container with other sources, which reports nothing.
    private func trial(of sources: SourceStack) -> Container {
        let trial = Container(copying: self, trying: SourceStack(sources.levels))
        trial.handleReports { _ in }
        return trial
    }
}

extension KnownNames {
    fileprivate init(_ keys: [DeclaredKey], _ container: Container) {
        let read = container.knownNames.map(\.naming.name)
        // A key that merges tables reads their members by name, declared or not.
        let members = read.flatMap { name in MergedNames.members(of: name)?.map { name + "." + $0 } ?? [] }
        let names = Set(read + members + keys.flatMap { ($0.name.map { [$0] } ?? []) + $0.memberNames })
        var former: [String: String] = [:]
        for name in names {
            for old in FormerNames.of(name) { former[old] = name }
        }
        self.init(Array(names), former: former.filter { !names.contains($0.key) })
        tables = { keys.compactMap(\.wholeTable) }
        let others = Set(keys.flatMap(\.otherThanSwitches))
        switches = { [names = self.names, former = self.former] in names.filter { !others.contains(former[$0] ?? $0) } }
        singles = { keys.filter { !$0.shape(nil, false).isList }.compactMap(\.name) }
        lists = { keys.filter { $0.shape(nil, false).isList }.compactMap(\.name) }
    }
}

extension PropertyContainer {
    /// Returns the value of a key that code, a rule, or a source has to give.
    ///
    /// The default doesn't count, and neither does `nil`. The value for tests of a required key does, in a test. A throwing or async
    /// feature that requires a value through the handle of its load fails with the others of a warm-up, and loads once there is one:
    ///
    /// ```swift
    /// static func load(in container: any FeatureContainer) async throws -> Database {
    ///     try await Database.open(container.require(\.databaseURL))
    /// }
    /// ```
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Returns: The value.
    /// - Throws: ``PropertyError`` if the value has another type or form, or if nothing gives one.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func require<Value>(_ key: (ContainerKeys) -> PropertyKey<Value>) throws -> Value {
        try _container.required(key(ContainerKeys()))
    }
}

extension Container {
    fileprivate func required<Value>(_ key: PropertyKey<Value>) throws -> Value {
        try atOneMoment {
            recordInput(key._key)
            let origins = origins(of: key)
            let answer = origins.answer()
            if let mistake = answer.mistake ?? origins.refusal(by: key) { throw mistake }
            if case .success(nil) = answer, !givesTestValue(of: key) {
                throw missing(key.name, label: key.shownName)
            }
            if case .success(let value?) = answer, (value as? any OptionalType)?.isNil == true {
                throw error(ErrorText.requiredIsNull, about: key)
            }
            return self[key]
        }
    }

    /// Whether a read gives the key's value for tests if nothing else gives one.
    func givesTestValue<Value>(of key: PropertyKey<Value>) -> Bool { key.hasTestValue && givesTestValue }

    /// Returns the error for a required value that nothing gives.
    ///
    /// - `stacks`: The sources that were searched, or `nil` for those of this container and its ancestors.
    func missing(_ name: String?, label: String, in stacks: [SourceStack]? = nil) -> PropertyError {
        let stacks = stacks ?? allSources
        let snapshots = stacks.flatMap(\.entries).map(\.snapshot)
        let places = name.map { name in snapshots.compactMap { $0.place(of: name) } } ?? []
        // Everybody on the machine can see the arguments.
        let isSecret = name.map(SecretNames.cover) == true
        let arguments = isSecret ? places.filter { $0.hasPrefix("--") } : []
        let reason = ErrorText.required(
            sources: snapshots.map(ErrorText.source), places: places.filter { !arguments.contains($0) } + arguments,
            isEmpty: isSecret && snapshots.contains { $0.value(named: name!)?.isEmptyText == true })
        return PropertyError(reason, name: label)
    }

    /// Returns an error with the place of the value that a read would take from a source.
    func error<Value>(_ reason: String, about key: PropertyKey<Value>) -> PropertyError {
        let origin = key.name.flatMap { name in
            origins(of: key).answeringSources()?.firstValue(named: name, isMerged: key.isMerged)?.origin
        }
        return PropertyError(
            reason, source: origin?.source, line: origin?.line, column: origin?.column, name: key.shownName)
    }
}

extension Array {
    /// Returns the sources that have the value of a read, unless code or a rule gives it.
    func answeringSources<Value>() -> SourceStack? where Element == ValueOrigin<Value> {
        for layer in self {
            switch layer {
            case .code, .rule: return nil
            case .sources(_, .success(nil)): continue
            case .sources(let sources, _): return sources
            }
        }
        return nil
    }

    /// Returns the error of a value that code or a rule has set, if the key's form refuses it; a read gives the value all the same.
    func refusal<Value>(by key: PropertyKey<Value>) -> PropertyError? where Element == ValueOrigin<Value> {
        guard let check = key.form?.check else { return nil }
        func error(_ value: Value, _ origin: Explanation.Origin) -> PropertyError? {
            guard !check.isMet(value) else { return nil }
            let error = PropertyError(
                expected: check.expected, found: ValueText.text(of: value), source: "\(origin)", name: key.shownName)
            return key.isSecret ? error.masked : error
        }
        for layer in self {
            switch layer {
            case .code(let value): return error(value, .code)
            case .rule(let value): return error(value, .rule)
            case .sources(_, .success(nil)): continue
            case .sources: return nil
            }
        }
        return nil
    }
}
