import Fugu

/// The name of a key, and how to ask sources for it.
final class PropertyNaming: KeyNaming {
    /// The dotted path of the key.
    package let name: String
    private let isSecretItself: Bool
    /// Whether the value must never be printed, because this name, one inside it, or one around it is secret.
    var isSecret: Bool { isSecretItself || SecretNames.concern(name) }
    /// Whether a graph must not show the value, because the name is secret, or because a source has supplied it as a secret.
    package var isHidden: Bool { isSecret || SecretNames.isSupplied(name) }
    /// Whether there's no default, so that a read stops the program if nothing gives a value.
    let isRequired: Bool
    /// The form of the values that sources may supply, a `PropertyForm` of the key's type.
    let form: (any Sendable)?
    /// The description of the value for `--help` and sample files.
    let help: String?
    private let answer: @Sendable (SourceStack, _ isSecret: Bool) -> SuppliedValue

    /// `isDeclared`: Whether the key's declaration says `isSecret`, so that it applies to other keys of that name;
    /// `false` if it's only a precaution.
    init<Value: Decodable & Sendable>(
        _ name: String, _: Value.Type, isSecret: Bool, isDeclared: Bool = true, isRequired: Bool = false,
        form: PropertyForm<Value>? = nil, help: String? = nil
    ) {
        self.name = name
        self.isRequired = isRequired
        self.form = form
        self.help = help
        isSecretItself = isSecret
        if isSecret, isDeclared { SecretNames.add(name) }
        answer = { sources, isSecret in
            sources.answer(name, as: Value.self, form: form, isSecret: isSecret).map { $0.map { Payload($0) } }
        }
    }

    package func ask(_ supplier: any ValueSupplier) -> SuppliedValue {
        guard let sources = supplier as? SourceStack else { return .success(nil) }
        return answer(sources, isSecret)
    }
}
