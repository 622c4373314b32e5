// Sources are asked early: for a name when it's first used, and for all known names when sources change. Their node holds
// the answers, so later reads ask none.

extension Family {
    /// Outside the lock: asks all sources of the family for a named key that's used for the first time.
    @inline(never) func learn(_ naming: PropertyNaming, of key: Key) {
        while true {
            let nodes: [(node: Node, sources: any ValueSources)]? = lock.withLock { token in
                if state[token].namings.contains(key) { return nil }
                return state[token].sourced.values.compactMap { node in
                    node.use { $0.storage[token].rare?.sources.value }.map { (node.object, $0) }
                }
            }
            guard let nodes else { return }
            let answers = nodes.map { naming.ask($0.sources) }
            let writes = zip(nodes, answers).map { Write($0.node, key, naming.equal, .supply($1)) }
            var mistakes: [String] = []
            let isDone = commit(writes) { token in
                // Another thread may have asked meanwhile, or replaced sources.
                state[token].namings.contains(key) || state[token].sourced.count != nodes.count
                    || !nodes.allSatisfy { $0.node.storage[token].rare?.sources.value === $0.sources }
            } alongside: { token in
                state[token].namings[key] = naming
                for (node, answer) in zip(nodes, answers) {
                    if let mistake = node.node.note(token, answer, of: key) { mistakes.append(mistake) }
                }
            }
            for mistake in mistakes { reports.report(mistake) }
            if isDone { return }
        }
    }
}

extension Node {
    /// Sets the node's sources.
    func take(_ token: LockToken, _ sources: any ValueSources, _ garbage: inout Garbage) {
        storage[token].more().sources.replace(by: sources, &garbage)
        family.state[token].sourced[ObjectIdentifier(self)] = UnmanagedReference(self)
    }

    /// Records the mistake in an answer, and returns it if it's new.
    fileprivate func note(_ token: LockToken, _ answer: SourceAnswer<Payload>, of key: Key) -> String? {
        let mistake = answer.mistake
        guard
            let rare = mistake == nil
                ? storage.existingCell(token, key)?.place?[token].rare : place(token, key)[token].more(),
            rare.mistake != mistake
        else { return nil }
        rare.mistake = mistake
        return mistake
    }
}

extension SourceAnswer<Payload> {
    /// The text of the error, if the answer is one.
    fileprivate var mistake: String? { if case .failure(let error) = self { "\(error)" } else { nil } }
}

extension Container {
    /// Runs `read`, and repeats it until no sources of this container or its ancestors were replaced meanwhile.
    ///
    /// An error counts as a result. In a load, what any attempt has read is an input.
    package func atOneMoment<R, E>(_ read: () throws(E) -> R) throws(E) -> R {
        func attempt() -> Result<R, E> {
            do throws(E) { return .success(try read()) } catch { return .failure(error) }
        }
        while true {
            let before = allSources
            let result = attempt()
            if before.elementsEqual(allSources, by: { $0 === $1 }) { return try result.get() }
        }
    }

    /// The sources of this container.
    package var sources: (any ValueSources)? {
        let node = node
        return node.family.lock.withLock { token in node.storage[token].rare?.sources.value }
    }

    /// Replaces the sources of the container.
    ///
    /// The values of all known names change at once, as in one `update`.
    ///
    /// - `old`: The value of `sources` when the new ones were created.
    /// - `isReload`: Whether these are other values of the same sources.
    /// - `accept`: Receives the mistakes that the new sources would bring, and throws to reject them; then nothing changes.
    ///
    /// Returns whether the sources were replaced, which they aren't if `old` isn't current anymore.
    package func replaceSources(
        _ old: (any ValueSources)?, by sources: any ValueSources, isReload: Bool,
        accept: ([SourceMistake]) throws -> Void
    ) throws -> Bool {
        tell(.changed)
        return try SourceChange(node: node, old: old, new: sources, isReload: isReload).commit(accept)
    }
}

/// A mistake that other sources would bring, about a name that was read or is observed: the error of a wrong value, or `nil` if
/// there would be no value; and whether the next read would stop the program, because a required value that's there now would be
/// missing.
package typealias SourceMistake = (name: String, error: (any Error)?, isFatal: Bool)

/// A replacement of a node's sources.
private struct SourceChange {
    let node: Node
    let old: (any ValueSources)?
    let new: any ValueSources
    let isReload: Bool

    private var family: Family { node.family }

    /// Asks the new sources for all names, and stores all answers or none.
    ///
    /// Returns whether the sources were replaced, which they aren't if `old` isn't current anymore.
    func commit(_ accept: ([SourceMistake]) throws -> Void) throws -> Bool {
        while true {
            let namings = family.lock.withLock { token in family.state[token].namings.entries }
            var answers: [(key: Key, naming: PropertyNaming, answer: SourceAnswer<Payload>)] = []
            var worse: [SourceMistake] = []
            for (key, naming) in namings {
                // Otherwise, a value that can't be compared, or doesn't equal itself, would count as changed at every reload.
                if let old, new.holdsTheSame(naming.name, as: old) { continue }
                let answer = naming.ask(new)
                answers.append((key, naming, answer))
                if let mistake = mistake(answer, of: key, naming) { worse.append(mistake) }
            }
            try accept(worse)
            let writes = answers.map { Write(node, $0.key, $0.naming.equal, .supply($0.answer)) }
            var isOld = true
            var mistakes: [String] = []
            var garbage = Garbage()
            let isDone = family.commit(writes, outdates: !isReload) { token in
                isOld = node.storage[token].rare?.sources.value === old
                return !isOld || namings.count != family.state[token].namings.count
            } alongside: { token in
                if node.isEnded(token) { return mistakes = [Messages.changeAfterEnd(.sources)] }
                node.take(token, new, &garbage)
                mistakes = answers.compactMap { node.note(token, $0.answer, of: $0.key) }
            }
            garbage.dispose()
            for mistake in mistakes { family.reports.report(mistake) }
            if isDone || !isOld { return isDone }
        }
    }

    /// Returns the mistake in an answer of the new sources, unless the old ones made it, too.
    private func mistake(
        _ answer: SourceAnswer<Payload>, of key: Key, _ naming: PropertyNaming
    ) -> SourceMistake? {
        if case .success(_?) = answer { return nil }
        let isFatal = naming.isRequired && !isGiven(key, naming, new) && isGiven(key, naming, old)
        guard case .failure(let error) = answer else {
            return isFatal ? SourceMistake(name: naming.name, error: nil, isFatal: true) : nil
        }
        return hadFailed(naming) ? nil : SourceMistake(name: naming.name, error: error, isFatal: isFatal)
    }

    /// Whether a read in this node gives a value other than the default if the node has these sources.
    private func isGiven(_ key: Key, _ naming: PropertyNaming, _ own: (any ValueSources)?) -> Bool {
        var held = node.heldValues(of: key, naming)
        held[0].supplied = own.map { ($0, naming.ask($0)) }
        if case .success(_?) = held.answer { return true }
        return false
    }

    /// Whether the old sources had a wrong value for a name, too.
    private func hadFailed(_ naming: PropertyNaming) -> Bool {
        guard let old, case .failure = naming.ask(old) else { return false }
        return true
    }
}
