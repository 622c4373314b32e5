import Fugu

/// The names of keys in a snapshot, which don't depend on the addresses of types and so are the same in each run.
struct GraphNames {
    private var names: [Key: String] = [:]

    init(of keys: some Sequence<Key>) {
        let keys = Set(keys)
        names = Dictionary(uniqueKeysWithValues: keys.map { ($0, $0.name) })
        // Use the short name if it's unique; otherwise, add the types around it, and then the module.
        lengthen { $0.codeName }
        lengthen { $0.fullName }
    }

    /// Gives longer names to keys that share a name.
    private mutating func lengthen(_ longer: (Key) -> String) {
        let same = Dictionary(grouping: names.keys, by: { names[$0]! }).values.filter { $0.count > 1 }
        for key in same.joined() { names[key] = longer(key) }
    }

    subscript(key: Key) -> String { names[key] ?? key.name }
}

extension Key {
    /// The name with the module and all types around it; for a private type, the runtime's name.
    fileprivate var fullName: String { type.map { String(reflecting: $0) } ?? name }
}
