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
    /// and for what its instances were made from, as far as that was not done. Answers count as held by the node.
    func presentAfterAsking(_ key: Key, _ recorder: Flight? = nil) -> Payload? {
        while true {
            var question: Question?
            let payload: Payload? = family.lock.withLock {
                question = openQuestion(key)
                return question == nil ? present(key, recorder)?.payload : nil
            }
            guard let question else { return payload }
            ask(question)
        }
    }

    /// Under the lock: what is to be asked before the key can be read.
    func openQuestion(_ key: Key) -> Question? {
        guard family.hasSources else { return nil }
        if let question = unanswered(key) { return question }
        guard key.kind != .property else { return nil }
        var recipes = path.compactMap { $0.storage.existingCell(key)?.info?.value.recipe }
        if let last = family.existingRecord(key)?.facts.value.lastRecipe { recipes.append(last) }
        for recipe in recipes {
            for input in recipe.keys {
                if let question = unanswered(input) { return question }
            }
        }
        return nil
    }

    private func unanswered(_ key: Key) -> Question? {
        guard let naming = family.existingRecord(key)?.facts.value.naming else { return nil }
        for node in path {
            if node.holds(key) { return nil }
            guard let sources = node.storage.facts.sources, !node.isEnded else { continue }
            let generation = node.storage.facts.sourceGeneration
            guard node.storage.existingCell(key)?.info?.value.answered != generation else { continue }
            return Question(node: node, key: key, naming: naming, sources: sources, generation: generation)
        }
        return nil
    }

    func ask(_ question: Question) {
        let (node, key) = (question.node, question.key)
        let answer = question.naming.ask(question.sources)
        var effects = Effects()
        let isNew = family.lock.withLock {
            guard node.storage.facts.sourceGeneration == question.generation, !node.isEnded else { return false }
            let info = node.storage.cell(key).makeInfo()
            guard info.value.answered != question.generation else { return false }
            info.value.answered = question.generation
            node.storage.facts.answers &+= 1
            node.apply(.layer(answer), to: key, isFirstLoad: true, holder: Current.unfinished, &effects)
            return true
        }
        effects.perform(in: family)
        if isNew, case .failure(let error) = answer { family.reports.report("\(error)") }
    }
}

extension Container {
    /// The sources of this container.
    package var sources: (any ValueSources)? {
        let node = backing.node.sourceNode
        return node.family.lock.withLock { node.storage.facts.sources }
    }

    /// Gives the container other sources. All that was read or is observed by name changes at once, like one `update`.
    ///
    /// - Parameter accept: Is given the names that do not decode any more, and throws if that must not be; then nothing
    ///   changes.
    package func replaceSources(
        by sources: any ValueSources, accept: ([(name: String, error: any Error)]) throws -> Void
    ) throws {
        try backing.node.sourceNode.replaceSources(by: sources, accept)
    }
}

extension Node {
    /// Rules come before sources, so a scope's sources belong to the layer above it that holds what rules set.
    fileprivate var sourceNode: Node {
        guard let parent, family.lock.withLock({ parent.storage.facts.scopes?.layer != nil }) else { return self }
        return parent
    }

    fileprivate func replaceSources(
        by sources: any ValueSources, _ accept: ([(name: String, error: any Error)]) throws -> Void
    ) throws {
        while true {
            let (before, names) = family.lock.withLock {
                (
                    storage.facts.answers,
                    family.records.compactMap { record in
                        record.facts.value.naming.map { (record.key, $0) }
                    }
                )
            }
            let answers = names.map { ($0, $1, $1.ask(sources)) }
            var failures: [(name: String, error: any Error)] = []
            for (_, naming, answer) in answers {
                if case .failure(let error) = answer { failures.append((naming.name, error)) }
            }
            try accept(failures)
            let writes = answers.map { key, naming, answer in
                Write(node: self, key: key, equal: naming.equal, operation: .layer(answer))
            }
            let isDone = family.commit(writes, unless: { [self] in storage.facts.answers != before }) { [self] in
                storage.facts.sources = sources
                storage.facts.sourceGeneration &+= 1
                family.noteSources()
                for write in writes {
                    storage.cell(write.key).makeInfo().value.answered = storage.facts.sourceGeneration
                }
                storage.raiseEpoch(reachesDescendants: true)
            }
            guard isDone else { continue }
            for (_, error) in failures { family.reports.report("\(error)") }
            return
        }
    }
}
