import Synchronization

/// One thing that a load read: the key, how deep in the family the container stands that had it, and when it had last
/// changed by then.
///
/// The recipe of what was read is kept by the load, and after it by the recipe that the load leaves.
struct Input: Sendable {
    let key: Key
    let depth: Int
    let changed: UInt64
    let recipe: ChainReference<Recipe>?

    /// For what was given to those who waited and not kept: it counts as changed at once.
    static let neverKept = UInt64.max
}

/// What an instance was made from.
///
/// It stands beside the instance, and the recipes of those that were made from the instance keep it.
final class Recipe: Sendable {
    let inputs: [Input]
    /// What the instance depends on beside its inputs and their recipes: what stands for recipes that are not kept any
    /// more, and what makes the instance its home's own though it was not read.
    let others: [Key]
    /// Whether the instance belongs to the container that asked, by its own wish or that of something it was made from.
    let isLocal: Bool
    let reloads: Bool
    /// How many seconds the load took; negative if nobody has measured it.
    let seconds: Float
    /// The bits of all keys that the instance was made from, directly or through others.
    let mask: UInt64
    /// How many recipes stand behind one another, at most.
    let length: Int
    /// The last answer about a long chain: for which container and up to which depth, and what.
    ///
    /// Touched under the lock only.
    private let asker = Atomic<UInt64>(0)
    private let askedAbove = Atomic<Int>(0)
    private let answer = Atomic<UInt64>(0)
    private let isTakenApart = Atomic(false)

    /// `inputs`: Their references to recipes are this recipe's from now on.
    init(inputs: [Input], isLocal: Bool, reloads: Bool, others: [Key] = [], _ duration: Duration? = nil) {
        var isLocal = isLocal
        var length = 0
        var mask = others.reduce(0) { $0 | $1.mask }
        for input in inputs {
            mask |= input.key.mask
            input.recipe?.use { recipe in
                mask |= recipe.mask
                length = max(length, recipe.length)
                if recipe.isLocal { isLocal = true }
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
        if length == 2 { for input in inputs { _ = input.recipe?.take() } } else { takeApart() }
    }

    /// Lets the recipes of the inputs go, and those that only they kept, in a loop: chains may be longer than a stack.
    private func takeApart() {
        var open = inputs.compactMap(\.recipe)
        while let reference = open.popLast() {
            var recipe = reference.take()
            guard isKnownUniquelyReferenced(&recipe), recipe.length > 1 else { continue }
            recipe.isTakenApart.store(true, ordering: .relaxed)
            for input in recipe.inputs { if let next = input.recipe { open.append(next) } }
        }
    }
}

// Everything below: under the lock of the family.
extension Recipe {
    /// Whether `isMet` holds for a key that the instance was made from, directly or through others.
    ///
    /// `wanted`: The bits of the keys that may meet it, by which most recipes are passed over.
    func contains(_ wanted: UInt64, where isMet: (Key) -> Bool) -> Bool {
        var search = RecipeSearch(from: self, wanted)
        while let recipe = search.next() { if recipe.namesDirectly(isMet) { return true } }
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
        var recipe = self
        while true {
            if let key = recipe.inputs.first(where: { isMet($0.key) })?.key ?? recipe.others.first(where: isMet) {
                return way + [key]
            }
            let next = recipe.inputs.first { $0.recipe?.object.contains(wanted, where: isMet) == true }
            guard let next, let deeper = next.recipe?.object else { return nil }
            way.append(next.key)
            recipe = deeper
        }
    }

    /// Whether something between `node` and the depth `above` it, that depth excluded, was set for a key that the instance
    /// was made from.
    func isOverridden(for node: Node, above depth: Int) -> Bool {
        var held: UInt64 = 0
        _ = node.path.contains { node in
            if node.depth <= depth { return true }
            held |= node.storage.facts.heldMask
            return false
        }
        if mask & held == 0 { return false }
        let question = OverrideQuestion(node: Unowned(node), above: depth, held: held)
        return answer(to: question) ?? search(question)
    }

    /// What can be said at a glance, or has been noted.
    private func answer(to question: OverrideQuestion) -> Bool? {
        if mask & question.held == 0 { return false }
        if length == 1 { return namesDirectly { question.isHeld($0) } }
        // A glance at recipes that have none behind them.
        if length == 2, inputs.count <= 8 {
            if namesDirectly({ question.isHeld($0) }) { return true }
            return inputs.contains { $0.recipe?.use { $0.answer(to: question) } == true }
        }
        return noted(question)
    }

    /// Looks through the recipes behind this one.
    ///
    /// What was found of each is noted for those who come to it by another way, and for those who ask next: a chain
    /// that is loaded anew from its end asks of all its links.
    private func search(_ question: OverrideQuestion) -> Bool {
        // This recipe keeps all the others.
        var way: [(recipe: Unowned<Recipe>, next: Int)] = [(Unowned(self), 0)]
        var isFound = namesDirectly { question.isHeld($0) }
        while !isFound, let (recipe, next) = way.last {
            switch recipe.use({ $0.look(from: next, for: question) }) {
            case .found: isFound = true
            case .nothing:
                recipe.use { $0.note(false, question) }
                way.removeLast()
            case .unknown(let deeper, let index):
                way[way.count - 1].next = index + 1
                way.append((deeper, 0))
                isFound = deeper.use { $0.namesDirectly { question.isHeld($0) } }
            }
        }
        for (recipe, _) in way { recipe.use { $0.note(true, question) } }
        return isFound
    }

    private enum Look {
        case found, nothing
        case unknown(Unowned<Recipe>, Int)
    }

    /// Looks at the recipes of the inputs, up to one of which nothing is known.
    private func look(from first: Int, for question: OverrideQuestion) -> Look {
        for index in first..<inputs.count {
            guard let deeper = inputs[index].recipe?.uncounted else { continue }
            switch deeper.use({ $0.answer(to: question) }) {
            case true?: return .found
            case false?: continue
            case nil: return .unknown(deeper, index)
            }
        }
        return .nothing
    }

    private func noted(_ question: OverrideQuestion) -> Bool? {
        guard asker.load(ordering: .relaxed) == question.asker, askedAbove.load(ordering: .relaxed) == question.above
        else { return nil }
        let answer = answer.load(ordering: .relaxed)
        return answer >> 1 >= question.pathEpoch ? answer & 1 != 0 : nil
    }

    private func note(_ isOverridden: Bool, _ question: OverrideQuestion) {
        asker.store(question.asker, ordering: .relaxed)
        askedAbove.store(question.above, ordering: .relaxed)
        answer.store(question.now << 1 | (isOverridden ? 1 : 0), ordering: .relaxed)
    }

    /// The recipe, or one that names what it names without keeping recipes of instances that are gone: where loads take
    /// over from former instances of one another, these would pile up.
    static func make(
        _ inputs: [Input], isLocal: Bool, reloads: Bool, others: [Key] = [], longest: Int, _ duration: Duration? = nil
    ) -> Recipe {
        let recipe = Recipe(inputs: inputs, isLocal: isLocal, reloads: reloads, others: others, duration)
        guard recipe.length > longest else { return recipe }
        let plain = inputs.map { Input(key: $0.key, depth: $0.depth, changed: $0.changed, recipe: nil) }
        let keys = recipe.keys { key in !plain.contains { $0.key == key } }
        return Recipe(inputs: plain, isLocal: recipe.isLocal, reloads: reloads, others: Array(keys), duration)
    }
}

/// Goes through a recipe and those behind it, each once, as far as they name what is wanted.
private struct RecipeSearch {
    private var open: [Recipe]
    private var seen: Set<ObjectIdentifier> = []
    private let wanted: UInt64

    init(from recipe: Recipe, _ wanted: UInt64) {
        self.wanted = wanted
        open = recipe.mask & wanted == 0 ? [] : [recipe]
    }

    mutating func next() -> Recipe? {
        guard let recipe = open.popLast() else { return nil }
        guard recipe.length > 1 else { return recipe }
        for input in recipe.inputs {
            guard let deeper = input.recipe?.object, deeper.mask & wanted != 0,
                seen.insert(ObjectIdentifier(deeper)).inserted
            else { continue }
            open.append(deeper)
        }
        return recipe
    }
}

/// Whether something is held between a node and the depth above it, that depth excluded.
///
/// Whoever asks keeps the node.
private struct OverrideQuestion {
    let node: Unowned<Node>
    let above: Int
    /// The bits of what is held there.
    let held: UInt64

    /// Names the node.
    var asker: UInt64 { node.use { $0.storage.facts.serial } }
    var pathEpoch: UInt64 { node.use { $0.storage.pathEpoch } }
    var now: UInt64 { node.use { $0.family.now } }

    @inline(__always)
    func isHeld(_ key: Key) -> Bool {
        if held & key.mask == 0 { return false }
        return node.use { node in
            node.path.firstResult { $0.depth <= above ? false : $0.holds(key) ? true : nil } ?? false
        }
    }
}

extension Key {
    /// One of 64 bits, for quick answers to "certainly not".
    var mask: UInt64 { 1 << UInt64((raw &* Table.spread) >> UInt(UInt.bitWidth - 6)) }
}
