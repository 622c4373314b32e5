/// What another module keeps with a container, until the container is released.
///
/// It protects its state by a lock of its own, under which it may use the container's.
package protocol ContainerAttachment: AnyObject, Sendable {
    /// The name of the container if none was set, or `nil` if that's its number.
    ///
    /// It never changes, and is asked under the family's lock.
    var name: String? { get }
    /// Returns what a copy of the container has, beside what it has of a container farther away.
    func copied(over farther: (any ContainerAttachment)?) -> (any ContainerAttachment)?
}

extension Container {
    /// Returns the attachment, making it under the family's lock if there's none.
    package func attachment(orMade make: @autoclosure () -> any ContainerAttachment) -> any ContainerAttachment {
        let node = node
        return node.family.lock.withLock { token in
            if let known = node.storage[token].rare?.attachment { return known }
            let made = make()
            node.storage[token].more().attachment = made
            return made
        }
    }

    /// The attachments of the ancestors, farthest first.
    package var attachmentsAbove: [any ContainerAttachment] {
        let node = node
        return node.family.lock.withLock { token in
            Array(node.path.dropFirst()).reversed().compactMap { $0.storage[token].rare?.attachment }
        }
    }

    /// The attachments here and of the descendants, ancestors first.
    package var attachmentsBelow: [any ContainerAttachment] {
        let node = node
        return node.family.lock.withLock { token in
            node.subtree(token).compactMap { $0.storage[token].rare?.attachment }
        }
    }

    /// Returns whether the container was released, so that nothing can be changed in it, and reports the change then.
    ///
    /// - `change`: A sentence such as "a rule was added".
    package func isTooLate(for change: String) -> Bool {
        let node = node
        let isTooLate = node.family.lock.withLock { token in node.isEnded(token) }
        if isTooLate { report(Messages.changeAfterEnd(.attachment(change))) }
        return isTooLate
    }
}

// MARK: Rules

extension Container {
    /// What's kept with the containers for which rules run here.
    package static var attachmentsInRules: [any ContainerAttachment] {
        guard let work = Work.current else { return [] }
        return work.chain.compactMap { work in
            guard case .rules(_, let node) = work.role else { return nil }
            return node.family.lock.withLock { token in node.storage[token].rare?.attachment }
        }
    }

    /// Sets values in a child behind those that code sets there, in place of what rules have set before, like one `update`.
    ///
    /// If calls overlap, the values of the one that began last stay.
    ///
    /// - `body`: Receives a handle that has what `body` sets, or else what the parent has.
    package func setByRules(_ body: (any PropertyContainer) -> Void) {
        let (node, parent) = (node, ancestor(node.parent!))
        let run = Draft({ .rules($0, in: node) }, in: node.family)
        let begun = node.family.lock.withLock { token in node.family.state[token].tick() }
        Context.run(nil, run.work) {
            body(Container(.draft(run, parent), asking: parent.node))
            node.publish(run.take().map { Write(node, $0.key, $0.equal, $0.setting, by: .rule) }, begun: begun)
        }
        run.work.end()
    }
}

extension Node {
    /// Publishes what rules set, and removes what only an earlier run has set, unless a later run is published already.
    fileprivate func publish(_ writes: [Write], begun: UInt64) {
        let keys = Set(writes.map(\.key))
        while true {
            let former = family.lock.withLock { token in storage[token].rare?.rules ?? (begun: 0, keys: []) }
            if former.begun > begun { return }
            let resets = former.keys.filter { !keys.contains($0) }.map {
                Write(self, TypedKey(resetting: $0), .nothing, by: .rule)
            }
            let isDone = family.commit(writes + resets) { token in
                storage[token].rare?.rules.begun ?? 0 != former.begun
            } alongside: { token in
                storage[token].more().rules = (begun, keys)
            }
            if isDone { return }
        }
    }
}
