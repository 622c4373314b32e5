public import Fugu

/// What a container has for a key, and why, in sentences. It prints as
///
///     Session was loaded in 1.2 ms.
///     It lives in container 7, since it read \.requestID, which is set there.
///     It was made from \.requestID (container 7) and Database.
///     Nothing was made from it.
public struct KeyExplanation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the key.
    public let name: String
    /// The sentences.
    ///
    /// Values of secret keys are left out, long ones are cut, and of values that are no numbers, truth values or
    /// strings only the type is told.
    public let sentences: [String]

    /// The sentences, one on each line.
    public var description: String { sentences.joined(separator: "\n") }
}

extension Container {
    /// Explains what this container has for a type, without loading anything.
    ///
    /// The sentences tell where a value comes from and what it hides or, of a feature, why it lives in its container; what it
    /// was made from, and what was made from it; whether it's stale and which change made it so; and how its last load
    /// failed.
    ///
    /// - Parameter key: The type: a property, or a feature of any kind.
    /// - Returns: The explanation.
    public func explain<K: Keyed>(_ key: K.Type) -> KeyExplanation {
        explain(raw: K._raw)
    }

    /// Explains what this container has for a key, without loading anything.
    ///
    /// - Parameter key: The key.
    /// - Returns: The explanation.
    public func explain<K: ValueKey>(_ key: K) -> KeyExplanation {
        explain(raw: key._raw)
    }

    /// Explains what this container has for a key that `ContainerKeys` declares, without loading anything.
    ///
    /// - Parameter key: The member.
    /// - Returns: The explanation.
    public func explain<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>) -> KeyExplanation {
        explain(ContainerKeys()[keyPath: key])
    }

    /// Returns a snapshot of what this container, its ancestors and its descendants hold, with values.
    ///
    /// - Parameter includingValues: Pass `true` to include the values of properties in words. Those of secret keys are left
    ///   out in any case.
    /// - Returns: The graph.
    /// - Complexity: O(*n*) for *n* containers, entries and inputs, and O(*n* log *n*) for sorting them.
    public func graph(includingValues: Bool) -> ContainerGraph {
        includingValues ? graph(telling: ValueSketch()) : graph
    }

    private func explain(raw: UInt) -> KeyExplanation {
        let standing = status(of: raw, telling: ValueSketch())
        guard let entry = standing.entries.first else {
            let sentence = Messages.notThere(standing.name, standing.kind, isClosed: standing.isClosed)
            return KeyExplanation(name: standing.name, sentences: [sentence])
        }
        return KeyExplanation(name: entry.name, sentences: GraphExplainer(standing.graph).sentences(on: entry))
    }
}
