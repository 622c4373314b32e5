import Fugu

extension Container {
    /// Returns the instances that were loaded from the value of a key as this container sees it, in each container above and
    /// below with that container's name unless it's the root.
    func readers(of definition: KeyDefinition) -> [(container: String?, keys: [Key])] {
        let (node, key) = (node, Key(raw: definition.raw))
        return node.family.lock.withLock { token in
            guard case .found(_, let owner) = node.look(token, key) else { return [] }
            return (node.path.dropFirst().reversed() + node.subtree(token)).compactMap { node in
                guard case .found(_, owner) = node.look(token, key) else { return nil }
                let readers = node.storage.cells(token).filter { cell in
                    cell.has(CellFlags.loaded) && cell.provenance(token)?.direct.contains(key) == true
                }
                return readers.isEmpty ? nil : (node.isRoot ? nil : node.displayName(token), readers.map(\.key))
            }
        }
    }
}

extension Container {
    /// Returns whether a secret is among what the value that this container sees was made from.
    func isMadeFromSecret(_ definition: KeyDefinition) -> Bool {
        let (node, key) = (node, Key(raw: definition.raw))
        var inputs: Set<Key> = []
        node.family.lock.withLock { token in
            var open = [key]
            while let next = open.popLast() {
                guard case .found(let cell, _) = node.look(token, next) else { continue }
                for input in cell.provenance(token)?.direct ?? [] where inputs.insert(input).inserted {
                    open.append(input)
                }
            }
        }
        return inputs.contains { $0.traits.isSecret }
    }
}

/// What a container holds for a key, in order of precedence, and whom it asks for the rest.
typealias HeldValue = (code: Payload?, rule: Payload?, supplier: (any ValueSupplier)?)

extension Container {
    /// Returns what this container and its ancestors hold for a property, nearest first.
    ///
    /// It doesn't count as a read.
    func heldValues(of key: Key) -> [HeldValue] {
        let node = node
        return node.family.lock.withLock { token in
            node.path.map { node in
                let cell = node.cell(token, key)
                let rule = cell?.rule(token)
                return (cell?.code(token), rule, node.supplier(token))
            }
        }
    }

    /// Makes a key an input of the load that reads here, or lets an observable container track it, so that a failure
    /// because of a missing or wrong value is tried again when the value changes.
    func recordInput(_ definition: KeyDefinition) {
        let (node, load, key) = (node, recorder, Key(raw: definition.raw))
        // Otherwise nothing would try again, so the name need not be learned yet.
        guard load != nil || isTracking, present(key, definition.naming) == nil else { return }
        node.family.lock.withLock { token in load?.recordMissing(token, of: key) }
    }
}
