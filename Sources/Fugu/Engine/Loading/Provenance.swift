import Synchronization

/// One thing that a load read: the key, how deep in the family the container stands that had it, and when it had last
/// changed by then.
///
/// The provenance of what was read is kept by the load, and after it by the provenance that the load leaves.
struct Input: Sendable {
    let key: Key
    let depth: Int
    let changed: UInt64
    let provenance: ChainReference<Provenance>?

    /// For what was given to those who waited and not kept: it counts as changed at once.
    static let neverKept = UInt64.max

    /// Whether it has changed, as a node sees it.
    func hasChanged(_ token: LockToken, for node: Node) -> Bool {
        if let (cell, owner) = Lookup(token, key, for: node).present {
            return owner.depth != depth || cell.state?[token].changed != changed
        }
        // A cell that never had a value, as where a placeholder was given, has not lost one; a value in it is hidden.
        guard let owner = node.path.first(where: { $0.depth == depth }),
            let cell = owner.storage.existingCell(token, key), !cell.has(CellFlags.hasWord)
        else { return true }
        return cell.state?[token].changed != changed
    }
}

/// What an instance was made from.
///
/// It stands beside the instance, and the provenances of those that were made from the instance keep it.
final class Provenance: Sendable {
    let inputs: [Input]
    /// Keys that the instance depends on beside its inputs and their provenances.
    ///
    /// They stand for provenances that are not kept any more, and for overrides that decided its home without being
    /// read.
    let others: [Key]
    /// Whether the instance belongs to the container that asked, by its own wish or that of something it was made from.
    let isLocal: Bool
    let reloads: Bool
    /// How many seconds the load took; negative if nobody has measured it.
    let seconds: Float
    /// The bits of all keys that the instance was made from, directly or through others.
    let mask: UInt64
    /// How many provenances stand behind one another, at most.
    let length: Int
    /// The last answer about a long chain: for which container and up to which depth, and what.
    ///
    /// Touched under the lock only.
    private let asker = Atomic<UInt64>(0)
    private let askedAbove = Atomic<Int>(0)
    private let answer = Atomic<UInt64>(0)
    private let isTakenApart = Atomic(false)

    /// `inputs`: Their references to provenances are this provenance's from now on.
    init(inputs: [Input], isLocal: Bool, reloads: Bool, others: [Key] = [], _ duration: Duration? = nil) {
        var isLocal = isLocal
        var length = 0
        var mask = others.reduce(0) { $0 | $1.mask }
        for input in inputs {
            mask |= input.key.mask
            input.provenance?.use { provenance in
                mask |= provenance.mask
                length = max(length, provenance.length)
                if provenance.isLocal { isLocal = true }
            }
        }
        self.inputs = inputs
        self.others = others
        self.isLocal = isLocal
        self.reloads = reloads
        seconds = duration.map { Float($0 / .seconds(1)) } ?? -1
        self.mask = mask
        self.length = length + 1
    }

    deinit {
        if length == 1 || isTakenApart.load(ordering: .relaxed) { return }
        if length == 2 { for input in inputs { _ = input.provenance?.take() } } else { takeApart() }
    }

    /// Lets the provenances of the inputs go, and those that only they kept, in a loop: chains may be longer than a stack.
    private func takeApart() {
        var open = inputs.compactMap(\.provenance)
        while let reference = open.popLast() {
            var provenance = reference.take()
            guard isKnownUniquelyReferenced(&provenance), provenance.length > 1 else { continue }
            provenance.isTakenApart.store(true, ordering: .relaxed)
            for input in provenance.inputs { if let next = input.provenance { open.append(next) } }
        }
    }
}

extension Provenance {
    /// Whether a node, which stands at the depth or below it, sees an instance there that has this provenance.
    func isValid(_ token: LockToken, for node: Node, from depth: Int) -> Bool {
        if depth == node.depth { return true }
        return !isLocal && !isOverridden(token, for: node, above: depth)
    }

    /// Whether an instance with this provenance may stay in a node, which isn't the root.
    ///
    /// It may if it's local, or if something that is set there made the node its home.
    func isAnchored(_ token: LockToken, at node: Node, for key: Key) -> Bool {
        if isLocal || node.holds(token, key) { return true }
        // Nearly always it is a direct input.
        for input in inputs where input.depth == node.depth { if node.holds(token, input.key) { return true } }
        return node.holdsInput(token, of: self)
    }

    /// Whether an input has changed, as a node sees it, and the instance reloads, so that it isn't kept.
    func isOutdated(_ token: LockToken, for node: Node) -> Bool {
        reloads && inputs.contains { $0.hasChanged(token, for: node) }
    }

    /// Whether `isMet` holds for a key that the instance was made from, directly or through others.
    ///
    /// `wanted`: The bits of the keys that may meet it, by which most provenances are passed over.
    func contains(_ wanted: UInt64, where isMet: (Key) -> Bool) -> Bool {
        // Each once.
        var seen: Set<ObjectIdentifier> = []
        var open = mask & wanted == 0 ? [] : [self]
        while let provenance = open.popLast() {
            if provenance.namesDirectly(isMet) { return true }
            guard provenance.length > 1 else { continue }
            for input in provenance.inputs {
                guard let deeper = input.provenance?.object, deeper.mask & wanted != 0,
                    seen.insert(ObjectIdentifier(deeper)).inserted
                else { continue }
                open.append(deeper)
            }
        }
        return false
    }

    @inline(__always)
    fileprivate func namesDirectly(_ isMet: (Key) -> Bool) -> Bool {
        for input in inputs where isMet(input.key) { return true }
        return !others.isEmpty && others.contains(where: isMet)
    }

    /// All keys that meet a condition.
    func keys(where isMet: (Key) -> Bool) -> Set<Key> {
        var found: Set<Key> = []
        _ = contains(.max) { key in
            if isMet(key) { found.insert(key) }
            return false
        }
        return found
    }

    /// The way from the instance to a key that meets a condition, if there is one: the keys between, that one last.
    func way(_ wanted: UInt64, to isMet: (Key) -> Bool) -> [Key]? {
        var way: [Key] = []
        var provenance = self
        while true {
            if let key = provenance.inputs.first(where: { isMet($0.key) })?.key ?? provenance.others.first(where: isMet)
            {
                return way + [key]
            }
            let next = provenance.inputs.first { $0.provenance?.object.contains(wanted, where: isMet) == true }
            guard let next, let deeper = next.provenance?.object else { return nil }
            way.append(next.key)
            provenance = deeper
        }
    }

    /// Whether a key that the instance was made from is set in `node`, or in an ancestor of it deeper than `depth`.
    func isOverridden(_ token: LockToken, for node: Node, above depth: Int) -> Bool {
        var held: UInt64 = 0
        _ = node.path.contains { node in
            if node.depth <= depth { return true }
            held |= node.storage[token].heldMask
            return false
        }
        if mask & held == 0 { return false }
        let question = OverrideQuestion(node: UnmanagedReference(node), above: depth, held: held)
        return answer(token, to: question) ?? search(token, question)
    }

    /// What can be said at a glance, or has been noted.
    private func answer(_ token: LockToken, to question: OverrideQuestion) -> Bool? {
        if mask & question.held == 0 { return false }
        if length == 1 { return namesDirectly { question.isHeld(token, $0) } }
        // A glance at provenances that have none behind them.
        if length == 2, inputs.count <= 8 {
            if namesDirectly({ question.isHeld(token, $0) }) { return true }
            return inputs.contains { $0.provenance?.use { $0.answer(token, to: question) } == true }
        }
        return rememberedAnswer(to: question)
    }

    /// Looks through the provenances behind this one.
    ///
    /// What was found of each is noted for those who come to it by another way, and for those who ask next: a chain
    /// that is loaded anew from its end asks of all its links.
    private func search(_ token: LockToken, _ question: OverrideQuestion) -> Bool {
        // This provenance keeps all the others.
        var way: [(provenance: UnmanagedReference<Provenance>, next: Int)] = [(UnmanagedReference(self), 0)]
        var isFound = namesDirectly { question.isHeld(token, $0) }
        while !isFound, let (provenance, next) = way.last {
            switch provenance.use({ $0.look(token, from: next, for: question) }) {
            case .found: isFound = true
            case .nothing:
                provenance.use { $0.remember(token, false, question) }
                way.removeLast()
            case .unknown(let deeper, let index):
                way[way.count - 1].next = index + 1
                way.append((deeper, 0))
                isFound = deeper.use { $0.namesDirectly { question.isHeld(token, $0) } }
            }
        }
        for (provenance, _) in way { provenance.use { $0.remember(token, true, question) } }
        return isFound
    }

    private enum Look {
        case found, nothing
        case unknown(UnmanagedReference<Provenance>, Int)
    }

    /// Looks at the provenances of the inputs, up to one of which nothing is known.
    private func look(_ token: LockToken, from first: Int, for question: OverrideQuestion) -> Look {
        for index in first..<inputs.count {
            guard let deeper = inputs[index].provenance?.uncounted else { continue }
            switch deeper.use({ $0.answer(token, to: question) }) {
            case true?: return .found
            case false?: continue
            case nil: return .unknown(deeper, index)
            }
        }
        return .nothing
    }

    private func rememberedAnswer(to question: OverrideQuestion) -> Bool? {
        guard asker.load(ordering: .relaxed) == question.asker, askedAbove.load(ordering: .relaxed) == question.above
        else { return nil }
        let answer = answer.load(ordering: .relaxed)
        return answer >> 1 >= question.pathEpoch ? answer & 1 != 0 : nil
    }

    private func remember(_ token: LockToken, _ isOverridden: Bool, _ question: OverrideQuestion) {
        asker.store(question.asker, ordering: .relaxed)
        askedAbove.store(question.above, ordering: .relaxed)
        answer.store(question.now(token) << 1 | (isOverridden ? 1 : 0), ordering: .relaxed)
    }

    /// Makes a provenance, without those of its inputs if the chain would get too long.
    ///
    /// It then names their keys itself. Otherwise provenances of instances that are gone would pile up where loads take
    /// over from former instances of one another.
    static func make(
        _ inputs: [Input], isLocal: Bool, reloads: Bool, others: [Key] = [], longest: Int, _ duration: Duration? = nil
    ) -> Provenance {
        let provenance = Provenance(inputs: inputs, isLocal: isLocal, reloads: reloads, others: others, duration)
        guard provenance.length > longest else { return provenance }
        let plain = inputs.map { Input(key: $0.key, depth: $0.depth, changed: $0.changed, provenance: nil) }
        let keys = provenance.keys { key in !plain.contains { $0.key == key } }
        return Provenance(inputs: plain, isLocal: provenance.isLocal, reloads: reloads, others: Array(keys), duration)
    }
}

/// Whether something is held between a node and the depth above it, that depth excluded.
///
/// Whoever asks keeps the node.
private struct OverrideQuestion {
    let node: UnmanagedReference<Node>
    let above: Int
    /// The bits of what is held there.
    let held: UInt64

    /// Names the node.
    var asker: UInt64 { node.use { UInt64($0.number) } }
    var pathEpoch: UInt64 { node.use { $0.storage.pathEpoch } }
    func now(_ token: LockToken) -> UInt64 { node.use { $0.family.state[token].now } }

    @inline(__always)
    func isHeld(_ token: LockToken, _ key: Key) -> Bool {
        if held & key.mask == 0 { return false }
        return node.use { node in
            node.path.firstResult { $0.depth <= above ? false : $0.holds(token, key) ? true : nil } ?? false
        }
    }
}
