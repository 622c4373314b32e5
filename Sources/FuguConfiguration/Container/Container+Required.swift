public import Fugu

extension Container {
    /// Returns the value of a key that code, a rule, or a source has to give.
    ///
    /// The default doesn't count, and neither does `nil`.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value.
    /// - Throws: ``PropertyError`` if a source has a value of another type, or if nothing gives a value.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func require<Value>(_ key: PropertyKey<Value>) throws -> Value {
        try atOneMoment {
            recordInput(key._key)
            let answer = origins(of: key).answer()
            if let mistake = answer.mistake { throw mistake }
            if case .nothing = answer { throw missing(key.name, label: key.shownName) }
            if case .value(let value) = answer, (value as? any OptionalType)?.isNil == true {
                throw error(ErrorText.requiredIsNull, about: key)
            }
            return self[key]
        }
    }

    /// Returns the value of a key that code, a rule, or a source has to give.
    ///
    /// The default doesn't count, and neither does `nil`.
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Returns: The value.
    /// - Throws: ``PropertyError`` if a source has a value of another type, or if nothing gives a value.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func require<Value>(_ key: KeyPath<ContainerKeys, PropertyKey<Value>>) throws -> Value {
        try require(ContainerKeys()[keyPath: key])
    }

    /// Returns the error for a required value that nothing gives.
    ///
    /// - `stacks`: The sources that were searched, or `nil` for those of this container and its ancestors.
    func missing(_ name: String?, label: String, in stacks: [SourceStack]? = nil) -> PropertyError {
        let stacks = stacks ?? allSources.compactMap { $0 as? SourceStack }
        let snapshots = stacks.flatMap(\.entries).map(\.snapshot)
        let places = name.map { name in snapshots.compactMap { $0.place(of: name) } } ?? []
        let reason = ErrorText.required(sources: snapshots.map(ErrorText.source), places: places)
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
            case .sources(_, .nothing): continue
            case .sources(let sources, _): return sources as? SourceStack
            }
        }
        return nil
    }
}

extension PropertyKey {
    /// Whether the members of a table come from all sources.
    var isMerged: Bool { form?.mergesTables == true }

    /// The key's name, or if it has none, its name in messages.
    var shownName: String { name ?? label }
}
