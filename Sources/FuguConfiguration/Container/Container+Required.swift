public import Fugu

extension Container {
    /// The value of a key, which code, a rule or a source must give: a default does not count.
    ///
    /// - Throws: a ``PropertyError`` if what a source has is not what the key asks for, or if nothing gives a value.
    public func require<Value>(_ key: PropertyKey<Value>) throws -> Value {
        try require(answer(layers(of: key)), name: key.label)
        return self[key]
    }

    /// The value of a property, which code, a rule or a source must give: a default does not count.
    ///
    /// - Throws: a ``PropertyError`` if what a source has is not what the property asks for, or if nothing gives a value.
    public func require<P: NamedProperty>(_ property: P.Type) throws -> P.Value {
        try require(answer(layers(of: property)), name: P.name)
        return self[property]
    }

    /// What code or a source gives under a name, without a key: nil if nothing does.
    ///
    /// The value is that of a ``Fugu/PropertyKey`` of this name and type, if there is one. A program asks for a fixed
    /// number of names: each is remembered like a key.
    ///
    /// - Parameters:
    ///   - name: The dotted path.
    ///   - type: What the value is to be.
    /// - Throws: a ``PropertyError`` if what is there is something else. It quotes no value, since nobody has said whether
    ///   it is a secret.
    public func property<Value: Decodable & Sendable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        if let key = PropertyKey<Value>.existing(name) { return try given(key, as: type) }
        let key = PropertyKey<Value?>.existing(name) ?? PropertyKey<Value?>(name, isSecret: true)
        return try given(key, as: type) ?? nil
    }

    private func given<Stored: Sendable, Value: Decodable & Sendable>(
        _ key: PropertyKey<Stored>, as _: Value.Type
    ) throws -> Stored? {
        let layers = layers(of: key)
        switch answer(layers) {
        case .failure(let error): throw unquoted(layers, key.label, Value.self) ?? error
        case .nothing:
            // Whoever asks inside a load is made from the answer, even if it is that there is nothing.
            _ = self[key]
            return nil
        case .value: return self[key]
        }
    }

    private func unquoted<Stored, Value: Decodable & Sendable>(
        _ layers: [ValueLayer<Stored>], _ name: String, _: Value.Type
    ) -> PropertyError? {
        for case .sources(let sources, .failure) in layers {
            return sources.answer(name, as: Value.self, isSecret: true).mistake
        }
        return nil
    }

    private func require<Value>(_ answer: SourceAnswer<Value>, name: String) throws(PropertyError) {
        switch answer {
        case .value: return
        case .nothing: throw PropertyError(ErrorText.required(sources: sourceNames), name: name)
        case .failure: throw answer.mistake!
        }
    }

    private var sourceNames: [String] {
        allSources.flatMap { ($0 as? SourceStack)?.entries.map(\.snapshot.source) ?? [] }
    }
}
