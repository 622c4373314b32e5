/// What a container holds for a key, in order of precedence.
package struct HeldValue: Sendable {
    package let code: Payload?
    package let rule: Payload?
    /// The sources, with their answer.
    package let supplied: (sources: any ValueSources, answer: SourceAnswer<Payload>)?
}

extension [HeldValue] {
    /// The answer of the first layer that has one.
    var answer: SourceAnswer<Payload> {
        for held in self {
            if let value = held.code ?? held.rule { return .value(value) }
            if let answer = held.supplied?.answer { if case .nothing = answer { continue } else { return answer } }
        }
        return .nothing
    }
}

extension Container {
    /// Returns what this container and its ancestors hold for a key, nearest first.
    ///
    /// It doesn't count as a read.
    package func heldValues(of definition: KeyDefinition) -> [HeldValue] {
        let (node, key) = (node, Key(raw: definition.raw))
        var held: [(code: Payload?, rule: Payload?, sources: (any ValueSources)?)] = []
        node.family.lock.withLock { token in
            for node in node.path {
                let cell = node.storage.existingCell(token, key)
                let code = cell?.heldFlags == CellFlags.held ? cell?.payload : nil
                held.append((code, cell?.place?[token].rare?.rule.value, node.storage[token].rare?.sources.value))
            }
        }
        let naming = definition.naming
        return held.map { code, rule, sources in
            HeldValue(code: code, rule: rule, supplied: sources.map { ($0, naming?.ask($0) ?? .nothing) })
        }
    }

    /// Makes a key an input of the load that reads here, or lets an observable container track it, so that a failure
    /// because of a missing or wrong value is tried again when the value changes.
    package func recordInput(_ definition: KeyDefinition) {
        let (node, reader, key) = (node, recorder, Key(raw: definition.raw))
        let load = node.family.lock.withLock { token in reader ?? node.ownRecorder(token) { Frame.current } }
        // Otherwise nothing would try again, so the name need not be learned yet.
        guard load != nil || isTracking, present(key, definition.naming) == nil else { return }
        node.family.lock.withLock { token in load?.recordMissing(token, of: key) }
    }

    /// The sources of this container and its ancestors, nearest first.
    package var allSources: [any ValueSources] {
        let node = node
        return node.family.lock.withLock { token in node.path.compactMap { $0.storage[token].rare?.sources.value } }
    }

    /// The names that were read or are observed in this container's family.
    package var knownNames: [String] {
        let family = node.family
        return family.lock.withLock { token in family.state[token].namings.values.map(\.name) }
    }
}
