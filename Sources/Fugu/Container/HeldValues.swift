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

extension Container {
    /// Returns whether a secret is among what the value that this container sees was made from.
    package func isMadeFromSecret(_ definition: KeyDefinition) -> Bool {
        let (node, key) = (node, Key(raw: definition.raw))
        var inputs: Set<Key> = []
        node.family.lock.withLock { token in
            var open = [key]
            while let next = open.popLast() {
                guard case .found(let cell, _) = node.look(token, next) else { continue }
                for input in cell.place?[token].provenance?.direct ?? [] where inputs.insert(input).inserted {
                    open.append(input)
                }
            }
        }
        return inputs.contains { $0.traits.isSecret }
    }
}

/// What a container holds for a key, in order of precedence, and whom it asks for the rest.
///
/// It's a tuple, since each member of a type that another module reads takes place in every program.
package typealias HeldValue = (code: Payload?, rule: Payload?, supplier: (any ValueSupplier)?)

extension Container {
    /// Returns what this container and its ancestors hold for a property, nearest first.
    ///
    /// It doesn't count as a read.
    package func heldValues(of key: Key) -> [HeldValue] {
        let node = node
        return node.family.lock.withLock { token in
            node.path.map { node in
                let cell = node.cell(token, key)
                let rule = cell?.rule(token)
                return (cell?.code(token), rule, node.storage[token].rare?.supplier.value)
            }
        }
    }

    /// Makes a key an input of the load that reads here, or lets an observable container track it, so that a failure
    /// because of a missing or wrong value is tried again when the value changes.
    package func recordInput(_ definition: KeyDefinition) {
        let (node, load, key) = (node, recorder, Key(raw: definition.raw))
        // Otherwise nothing would try again, so the name need not be learned yet.
        guard load != nil || isTracking, present(key, definition.naming) == nil else { return }
        node.family.lock.withLock { token in load?.recordMissing(token, of: key) }
    }
}

extension Container {
    /// Sets a key to the value that it has, and returns its name, or `nil` if a child can't override it.
    ///
    /// A required key without a value stays missing, for those that need it.
    package func hold(_ member: PartialKeyPath<ContainerKeys>) -> String? {
        func set<K: PlainValueKey>(_ key: K) -> Key {
            let definition = key._key
            let raw = Key(raw: definition.raw)
            if !raw.isRequired { _ = definition.prepare(in: self, reportsFailure: false) }
            if let present = present(raw, definition.naming) { change(TypedKey(key), to: .value(present)) }
            return raw
        }
        return (ContainerKeys()[keyPath: member] as? any PlainValueKey).map { set($0).name }
    }
}

extension Container {
    /// Runs code that belongs to no load, whoever calls it, and in which no container is bound.
    package static func inNobodysLoad<R>(_ body: () throws -> R) rethrows -> R { try Context.run(.ended, nil, body) }
}

/// Finds another copy of this module in the process.
///
/// If the module is linked statically into two files of one process, such as a test bundle and the app that hosts it, each
/// copy has its own shared and current container: what one copy sets, or a test binds in it, has no effect on the other.
enum Copies {
    /// The report if there's another copy, or `nil`.
    ///
    /// The runtime searches all loaded files for a type by its name, and returns the first match, so exactly one of two
    /// copies finds the other.
    ///
    /// Only debug builds ask, because the mistake is made there, and the first search takes some 300 microseconds in a
    /// process with Foundation.
    ///
    /// - Complexity: O(*n*), where *n* is the number of types in the process.
    static var report: String? {
        guard let name = _mangledTypeName(Container.self), let other = _typeByName(name), other != Container.self else {
            return nil
        }
        return Messages.twoCopies(path(of: Container.self), path(of: other))
    }

    private static func path(of type: Any.Type) -> String? {
        PlatformImage.path(at: UInt(bitPattern: ObjectIdentifier(type)))
    }
}
