public import Fugu

extension Container {
    /// Tells which value a read of the key gives, where it comes from and what it hides. Values of secret keys are left
    /// out. Reads the default if nothing else gives a value.
    public func explain<Value>(_ key: PropertyKey<Value>) -> Explanation {
        Explainer(name: key.name, label: key.label, isSecret: key.isSecret)
            .explanation(of: layers(of: key)) { self[key] }
    }

    /// Tells which value a read of the property gives, where it comes from and what it hides. Values of secret properties
    /// are left out. Reads the default if nothing else gives a value.
    public func explain<P: Property>(_ property: P.Type) -> Explanation {
        let name = (property as? any NamedProperty.Type)?.name
        return Explainer(name: name, label: "\(property)", isSecret: P.isSecret || P._naming?.isSecret == true)
            .explanation(of: layers(of: property)) { self[property] }
    }
}

/// Puts layers in words.
private struct Explainer {
    let name: String?
    let label: String
    let isSecret: Bool

    func explanation<Value>(of layers: [ValueLayer<Value>], read: () -> Value) -> Explanation {
        var entries = layers.flatMap { self.entries(of: $0) }
        let answer = answer(layers)
        let winner: Explanation.Entry
        switch answer {
        case .value(let value):
            winner = entry(Self.text(of: value), entries.removeFirst().origin)
        case .failure:
            entries.removeFirst()
            winner = entry(Self.text(of: read()), .defaultValue)
        case .nothing: winner = entry(Self.text(of: read()), .defaultValue)
        }
        return Explanation(name: name ?? label, winner: winner, hidden: entries, mistake: answer.mistake)
    }

    private func entries<Value>(of layer: ValueLayer<Value>) -> [Explanation.Entry] {
        switch layer {
        case .code(let value): return [entry(Self.text(of: value), .code)]
        case .rule(let value): return [entry(Self.text(of: value), .rule)]
        case .sources(let sources, _):
            guard let name, let stack = sources as? SourceStack else { return [] }
            return stack.values(named: name).map { entry($0.propertyValue.description, .source($0.origin)) }
        }
    }

    private func entry(_ text: String, _ origin: Explanation.Origin) -> Explanation.Entry {
        Explanation.Entry(value: isSecret ? nil : text, origin: origin)
    }

    /// The value in words, strings in quotes and optionals as what they hold.
    private static func text(of value: Any) -> String {
        if let text = value as? String { return Quoted.string(text) }
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return "\(value)" }
        return mirror.children.first.map { text(of: $0.value) } ?? "nil"
    }
}
