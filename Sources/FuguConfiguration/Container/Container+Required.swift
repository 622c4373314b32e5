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
        try checked {
            try require(origins(of: key), key.name, label: key.name ?? key.label)
        } read: {
            self[key]
        }
    }

    /// Returns the value of a property that code, a rule, or a source has to give.
    ///
    /// The default doesn't count, and neither does `nil`.
    ///
    /// - Parameter property: The property.
    /// - Returns: The value.
    /// - Throws: ``PropertyError`` if a source has a value of another type, or if nothing gives a value.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func require<P: NamedProperty>(_ property: P.Type) throws -> P.Value {
        try checked {
            try require(origins(of: property), P.name, label: P.name)
        } read: {
            self[property]
        }
    }

    /// Returns the value that code or a source gives under a name, without a key.
    ///
    /// If there is a ``Fugu/PropertyKey`` with this name and type, the value is that of the key. Use a fixed set of
    /// names, because each is kept like a key.
    ///
    /// - Parameters:
    ///   - name: The dotted path.
    ///   - type: The type of the value.
    /// - Returns: The value, or `nil` if nothing gives one.
    /// - Throws: ``PropertyError`` if the value has another type. It quotes no value, since the value may be a secret.
    /// - Complexity: O(*s*) for *s* sources of this container and its ancestors.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type = Value.self) throws -> Value?
    {
        if let key = PropertyKey<Value>.existing(name) { return try given(key, as: type) }
        return try given(PropertyKey<Value?>.untyped(name), as: type) ?? nil
    }

    private func given<Stored: Sendable, Value: Decodable & Sendable>(
        _ key: PropertyKey<Stored>, as _: Value.Type
    ) throws -> Stored? {
        var isGiven = false
        let value = try checked {
            let layers = origins(of: key)
            let answer = answer(layers)
            if let mistake = answer.mistake { throw unquoted(layers, key.name ?? key.label, Value.self) ?? mistake }
            if case .value = answer { isGiven = true } else { isGiven = false }
        } read: {
            // Reads the key even if nothing provides a value: the answer is an input of a load that asks.
            self[key]
        }
        return isGiven ? value : nil
    }

    /// Checks, and then reads; it starts again if the sources were replaced in between.
    private func checked<Value>(_ check: () throws -> Void, read: () -> Value) throws -> Value {
        while true {
            let before = allSources
            try check()
            let value = read()
            if before.elementsEqual(allSources, by: { $0 === $1 }) { return value }
        }
    }

    private func unquoted<Stored, Value: Decodable & Sendable>(
        _ layers: [ValueOrigin<Stored>], _ name: String, _: Value.Type
    ) -> PropertyError? {
        for case .sources(let sources, .failure) in layers {
            return sources.answer(name, as: Value.self, form: nil, isSecret: true).mistake
        }
        return nil
    }

    private func require<Value>(
        _ layers: [ValueOrigin<Value>], _ name: String?, label: String
    ) throws(PropertyError) {
        switch answer(layers) {
        case .value(let value):
            guard (value as? any OptionalType)?.isNil == true else { return }
            let origin = name.flatMap { sourceOrigin(of: $0, layers) }
            throw PropertyError(
                ErrorText.requiredIsNull, source: origin?.source, line: origin?.line, column: origin?.column,
                name: label)
        case .nothing: throw missing(name, label: label)
        case .failure(let error): throw error as? PropertyError ?? PropertyError("\(error)")
        }
    }

    /// Returns the error for a required value that nothing gives.
    func missing(_ name: String?, label: String) -> PropertyError {
        let snapshots = allSources.flatMap { ($0 as? SourceStack)?.entries.map(\.snapshot) ?? [] }
        let places = name.map { name in snapshots.compactMap { $0.place(of: name) } } ?? []
        let reason = ErrorText.required(sources: snapshots.map(ErrorText.source), places: places)
        return PropertyError(reason, name: label)
    }

    /// Returns the place of the value that a read would take from a source.
    func sourceOrigin<Value>(of key: PropertyKey<Value>) -> PropertyOrigin? {
        key.name.flatMap { sourceOrigin(of: $0, origins(of: key)) }
    }

    private func sourceOrigin<Value>(of name: String, _ layers: [ValueOrigin<Value>]) -> PropertyOrigin? {
        for layer in layers {
            switch layer {
            case .code, .rule: return nil
            case .sources(_, .nothing): continue
            case .sources(let sources, _):
                return (sources as? SourceStack)?.values(named: name).first { _ in true }?.origin
            }
        }
        return nil
    }
}
