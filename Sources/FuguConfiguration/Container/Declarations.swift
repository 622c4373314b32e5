public import Fugu

/// The keys that were declared in a container, kept as a property so that descendants see them and copies take them
/// along.
private enum Declarations: Property {
    static var defaultValue: [DeclaredKey] { [] }
}

extension Container {
    /// Declares keys before anything reads them.
    ///
    /// ``validate()`` and ``explain()`` then know them, and errors and explanations protect those that are secrets.
    ///
    /// Declare all keys of a program once, before you apply its sources:
    ///
    ///     container.declare(\.port, \.password, properties: Retries.self)
    ///
    /// Descendants know the keys that are declared here. Declaring a key again changes nothing.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - properties: The properties that are types.
    /// - Complexity: O(*k*) for *k* keys that are declared here.
    public func declare(_ keys: any ConfigurationKey..., properties: any NamedProperty.Type...) {
        declare(keys.map { DeclaredKey(any: $0) } + properties.compactMap { DeclaredKey.ofType($0) })
    }

    /// Declares properties that are types before anything reads them.
    ///
    /// See ``declare(_:properties:)``.
    ///
    /// - Parameter properties: The properties.
    /// - Complexity: O(*k*) for *k* keys that are declared here.
    public func declare(_ properties: any NamedProperty.Type...) {
        declare(properties.compactMap { DeclaredKey.ofType($0) })
    }

    /// Declares the keys in a list before anything reads them.
    ///
    /// See ``declare(_:properties:)``.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - properties: The properties that are types.
    /// - Complexity: O(*k*) for *k* keys that are declared here.
    public func declare(_ keys: [any ConfigurationKey], _ properties: [any NamedProperty.Type] = []) {
        declare(keys.map { DeclaredKey(any: $0) } + properties.compactMap { DeclaredKey.ofType($0) })
    }

    func declare(_ keys: [DeclaredKey]) {
        modify(Declarations.self) { declared in
            // A name can be declared at several places, which ought to agree.
            var known = Set(declared.map { [$0.label, $0.type, $0.place] })
            for key in keys where known.insert([key.label, key.type, key.place]).inserted { declared.append(key) }
        }
    }

    /// The keys that were declared here and in ancestors.
    ///
    /// It doesn't count as a read.
    var declaredKeys: [DeclaredKey] {
        if case .value(let keys) = answer(origins(of: Declarations.self)) { keys } else { [] }
    }
}

extension [DeclaredKey] {
    /// The keys without those that are the same as an earlier one.
    var distinct: [DeclaredKey] {
        var known: Set<DeclaredKey.Identity> = []
        return filter { known.insert($0.identity).inserted }
    }

    /// An error for each declaration that disagrees with an earlier one: another type or default for the same name, or
    /// another name for the same variable and argument.
    var disagreements: [PropertyError] {
        var first: [String: DeclaredKey] = [:]
        var spelled: [String: String] = [:]
        return compactMap { key in
            guard let name = key.name else { return nil }
            if let other = first[name] { return key.disagreement(with: other) }
            first[name] = key
            let argument = Spelling.argument(name)
            guard let other = spelled[argument] else {
                spelled[argument] = name
                return nil
            }
            let variable = Spelling.variable(name, prefix: "")
            return PropertyError(
                ErrorText.sameSpelling(as: other, variable: variable, argument: "--\(argument)"), name: name)
        }
    }
}

extension DeclaredKey {
    fileprivate func disagreement(with other: DeclaredKey) -> PropertyError? {
        guard place != other.place || identity != other.identity else { return nil }
        guard identity == other.identity else {
            return PropertyError(ErrorText.declaredTwice((other.type, other.place), (type, place)), name: name)
        }
        let texts = [other, self].map { $0.defaultValue()?.description ?? "nil" }
        guard texts[0] != texts[1] else { return nil }
        let shown = isSecret() || other.isSecret() ? ["a secret", "another one"] : texts
        return PropertyError(ErrorText.twoDefaults((shown[0], other.place), (shown[1], place)), name: name)
    }
}
