import Synchronization

/// One thing that a load read: the key, the node that had it, and how often it had changed by then.
struct Input: Sendable {
    let key: Key
    let depth: Int
    let changes: UInt32
    let recipe: Recipe?
}

/// What an instance was made from. Made when its load ends and kept beside the instance, and by the recipes of those that
/// were made from it.
final class Recipe: Sendable {
    let inputs: [Input]
    /// Whether the instance belongs to the container that asked, by its own wish or that of something it was made from.
    let isLocal: Bool
    /// The bits of all keys in `keys`.
    let mask: UInt64
    let reloads: Bool
    /// What was not read but makes the instance its home's own all the same.
    private let overrides: [Key]
    private let flattened = AtomicLazyReference<KeyList>()

    init(inputs: [Input], isLocal: Bool, reloads: Bool, overrides: [Key] = []) {
        var isLocal = isLocal
        var mask = overrides.reduce(0) { $0 | $1.mask }
        for input in inputs {
            mask |= input.key.mask
            guard let recipe = input.recipe else { continue }
            mask |= recipe.mask
            if recipe.isLocal { isLocal = true }
        }
        self.inputs = inputs
        self.isLocal = isLocal
        self.mask = mask
        self.reloads = reloads
        self.overrides = overrides
    }

    /// Every key that the instance was made from, directly or through others.
    var keys: [Key] {
        if let known = flattened.load() { return known.keys }
        var seen: Set<Key> = []
        var visited: Set<ObjectIdentifier> = []
        collect(into: &seen, &visited)
        return flattened.storeIfNil(KeyList(seen)).keys
    }

    private func collect(into keys: inout Set<Key>, _ visited: inout Set<ObjectIdentifier>) {
        guard visited.insert(ObjectIdentifier(self)).inserted else { return }
        keys.formUnion(overrides)
        for input in inputs {
            keys.insert(input.key)
            input.recipe?.collect(into: &keys, &visited)
        }
    }
}

private final class KeyList: Sendable {
    let keys: [Key]
    init(_ keys: Set<Key>) { self.keys = Array(keys) }
}

extension Key {
    /// One of 64 bits, for quick answers to "certainly not".
    var mask: UInt64 { 1 << UInt64((raw &* 0x9E37_79B9_7F4A_7C15) >> UInt(UInt.bitWidth - 6)) }
}
