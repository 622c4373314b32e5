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
        explain(Key(raw: K._raw)) { ValueSketch.text(of: $0.value(as: K.Held.self)) }
    }

    /// Explains what this container has for a key, without loading anything.
    ///
    /// - Parameter key: The key.
    /// - Returns: The explanation.
    public func explain<K: ValueKey>(_ key: K) -> KeyExplanation {
        explain(Key(raw: key._raw)) { ValueSketch.text(of: $0.value(as: K.Held.self)) }
    }

    /// Explains what this container has for a key that ``ContainerKeys`` declares, without loading anything.
    ///
    /// - Parameter key: The member.
    /// - Returns: The explanation.
    public func explain<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>) -> KeyExplanation {
        explain(ContainerKeys()[keyPath: key])
    }

    private func explain(_ key: Key, _ text: (Payload) -> String) -> KeyExplanation {
        let node = backing.node
        let snapshot = GraphSnapshot(of: node)
        let (graph, ids) = ContainerGraph.draw(snapshot)
        let seen = node.family.lock.withLock { node.find(key).present?.1.object.number }
        // Nearest first.
        let path = snapshot.boxes.prefix { $0.number != node.number }.map(\.number) + [node.number]
        let own = path.reversed().compactMap { number in
            snapshot.entries.first { $0.place == GraphSnapshot.Place(key: key, container: number) }
        }
        let first = own.firstIndex { $0.place.container == seen } ?? (seen == nil ? own.indices.first : nil)
        guard let first, let entry = graph[ids[own[first].place] ?? ""] else {
            let isClosed = node.family.lock.withLock { node.isClosed }
            let kind = ContainerGraph.Entry.Kind(key.kind)
            return KeyExplanation(
                name: key.name, sentences: [Messages.notThere(key.name, kind, isClosed: isClosed)])
        }
        let isSecret = key.traits.isSecret
        func words(_ entry: GraphSnapshot.Entry) -> String? { isSecret ? nil : entry.value.map(text) }
        // What was loaded takes nothing's place: what stands above it is what others see.
        let hides = entry.state == .set || entry.state == .supplied || entry.state == .replaced
        let hidden = hides ? own[(first + 1)...].filter { $0.state != .failed && $0.state != .loading } : []
        return KeyExplanation(
            name: entry.name,
            sentences: GraphExplainer(graph).sentences(
                on: entry, value: words(own[first]),
                hiding: hidden.compactMap { other in graph[ids[other.place] ?? ""].map { ($0, words(other)) } }))
    }
}
