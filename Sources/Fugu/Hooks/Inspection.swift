/// A type that describes values as text.
package protocol ValueTeller {
    func text<Value>(of value: Value) -> String
}

extension Container {
    /// Returns the number of this container, and that of the container whose value of a key it sees.
    package func holder(of key: Key) -> (own: Int, seen: Int?) {
        let node = node
        return node.family.lock.withLock { token in
            if case .found(_, let owner) = node.look(token, key) {
                (node.number, owner.object.number)
            } else {
                (node.number, nil)
            }
        }
    }
}

extension Container {
    /// Returns the instances that were loaded from the value of a key as this container sees it, in each container above and
    /// below with that container's name unless it's the root.
    package func readers(of definition: KeyDefinition) -> [(container: String?, keys: [Key])] {
        let (node, key) = (node, Key(raw: definition.raw))
        return node.family.lock.withLock { token in
            guard case .found(_, let owner) = node.look(token, key) else { return [] }
            return (node.path.dropFirst().reversed() + node.subtree(token)).compactMap { node in
                guard case .found(_, owner) = node.look(token, key) else { return nil }
                let readers = node.storage.cells(token).filter { cell in
                    cell.has(CellFlags.loaded) && cell.place?[token].provenance?.direct.contains(key) == true
                }
                return readers.isEmpty ? nil : (node.isRoot ? nil : node.displayName(token), readers.map(\.key))
            }
        }
    }
}

extension Key {
    /// Returns a property's value as text.
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? {
        guard let type else { return ValueKeys.descriptor(of: self).tell(payload, by: teller) }
        return (type as? any Property.Type)?.tell(payload, by: teller)
    }
}

extension Property {
    fileprivate static func tell(_ payload: Payload, by teller: any ValueTeller) -> String {
        teller.text(of: payload.value(as: Value.self))
    }
}

extension PropertyDescriptor {
    func tell(_ payload: Payload, by teller: any ValueTeller) -> String? {
        teller.text(of: payload.value(as: Value.self))
    }
}
