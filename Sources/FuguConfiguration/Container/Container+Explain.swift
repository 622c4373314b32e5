public import Fugu

extension Container {
    /// Explains each declared key: its value, the origin of the value, and what it hides.
    ///
    /// - Returns: The explanations in the order of declaration. See `declare(_:)`.
    /// - Complexity: O(*k* × *s*) for *k* declared keys and *s* sources.
    public func explain() -> [Explanation] { declaredKeys.distinct.map { $0.explanation(self) } }

    /// Explains the value that a read of the key gives: its origin, what it hides, and what was loaded from it.
    ///
    /// Values of secret keys are left out, and so are the values inside tables and structs. If nothing else gives a
    /// value, the default is evaluated.
    ///
    /// - Parameter key: The key.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<Value>(_ key: PropertyKey<Value>) -> Explanation {
        var explanation = origin(of: key)
        explanation.readers = readerNames(of: key._key)
        return explanation
    }

    /// Explains the value that a read of a key gives: its origin, what it hides, and what was loaded from it.
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<Value>(_ key: KeyPath<ContainerKeys, PropertyKey<Value>>) -> Explanation {
        explain(ContainerKeys()[keyPath: key])
    }

    /// Returns the names of what was loaded from a value, those of the root first, each with its container unless that is the
    /// root.
    private func readerNames(of definition: KeyDefinition) -> [String] {
        let readers = readers(of: definition)
        let keys = Dictionary(grouping: Set(readers.flatMap(\.keys)), by: \.name)
        // Two types may have the same name within others.
        func name(_ key: Key) -> String { keys[key.name]!.count > 1 ? key.codeName : key.name }
        return readers.flatMap { container, keys in
            keys.map(name).sorted().map { name in container.map { "\(name) (\($0))" } ?? name }
        }
    }

    /// Returns the explanation without the readers, for which it would have to draw a graph.
    func origin<Value>(of key: PropertyKey<Value>) -> Explanation {
        let layers = origins(of: key)
        return Explainer(name: key.name, label: key.label, isSecret: key.isSecret, isMerged: key.isMerged)
            .explanation(of: layers) { key.isRequired ? nil : self[key] }
    }
}

/// Describes layers.
private struct Explainer {
    let name: String?
    let label: String
    let isSecret: Bool
    /// Whether a container's sources give one table together.
    let isMerged: Bool

    func explanation<Value>(of layers: [ValueOrigin<Value>], defaultValue: () -> Value?) -> Explanation {
        let all = layers.flatMap { self.entries(of: $0) }
        var entries = all.map(\.entry)
        let answer = layers.answer()
        let winner: Explanation.Entry
        switch answer {
        case .value(let value):
            let first = entries.removeFirst()
            // Show a source's value as its key decodes it, unless there's a table, whose values the type might print.
            winner =
                all[0].holdsTable
                ? first : entry(ValueText.text(of: value), first.origin, first.value == nil)
        case .failure:
            entries.removeFirst()
            winner = fallback(defaultValue())
        case .nothing: winner = fallback(defaultValue())
        }
        var explanation = Explanation(
            name: Quoted.line(name ?? label), winner: winner, hidden: entries, mistake: answer.mistake)
        if isMerged, answer.mistake == nil, let name {
            let table = layers.answeringSources()?.firstValue(named: name, isMerged: true)?.tree.merged
            explanation.members = table?.origins.map { Explanation.Member(name: $0.name, origin: $0.origin) } ?? []
        }
        return explanation
    }

    private func fallback<Value>(_ value: Value?) -> Explanation.Entry {
        guard let value else { return Explanation.Entry(value: "nothing", origin: .missing) }
        return entry(ValueText.text(of: value), .defaultValue)
    }

    private func entries<Value>(of layer: ValueOrigin<Value>) -> [(entry: Explanation.Entry, holdsTable: Bool)] {
        switch layer {
        case .code(let value): return [(entry(ValueText.text(of: value), .code), false)]
        case .rule(let value): return [(entry(ValueText.text(of: value), .rule), false)]
        case .sources(let sources, _):
            guard let name, let stack = sources as? SourceStack else { return [] }
            return stack.values(named: name, isMerged: isMerged).map { value in
                (entry(ValueText.text(of: value), .source(value.origin), value.isSecret), value.holdsTable)
            }
        }
    }

    private func entry(_ text: String, _ origin: Explanation.Origin, _ isHidden: Bool = false) -> Explanation.Entry {
        Explanation.Entry(value: isSecret || isHidden ? nil : text, origin: origin)
    }
}
