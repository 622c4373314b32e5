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
            recordInput(key)
            try require(origins(of: key), key.name, label: key.name ?? key.label, isMerged: key.isMerged)
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

    private func require<Value>(
        _ layers: [ValueOrigin<Value>], _ name: String?, label: String, isMerged: Bool
    ) throws(PropertyError) {
        switch layers.answer() {
        case .value(let value):
            guard (value as? any OptionalType)?.isNil == true else { return }
            let origin = name.flatMap { sourceOrigin(of: $0, layers, isMerged: isMerged) }
            throw PropertyError(
                ErrorText.requiredIsNull, source: origin?.source, line: origin?.line, column: origin?.column,
                name: label)
        case .nothing: throw missing(name, label: label)
        case .failure(let error): throw error as? PropertyError ?? PropertyError("\(error)")
        }
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

    /// Returns the place of the value that a read would take from a source.
    func sourceOrigin<Value>(of key: PropertyKey<Value>) -> PropertyOrigin? {
        key.name.flatMap { sourceOrigin(of: $0, origins(of: key), isMerged: key.isMerged) }
    }

    private func sourceOrigin<Value>(
        of name: String, _ layers: [ValueOrigin<Value>], isMerged: Bool
    ) -> PropertyOrigin? {
        layers.answeringSources()?.firstValue(named: name, isMerged: isMerged)?.origin
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
}
