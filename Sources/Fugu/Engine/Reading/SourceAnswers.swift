/// A named key that a node's sources have not been asked for.
struct Question {
    private let node: Node
    private let key: Key
    private let naming: PropertyNaming
    private let sources: any ValueSources
    private let generation: UInt32

    /// What is to be asked before a node can read the key; nil if nothing is.
    init?(_ token: LockToken, before key: Key, in node: borrowing Node) {
        guard node.family.hasSources else { return nil }
        if let question = Question(token, unanswered: key, in: node) {
            self = question
            return
        }
        guard key.kind != .property else { return nil }
        // A loaded instance may have read names for which the sources below its home have not been asked.
        var provenances = node.path.compactMap { $0.storage.existingCell(token, key)?.state?[token].provenance }
        if let last = node.family.existingRootState(token, of: key)?[token].lastProvenance { provenances.append(last) }
        var question: Question?
        let isOpen = provenances.contains { provenance in
            provenance.contains(.max) { input in
                question = Question(token, unanswered: input, in: node)
                return question != nil
            }
        }
        guard isOpen, let question else { return nil }
        self = question
    }

    /// What the sources of a node or those above it have not been asked for the key.
    private init?(_ token: LockToken, unanswered key: Key, in node: borrowing Node) {
        guard let naming = node.family.state[token].namings[key] else { return nil }
        for node in node.path {
            if node.holds(token, key) { return nil }
            guard let rare = node.storage[token].rare, let sources = rare[token].sources, !node.isEnded(token) else {
                continue
            }
            let generation = rare[token].sourceGeneration
            guard node.storage.existingCell(token, key)?.state?[token].answered != generation else { continue }
            (self.node, self.key, self.naming) = (node, key, naming)
            (self.sources, self.generation) = (sources, generation)
            return
        }
        return nil
    }

    /// Asks, outside the lock.
    ///
    /// The answer counts as held by the node that has the sources.
    func ask() {
        let answer = naming.ask(sources)
        let mistake = answer.mistake
        var effects = Effects(until: Current.outermost)
        let isNew = node.family.lock.withLock { token in
            guard let rare = node.storage[token].rare, rare[token].sourceGeneration == generation,
                !node.isEnded(token)
            else { return false }
            let cell = node.storage.cell(token, key)
            let cellState = cell.makeState()
            guard cellState[token].answered != generation else { return false }
            cellState[token].answered = generation
            rare[token].answers &+= 1
            defer { cellState[token].mistake = mistake }
            Change(node: node, cell: cell).apply(token, .layer(answer), as: Announcement(isLoad: true), &effects)
            return cellState[token].mistake != mistake
        }
        effects.perform()
        if isNew, let mistake { node.family.reports.report(mistake) }
    }
}

extension Node {
    /// What is there for this node, without loading, after asking the sources of this node and those above for the key
    /// and for what its instances were made from, as far as that was not done.
    func presentAfterAsking(_ key: Key, _ recorder: Load? = nil) -> Payload? {
        afterAsking(key) { token in Lookup(token, key, for: self).read(token, by: recorder)?.payload }
    }

    /// Runs `body` under the lock when the sources have been asked for all that is to be known before the key is read.
    func afterAsking<R>(_ key: Key, _ body: (LockToken) -> R) -> R {
        while true {
            let (result, question): (R?, Question?) = family.lock.withLock { token in
                if let question = Question(token, before: key, in: self) { return (nil, question) }
                return (body(token), nil)
            }
            guard let question else { return result! }
            question.ask()
        }
    }

    /// What a reset of the key would uncover here.
    func answerBeneath(_ request: Request) -> SourceAnswer<Payload> {
        guard let naming = request.naming,
            let sources = family.lock.withLock({ token in storage[token].rare?[token].sources })
        else { return .nothing }
        return naming.ask(sources)
    }
}

extension SourceAnswer {
    /// The text of what is wrong, if something is.
    fileprivate var mistake: String? {
        if case .failure(let error) = self { "\(error)" } else { nil }
    }
}

extension Container {
    /// The sources of this container.
    package var sources: (any ValueSources)? {
        let node = sourceNode
        return node.family.lock.withLock { token in node.storage[token].rare?[token].sources }
    }

    /// Gives the container other sources.
    ///
    /// All that was read or is observed by name changes at once, like one `update`.
    ///
    /// - `old`: What `sources` was when the new ones were made.
    /// - `accept`: Is given the errors of the names that do not decode any more, and throws if that must not be; then
    ///   nothing changes.
    ///
    /// Returns whether it was done; not if somebody else has replaced `old` meanwhile.
    package func replaceSources(
        _ old: (any ValueSources)?, by sources: any ValueSources, accept: ([any Error]) throws -> Void = { _ in }
    ) throws -> Bool {
        try SourceChange(node: sourceNode, old: old, new: sources).commit(accept)
    }

    /// Rules come before sources, so a scope's sources belong to the layer above it that holds what rules set.
    private var sourceNode: Node {
        let node = backend.node
        guard let parent = node.parent,
            node.family.lock.withLock({ token in parent.storage[token].rare?[token].scopes.layer != nil })
        else { return node }
        return parent
    }
}

/// Other sources for a node.
private struct SourceChange {
    let node: Node
    let old: (any ValueSources)?
    let new: any ValueSources

    /// A named key that was read or is observed.
    private struct NamedKey {
        let key: Key
        let naming: PropertyNaming
        /// Whether the node has the answer of its present sources.
        let isAnswered: Bool
        /// What the new sources say; nil where that is what the old ones said.
        var answer: SourceAnswer<Payload>?
    }

    /// Asks the new sources for all names, and stores all answers together or none.
    ///
    /// Returns whether it was done; not if somebody else has replaced the old ones meanwhile.
    func commit(_ accept: ([any Error]) throws -> Void) throws -> Bool {
        while true {
            var (names, before) = node.family.lock.withLock { token in (namedKeys(token), answerCount(token)) }
            for index in names.indices { ask(&names[index]) }
            try accept(names.compactMap(newError))
            let mistakes = names.map { $0.answer?.mistake }
            let writes = names.compactMap { name in
                name.answer.map { Write(node: node, key: name.key, equal: name.naming.equal, operation: .layer($0)) }
            }
            var isOld = true
            var reports: [String] = []
            let isDone = node.family.commit(writes) { token in
                isOld = node.storage[token].rare?[token].sources === old
                let isOutdated = before != answerCount(token) || names.count != node.family.state[token].namings.count
                return !isOld || isOutdated
            } alongside: { token in
                takeSources(token)
                reports = zip(names, mistakes).compactMap { keep(token, $0, $1) }
            }
            for report in reports { node.family.reports.report(report) }
            if isDone || !isOld { return isDone }
        }
    }

    private func namedKeys(_ token: LockToken) -> [NamedKey] {
        let generation = node.storage[token].rare?[token].sourceGeneration ?? 0
        return node.family.state[token].namings.map { key, naming in
            let answered = node.storage.existingCell(token, key)?.state?[token].answered
            return NamedKey(key: key, naming: naming, isAnswered: answered == generation)
        }
    }

    private func answerCount(_ token: LockToken) -> UInt32 { node.storage[token].rare?[token].answers ?? 0 }

    /// Outside the lock: asks the new sources, unless they say what the old ones said.
    ///
    /// A value that no type can compare, or one that equals nothing, would else count as changed at every reload.
    private func ask(_ name: inout NamedKey) {
        if let old, name.isAnswered, new.holdsTheSame(name.naming.name, as: old) { return }
        name.answer = name.naming.ask(new)
    }

    /// The error of a name, if the old sources had none for it.
    private func newError(_ name: NamedKey) -> (any Error)? {
        guard case .failure(let error)? = name.answer else { return nil }
        if let old, case .failure = name.naming.ask(old) { return nil }
        return error
    }

    private func takeSources(_ token: LockToken) {
        let rare = node.storage[token].more()
        rare[token].sources = new
        rare[token].sourceGeneration &+= 1
        node.family.markSourced()
    }

    /// Marks a key as answered by the new sources, and returns what is to be reported of the answer.
    private func keep(_ token: LockToken, _ name: NamedKey, _ mistake: String?) -> String? {
        let generation = node.storage[token].more()[token].sourceGeneration
        guard name.answer != nil else {
            if let cellState = node.storage.existingCell(token, name.key)?.state,
                cellState[token].answered == generation &- 1
            {
                cellState[token].answered = generation
            }
            return nil
        }
        let cellState = node.storage.cell(token, name.key).makeState()
        cellState[token].answered = generation
        defer { cellState[token].mistake = mistake }
        return cellState[token].mistake == mistake ? nil : mistake
    }
}
