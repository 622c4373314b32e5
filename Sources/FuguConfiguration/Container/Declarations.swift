public import Fugu

/// The declarations of a container, kept beside its sources so that copies take them along.
struct Declarations: Sendable {
    private(set) var keys: [DeclaredKey] = []
    var checks: [DeclaredCheck] = []
    private var known: Set<[String]> = []

    /// Adds the keys that aren't there yet, and returns whether there are any.
    ///
    /// A name can be declared at several places, which ought to agree.
    @discardableResult
    mutating func add(_ more: [DeclaredKey]) -> Bool {
        let new = more.filter { known.insert([$0.label, $0.type, $0.place]).inserted }
        keys += new
        return !new.isEmpty
    }
}

/// A condition on several keys, identified by the object.
final class DeclaredCheck: Sendable {
    /// Returns the error if the condition isn't met.
    let mistake: @Sendable (Container) -> PropertyError?

    init(_ mistake: @escaping @Sendable (Container) -> PropertyError?) { self.mistake = mistake }
}

extension Container {
    /// Declares keys before anything reads them.
    ///
    /// `validate` and `explain` then know them, and errors and explanations protect those that are secrets.
    ///
    /// Declare all keys of a program once, before you apply its sources:
    ///
    /// ```swift
    /// container.declare(\.port, \.password)
    /// ```
    ///
    /// Descendants know the keys that are declared here. Declaring a key again changes nothing.
    ///
    /// - Parameter keys: Key paths to the keys.
    /// - Complexity: O(*k*) for *k* keys that are declared here, now and before.
    public func declare<each Value: Decodable>(_ keys: repeat KeyPath<ContainerKeys, PropertyKey<each Value>>) {
        declare(DeclaredKey.list(repeat each keys))
    }

    /// Declares the keys in a list before anything reads them.
    ///
    /// - Parameter keys: The keys.
    /// - Complexity: O(*k*) for *k* keys that are declared here, now and before.
    public func declare(_ keys: [any ConfigurationKey]) { declare(keys.map { DeclaredKey(any: $0) }) }

    /// Declares a condition on the values of several keys.
    ///
    /// `validate` throws an error with the place of the key's value if the condition isn't met, and a reload that breaks it
    /// is refused:
    ///
    /// ```swift
    /// container.declareCheck(of: \.certificate, "needs tls.key") { $0.certificate == nil || $0.privateKey != nil }
    /// ```
    ///
    /// `validate` checks it where no single value is wrong or missing. For a reload, wrong values count as their defaults, and a
    /// condition that wasn't met before refuses nothing.
    ///
    /// - Parameters:
    ///   - key: The member of `ContainerKeys` that declares the key to which errors refer.
    ///   - reason: The error, as a sentence without the key.
    ///   - isMet: A closure that returns whether the condition is met. It must read only keys. It's called on any thread,
    ///     also with values that are about to be reloaded.
    public func declareCheck<Value>(
        of key: KeyPath<ContainerKeys, PropertyKey<Value>>, _ reason: String,
        _ isMet: @escaping @Sendable (Container) -> Bool
    ) {
        let key = ContainerKeys()[keyPath: key]
        let check = DeclaredCheck { isMet($0) ? nil : $0.error(reason, about: key) }
        change { declarations in
            declarations.checks.append(check)
            return true
        }
    }

    func declare(_ keys: [DeclaredKey]) { change { $0.add(keys) } }

    /// Changes what this container declares; the closure returns whether there's a change.
    private func change(_ body: (inout Declarations) -> Bool) {
        // No value changes, so nothing is refused.
        try? changeSources { $0.declaring(body) }
    }

    /// The keys that were declared here and in ancestors, the farthest first.
    ///
    /// It doesn't count as a read.
    var declaredKeys: [DeclaredKey] {
        var all = Declarations()
        for declarations in declarations { all.add(declarations.keys) }
        return all.keys
    }

    /// The conditions that were declared here and in ancestors, the farthest first.
    ///
    /// It doesn't count as a read.
    var declaredChecks: [DeclaredCheck] {
        // A copy of a container and its child has what the container declares twice.
        var known: Set<ObjectIdentifier> = []
        return declarations.flatMap(\.checks).filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    private var declarations: [Declarations] {
        allSources.compactMap { $0 as? SourceStack }.flatMap(\.levels).map(\.declarations).reversed()
    }
}

extension [DeclaredKey] {
    /// The keys without those that are the same as an earlier one.
    var distinct: [DeclaredKey] {
        var known: Set<DeclaredKey.Identity> = []
        return filter { known.insert($0.identity).inserted }
    }

    /// An error for each declaration that disagrees with an earlier one: another type, default, or form for the same name,
    /// or another name for the same variable and argument.
    ///
    /// The members of merged tables are names, too.
    var disagreements: [PropertyError] {
        var first: [String: DeclaredKey] = [:]
        var spelled: [String: (name: String, type: Any.Type, place: String)] = [:]
        return flatMap { key -> [PropertyError] in
            guard let name = key.name else { return [] }
            if let other = first[name] { return key.disagreements(with: other) }
            first[name] = key
            let names =
                [(name: name, type: key.valueType)] + key.mergedMembers.map { ($0.name, TypeText.unwrapped($0.type)) }
            return names.compactMap { name, type in
                let argument = Spelling.argument(name)
                guard let other = spelled[argument] else {
                    spelled[argument] = (name, type, key.place)
                    return nil
                }
                guard other.name == name else {
                    let variable = Spelling.variable(name, prefix: "")
                    return PropertyError(
                        ErrorText.sameSpelling(as: other.name, variable: variable, argument: "--\(argument)"),
                        name: name)
                }
                guard type != other.type else { return nil }
                let (before, now) = (TypeText.name(of: other.type), TypeText.name(of: type))
                return PropertyError(ErrorText.declaredTwice((before, other.place), (now, key.place)), name: name)
            }
        }
    }
}

extension DeclaredKey {
    fileprivate func disagreements(with other: DeclaredKey) -> [PropertyError] {
        guard place != other.place || identity != other.identity else { return [] }
        guard identity == other.identity else {
            return [PropertyError(ErrorText.declaredTwice((other.type, other.place), (type, place)), name: name)]
        }
        var errors: [PropertyError] = []
        let values = [other, self].map { $0.isRequired ? nil : $0.defaultValue() }
        let texts = zip([other, self], values).map { $0.isRequired ? "none" : $1?.description ?? "nil" }
        if texts[0] != texts[1] {
            // The values inside a table aren't quoted.
            let told = zip(texts, values).map { text, value in value.map { ValueText.text(of: $0) } ?? text }
            let shown = isSecret() || other.isSecret() ? ["a secret", "another one"] : told
            errors.append(PropertyError(ErrorText.twoDefaults((shown[0], other.place), (shown[1], place)), name: name))
        }
        if form != other.form {
            errors.append(PropertyError(ErrorText.twoForms((other.form, other.place), (form, place)), name: name))
        }
        return errors
    }
}
