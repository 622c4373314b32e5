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
        var declared = declaredKeys
        var labels = Set(declared.map(\.label))
        for key in keys where labels.insert(key.label).inserted { declared.append(key) }
        self[Declarations.self] = declared
    }

    /// The keys that were declared here and in ancestors.
    ///
    /// It doesn't count as a read.
    var declaredKeys: [DeclaredKey] {
        if case .value(let keys) = answer(origins(of: Declarations.self)) { keys } else { [] }
    }
}
