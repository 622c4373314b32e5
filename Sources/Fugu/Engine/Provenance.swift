// What instances are made from.

/// A key that a load has read.
package struct Input {
    package let key: Key
    /// The time of what was seen, by `Node.time`, or `neverKept`.
    let time: UInt64
    /// Whether it was read from a cell; otherwise, its value wasn't kept, or its load failed.
    let isKept: Bool

    /// The time of a value that wasn't kept, which always counts as changed.
    static let neverKept = UInt64.max

    let provenance: Provenance?
    let lifetime: Lifetime?

    /// The identity of an input: another instance of the same key is another input, as is what comes after nothing.
    fileprivate var identity: KeyOfObject {
        let nothing = time == 0 ? ObjectIdentifier(Provenance.none) : nil
        return KeyOfObject(key: key, object: lifetime.map { ObjectIdentifier($0) } ?? nothing)
    }

    /// Whether a node sees something else than what was read.
    ///
    /// The default of a property of which nothing was seen is nothing else.
    @inline(__always)
    fileprivate func isOld(_ token: LockToken, for node: Node) -> Bool {
        if node.time(token, of: key) == time { return false }
        return time != 0 || key.kind != .property || node.path.contains { $0.holds(token, key) }
    }

    /// Whether the input is kept, and all of its own inputs are among the keys.
    fileprivate func isWithin(_ keys: [Key]) -> Bool {
        isKept && provenance?.keys.allSatisfy { keys.contains($0) } ?? true
    }

    /// Whether a key is the input or one of its own.
    fileprivate func has(_ key: Key) -> Bool { key == self.key || provenance?.keys.contains(key) == true }
}

/// The inputs of a load, in the order in which it read them, each once.
///
/// Functions that a load's end calls are mutating though they change nothing: the compiler copies the list for others.
struct Inputs {
    /// The first one, apart, since few loads have more.
    private var first: Input?
    private var others: [Input] = []
    /// The identities of the inputs, once there are many.
    private var seen: [KeyOfObject: Int]?
    private var mask: UInt64 = 0
    /// The depth of the deepest node that a value was read from.
    private(set) var depth = 0
    /// Whether what the load gives is only for the container that asked.
    var isLocal = false

    var all: [Input] { first.map { [$0] + others } ?? [] }
    /// The lifetimes of what was read.
    mutating func lifetimes() -> [Lifetime] {
        var all: [Lifetime] = []
        if let lifetime = first?.lifetime { all.append(lifetime) }
        for input in others { if let lifetime = input.lifetime { all.append(lifetime) } }
        return all
    }

    /// Adds an input that was read from a node at a depth.
    mutating func add(_ input: consuming Input, from depth: Int) {
        if depth > self.depth { self.depth = depth }
        if input.provenance?.isLocal == true { isLocal = true }
        if mask & input.key.mask == 0 {
            seen?[input.identity] = 0
        } else if contains(input) {
            return
        }
        mask |= input.key.mask
        if first == nil { first = input } else { others.append(input) }
    }

    /// Returns whether the same input was recorded before.
    ///
    /// A key that's read again may have another instance, which is another input.
    private mutating func contains(_ input: Input) -> Bool {
        if others.count < 8 {
            return first?.identity == input.identity || others.contains { $0.identity == input.identity }
        }
        if seen == nil {
            seen = [:]
            for input in all { seen![input.identity] = 0 }
        }
        return seen!.updateValue(0, forKey: input.identity) != nil
    }

    /// Whether a node sees something else than what was read.
    mutating func areOld(_ token: LockToken, for node: Node) -> Bool {
        guard let first else { return false }
        if first.isOld(token, for: node) { return true }
        return others.contains { $0.isOld(token, for: node) }
    }

    /// Moves the inputs into the garbage.
    mutating func forget(_ garbage: inout Garbage) {
        (mask, depth, isLocal) = (0, 0, false)
        guard let former = first.take() else { return }
        garbage.add(former.provenance)
        garbage.add(former.lifetime)
        if others.isEmpty { return }
        garbage.add(Retained(others))
        (others, seen) = ([], nil)
    }

    /// Returns the provenance of an instance that's made from the inputs: the last one if they are the same.
    ///
    /// - `homeKeys`: Keys on which the home depends besides the inputs.
    mutating func provenance(isLocal: Bool, reloads: Bool, _ homeKeys: [Key], orLast last: Provenance?) -> Provenance {
        if first == nil, homeKeys.isEmpty, !isLocal { return .none }
        let last = last?.isLocal == isLocal && last?.reloads == reloads && last?.homeKeys == homeKeys ? last : nil
        if let last, areAll(of: last) { return last }
        var (direct, keys, mask) = ([Key](), homeKeys, mask)
        direct.reserveCapacity(1 + others.count)
        for key in homeKeys { mask |= key.mask }
        func add(_ input: Input) {
            direct.append(input.key)
            guard let made = input.provenance, !made.keys.isEmpty else { return }
            mask |= made.mask
            keys += made.keys
            if !input.isKept { direct += made.direct }
        }
        if let first { add(first) }
        for input in others { add(input) }
        // The library's sort merges the runs that are sorted already.
        keys = (keys.isEmpty ? direct : keys + direct).sortedUnique()
        if let last, last.mask == mask, last.direct == direct, last.keys == keys { return last }
        return Provenance(
            direct: direct, keys: keys, mask: mask, isLocal: isLocal, reloads: reloads, homeKeys: homeKeys)
    }

    /// Whether a provenance, which isn't long, has exactly these inputs, so that none has to be made.
    private func areAll(of provenance: Provenance) -> Bool {
        let (direct, keys) = (provenance.direct, provenance.keys)
        guard let first, keys.count <= 16, direct.count == 1 + others.count, direct[0] == first.key,
            first.isWithin(keys),
            others.indices.allSatisfy({ others[$0].key == direct[$0 + 1] && others[$0].isWithin(keys) })
        else { return false }
        return keys.count == 1 || keys.allSatisfy { key in first.has(key) || others.contains { $0.has(key) } }
    }
}

/// The inputs of an instance, and their inputs.
///
/// Successive loads of a key that read the same keys share one object.
package final class Provenance: Sendable {
    /// The direct inputs, in the order in which `load(in:)` read them, and those of an input that wasn't kept: graphs, reloads, and
    /// doubt follow them.
    package let direct: [Key]
    /// All inputs, direct and indirect, and the keys on which the home depends, sorted: they decide where the instance lives, and who
    /// sees it.
    let keys: [Key]
    /// The bits of `keys`.
    let mask: UInt64
    /// Whether the instance lives in the container that asked for it, because the feature or one of its inputs declares
    /// that.
    package let isLocal: Bool
    /// Whether a change of an input drops the instance.
    package let reloads: Bool
    /// The keys of the declared home, if it's `.with(…)`.
    package let homeKeys: [Key]

    static let none = Provenance(direct: [], keys: [], mask: 0, isLocal: false, reloads: false)

    init(
        direct: [Key], keys: [Key], mask: UInt64, isLocal: Bool, reloads: Bool,
        homeKeys: [Key] = []
    ) {
        self.homeKeys = homeKeys
        self.direct = direct
        self.keys = keys
        self.mask = mask
        self.isLocal = isLocal
        self.reloads = reloads
    }

    /// Whether a node sees an instance that lives in `home`, which is the node or an ancestor: no node below `home` on the
    /// way holds one of the inputs.
    ///
    /// - `held`: The bits of the keys that are held on the way.
    @inline(__always)
    func isValid(_ token: LockToken, for node: Node, from home: Node, _ held: UInt64 = .max) -> Bool {
        if node === home { return true }
        if isLocal { return false }
        return mask & held == 0 || !isOverridden(token, for: node, below: home)
    }

    /// Whether a node or one of its ancestors below `home` holds one of the inputs.
    @inline(never) func isOverridden(_ token: LockToken, for node: Node, below home: Node) -> Bool {
        node.path(below: home).contains { $0.holdsAny(token, of: keys, mask) }
    }

    /// Whether a node may keep an instance: it's the root, or it's where the instance is declared to live and the instance is
    /// local or the node holds its key or one of its inputs.
    func isAnchored(_ token: LockToken, _ key: Key, in node: Node) -> Bool {
        if node.isRoot { return true }
        if !homeKeys.isEmpty, !node.isHome(token, of: key, with: homeKeys) { return false }
        return isLocal || node.holds(token, key) || node.holdsAny(token, of: keys, mask)
    }
}

extension CellReference {
    /// The time that identifies the value.
    func identity(_ token: LockToken) -> UInt64 { place?[token].identity ?? time }
}

extension [Key] {
    /// Returns the keys sorted, without duplicates.
    func sortedUnique() -> [Key] {
        guard count > 1 else { return self }
        var all = sorted { $0.raw < $1.raw }
        var end = 1
        for index in 1..<all.count where all[index] != all[end - 1] {
            all[end] = all[index]
            end += 1
        }
        all.removeLast(all.count - end)
        return all
    }
}
