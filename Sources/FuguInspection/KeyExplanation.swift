public import Fugu

/// An explanation of what a container has for a key, in sentences. It prints as
///
/// ```text
/// Session was loaded in 1.2 ms.
/// It lives in container 7, because it read \.requestID, which is set there.
/// It was loaded from \.requestID (container 7) and Database.
/// Nothing was loaded from it.
/// ```
public struct KeyExplanation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the key.
    public let name: String
    /// The sentences.
    ///
    /// Values of secret keys are left out, and long ones are cut. For a value that isn't a number, a Boolean value, or
    /// a string, the sentence names only the type.
    public let sentences: [String]

    /// The sentences, one on each line.
    public var description: String { sentences.joined(separator: "\n") }
}

extension Container {
    /// Explains what this container has for a type, without loading anything.
    ///
    /// For a property, the sentences name the origin of the value and what it hides. For a feature, they say why it
    /// lives in its container, which inputs and readers it has, whether it's stale and because of which change, and how
    /// its last load failed.
    ///
    /// - Parameter key: The type: a property, or a feature of any kind.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<K: ContainerKey>(_ key: K.Type) -> KeyExplanation { explain(K._key) }

    /// Explains what this container has for a key, without loading anything.
    ///
    /// - Parameter key: The key.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<K: ValueKey>(_ key: K) -> KeyExplanation { explain(key._key) }

    /// Explains what this container has for a key, without loading anything.
    ///
    /// - Parameter key: A key path to the key: `\.timeout`.
    /// - Returns: The explanation.
    /// - Complexity: O(*n* log *n*) for *n* containers, entries, and inputs of the family.
    public func explain<K: ValueKey>(_ key: (ContainerKeys) -> K) -> KeyExplanation {
        explain(key(ContainerKeys()))
    }

    private func explain(_ definition: KeyDefinition) -> KeyExplanation {
        let key = Key(raw: definition.raw)
        let snapshot = GraphSnapshot(drawing: self)
        let (graph, ids) = ContainerGraph.draw(snapshot, includingValues: true)
        guard let entry = places(of: key, in: snapshot).first.flatMap({ ids[$0] }).flatMap({ graph[$0] }) else {
            let sentence = Messages.notThere(key.name, key.kind, isClosed: isClosed)
            return KeyExplanation(name: key.name, sentences: [sentence])
        }
        return KeyExplanation(name: entry.name, sentences: GraphExplainer(graph).sentences(on: entry))
    }
}
