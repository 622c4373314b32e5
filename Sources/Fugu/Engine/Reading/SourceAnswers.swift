/// A named key that a node's sources have not been asked for.
struct Question {
    let node: Node
    let key: Key
    let naming: PropertyNaming
    let sources: any ValueSources
    let generation: UInt32
}

extension Node {
    /// What is there for this node, without loading, after asking the sources of this node and those above for the key
    /// and for what its instances were made from, as far as that was not done.
    ///
    /// Answers count as held by the node.
    func presentAfterAsking(_ key: Key, _ recorder: Load? = nil) -> Payload? {
        guard family.hasSources else { return family.lock.withLock { token in present(token, key, recorder)?.payload } }
        while true {
            var question: Question?
            let payload: Payload? = family.lock.withLock { token in
                question = openQuestion(token, key)
                return question == nil ? present(token, key, recorder)?.payload : nil
            }
            guard let question else { return payload }
            ask(question)
        }
    }

    /// Returns what is to be asked before the key can be read.
    func openQuestion(_ token: LockToken, _ key: Key) -> Question? {
        guard family.hasSources else { return nil }
        if let question = unanswered(token, key) { return question }
        guard key.kind != .property else { return nil }
        var provenances = path.compactMap { $0.storage.existingCell(token, key)?.state?[token].provenance }
        if let last = family.existingRootState(token, of: key)?[token].lastProvenance { provenances.append(last) }
        for provenance in provenances {
            var question: Question?
            let isOpen = provenance.contains(.max) { input in
                question = unanswered(token, input)
                return question != nil
            }
            if isOpen { return question }
        }
        return nil
    }

    private func unanswered(_ token: LockToken, _ key: Key) -> Question? {
        guard let naming = family.state[token].namings[key] else { return nil }
        for node in path {
            if node.holds(token, key) { return nil }
            guard let sources = node.storage[token].rare?[token].sources, !node.isEnded(token) else { continue }
            let generation = node.storage[token].rare?[token].sourceGeneration ?? 0
            guard node.storage.existingCell(token, key)?.state?[token].answered != generation else { continue }
            return Question(node: node, key: key, naming: naming, sources: sources, generation: generation)
        }
        return nil
    }

    func ask(_ question: Question) {
        let (node, key) = (question.node, question.key)
        let answer = question.naming.ask(question.sources)
        let mistake = answer.mistake
        var effects = Effects()
        let isNew = family.lock.withLock { token in
            guard (node.storage[token].rare?[token].sourceGeneration ?? 0) == question.generation, !node.isEnded(token)
            else {
                return false
            }
            let cellState = node.storage.cell(token, key).makeState()
            guard cellState[token].answered != question.generation else { return false }
            cellState[token].answered = question.generation
            node.storage[token].more()[token].answers &+= 1
            defer { cellState[token].mistake = mistake }
            node.apply(
                token, .layer(answer), to: key, Node.Announcement(isLoad: true), holder: Current.outermost, &effects)
            return cellState[token].mistake != mistake
        }
        effects.perform()
        if isNew, let mistake { family.reports.report(mistake) }
    }

    /// What a reset of the key would uncover here.
    func answerBeneath(_ request: Request) -> SourceAnswer<Payload> {
        guard let naming = request.naming,
            let sources = family.lock.withLock({ token in storage[token].rare?[token].sources })
        else {
            return .nothing
        }
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
        let node = backend.node.sourceNode
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
        try backend.node.sourceNode.replaceSources(SourceChange(old: old, new: sources), accept)
    }
}

/// Other sources for a node.
private struct SourceChange {
    let old: (any ValueSources)?
    let new: any ValueSources

    /// What the new sources say to each name, and nothing where that is what the old ones said: a value that no type can
    /// compare, or one that equals nothing, would else count as changed at every reload.
    func answers(to names: [NamedKey]) -> [Answer] {
        names.compactMap { name in
            if let old, name.isAnswered, new.holdsTheSame(name.naming.name, as: old) { return nil }
            return Answer(key: name.key, naming: name.naming, answer: name.naming.ask(new))
        }
    }

    /// The errors of names that the old sources had no error for.
    func newMistakes(among answers: [Answer]) -> [any Error] {
        answers.compactMap { answer in
            guard case .failure(let error) = answer.answer else { return nil }
            if let old, case .failure = answer.naming.ask(old) { return nil }
            return error
        }
    }

    struct NamedKey {
        let key: Key
        let naming: PropertyNaming
        /// Whether the node has the answer of its present sources.
        let isAnswered: Bool
    }

    struct Answer {
        let key: Key
        let naming: PropertyNaming
        let answer: SourceAnswer<Payload>
    }
}

extension Node {
    /// Rules come before sources, so a scope's sources belong to the layer above it that holds what rules set.
    fileprivate var sourceNode: Node {
        guard let parent, family.lock.withLock({ token in parent.storage[token].rare?[token].scopes.layer != nil })
        else {
            return self
        }
        return parent
    }

    fileprivate func replaceSources(_ change: SourceChange, _ accept: ([any Error]) throws -> Void) throws -> Bool {
        while true {
            var names: [SourceChange.NamedKey] = []
            let before = family.lock.withLock { token in
                names = namedKeys(token)
                return (answers: storage[token].rare?[token].answers ?? 0, namings: names.count)
            }
            let answers = change.answers(to: names)
            try accept(change.newMistakes(among: answers))
            var isOld = true
            let writes = answers.map {
                Write(node: self, key: $0.key, equal: $0.naming.equal, operation: .layer($0.answer))
            }
            let mistakes = answers.map(\.answer.mistake)
            var reports: [String] = []
            let isDone = family.commit(writes) { token in
                isOld = storage[token].rare?[token].sources === change.old
                return !isOld || before != (storage[token].rare?[token].answers ?? 0, family.state[token].namings.count)
            } alongside: { token in
                storage[token].more()[token].sources = change.new
                storage[token].more()[token].sourceGeneration &+= 1
                family.markSourced()
                reports = zip(answers, mistakes).compactMap { keepMistake(token, $1, of: $0.key) }
                for name in names where name.isAnswered { markAnswered(token, name.key) }
                storage.raiseEpoch(token, to: family.state[token].tick(), reachesDescendants: true)
            }
            for report in reports { family.reports.report(report) }
            if isDone || !isOld { return isDone }
        }
    }

    /// Returns the names that were read or are observed.
    private func namedKeys(_ token: LockToken) -> [SourceChange.NamedKey] {
        let generation = storage[token].rare?[token].sourceGeneration ?? 0
        return family.state[token].namings.map { key, naming in
            let answered = storage.existingCell(token, key)?.state?[token].answered
            return SourceChange.NamedKey(key: key, naming: naming, isAnswered: answered == generation)
        }
    }

    /// Marks a key as answered by the new sources.
    private func markAnswered(_ token: LockToken, _ key: Key) {
        let generation = storage[token].rare?[token].sourceGeneration ?? 0
        guard let cellState = storage.existingCell(token, key)?.state, cellState[token].answered == generation &- 1
        else { return }
        cellState[token].answered = generation
    }

    /// Stores the answer of the sources to a key, and returns what is to be reported of it.
    private func keepMistake(_ token: LockToken, _ mistake: String?, of key: Key) -> String? {
        let cellState = storage.cell(token, key).makeState()
        cellState[token].answered = storage[token].rare?[token].sourceGeneration ?? 0
        defer { cellState[token].mistake = mistake }
        return cellState[token].mistake == mistake ? nil : mistake
    }
}
