extension Container {
    /// Sets a key to the value that it has, and returns its name, or `nil` if a child can't override it.
    package func hold(_ member: PartialKeyPath<ContainerKeys>) -> String? {
        func set<K: PlainValueKey>(_ key: K) -> Key {
            let definition = key._key
            _ = definition.loader(self, false)
            let raw = Key(raw: definition.raw)
            if let present = present(raw, definition.naming) { change(TypedKey(key), .set(present)) }
            return raw
        }
        return (ContainerKeys()[keyPath: member] as? any PlainValueKey).map { set($0).name }
    }
}
