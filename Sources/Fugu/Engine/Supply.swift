// The first read of a name in a family is a commit: it asks all suppliers there, and their nodes hold the answers, so that later
// reads ask none. A node that gets another supplier asks it for all names that are known by then.

extension Family {
    /// Sets the supplier of a node.
    func set(_ token: LockToken, _ supplier: any ValueSupplier, of node: Node, _ garbage: inout Garbage) {
        node.storage[token].more().supplier.replace(by: supplier, &garbage)
        state[token].supplied[ObjectIdentifier(node)] = UnmanagedReference(node)
    }

    /// Outside the lock: asks all suppliers of the family for a named key that's used for the first time.
    @inline(never) func learn(_ naming: any KeyNaming, of key: Key) {
        while true {
            let nodes: [(node: Node, supplier: any ValueSupplier)]? = lock.withLock { token in
                if state[token].namings.contains(key) { return nil }
                return state[token].supplied.values.compactMap { node in
                    node.use { $0.storage[token].rare?.supplier.value.map { (node.object, $0) } }
                }
            }
            guard let nodes else { return }
            let isDone = hold(nodes.map { Write($0.node, key, supplying: naming.ask($0.supplier)) }) { token in
                // Another thread may have asked meanwhile, or replaced suppliers.
                state[token].namings.contains(key) || state[token].supplied.count != nodes.count
                    || !nodes.allSatisfy { $0.node.storage[token].rare?.supplier.value === $0.supplier }
            } alongside: { token in
                state[token].namings[key] = naming
            }
            if isDone { return }
        }
    }

    /// Lets nodes hold answers, all at once, and reports each new mistake in them.
    fileprivate func hold(
        _ answers: [Write], unless isObsolete: (LockToken) -> Bool, alongside: (LockToken) -> Void
    ) -> Bool {
        let mistakes = answers.map(\.mistake)
        var new: [String] = []
        let isDone = commit(answers, unless: isObsolete) { token in
            alongside(token)
            for (answer, mistake) in zip(answers, mistakes) where answer.note(token, mistake) {
                if let mistake { new.append(mistake) }
            }
        }
        for mistake in new { reports.report(mistake) }
        return isDone
    }
}

extension Write {
    /// Creates the write of a supplier's answer.
    fileprivate init(_ node: Node, _ key: Key, supplying value: SuppliedValue) {
        self.init(node, key, Equality(ofAny: key.valueType), Setting(value), by: .source)
    }

    /// Records the mistake in the answer, or that there's none, and returns whether that's new.
    fileprivate func note(_ token: LockToken, _ mistake: String?) -> Bool {
        guard !node.isEnded(token),
            let binding = mistake == nil
                ? node.cell(token, key)?.binding(token) : node.place(token, key)[token].moreBinding(),
            binding.mistake != mistake
        else { return false }
        binding.mistake = mistake
        return true
    }

    /// The text of the answer's error, if it's one.
    fileprivate var mistake: String? {
        if case .mistake(let error) = setting { "\(error)" } else { nil }
    }
}

extension Container {
    /// The supplier of this container.
    package var supplier: (any ValueSupplier)? {
        let node = node
        return node.family.lock.withLock { token in node.storage[token].rare?.supplier.value }
    }

    /// The suppliers of this container and its ancestors, nearest first.
    package var suppliers: [any ValueSupplier] {
        let node = node
        return node.family.lock.withLock { token in node.path.compactMap { $0.storage[token].rare?.supplier.value } }
    }

    /// The names that were read or are observed in this container's family, and their keys.
    package var knownNames: [(key: Key, naming: any KeyNaming)] {
        let family = node.family
        return family.lock.withLock { token in family.state[token].namings.entries.map { ($0.key, $0.value) } }
    }

    /// Replaces the supplier of the container, and with it the values of all known names, as in one `update`.
    ///
    /// - `old`: The value of `supplier` when the new one was made.
    /// - `ask`: Receives the known names, and returns the new supplier's answers for those that may have another value. It's
    ///   called again with the names that are new meanwhile. If it throws, nothing changes.
    ///
    /// Returns `false` if `old` isn't the supplier anymore, and nothing was replaced.
    package func replaceSupplier(
        _ old: (any ValueSupplier)?, by new: any ValueSupplier,
        asking ask: ([(key: Key, naming: any KeyNaming)]) throws -> [(key: Key, value: SuppliedValue)]
    ) rethrows -> Bool {
        note(.changed)
        let node = node
        let family = node.family
        var asked: Set<Key> = []
        var answers: [Write] = []
        while true {
            let unasked = knownNames.filter { asked.insert($0.key).inserted }
            answers += try ask(unasked).map { Write(node, $0.key, supplying: $0.value) }
            var (isOld, isLate) = (true, false)
            var garbage = Garbage()
            let isDone = family.hold(answers) { token in
                isOld = node.storage[token].rare?.supplier.value === old
                return !isOld || asked.count != family.state[token].namings.count
            } alongside: { token in
                isLate = node.isEnded(token)
                if !isLate { family.set(token, new, of: node, &garbage) }
            }
            garbage.dispose()
            if isLate { family.reports.report(Messages.changeAfterEnd(.supplier)) }
            if isDone || !isOld { return isDone }
        }
    }
}
