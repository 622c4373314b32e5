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

/// A run of rules, which set values in a container behind those that its code sets.
package struct RuleRun: Sendable {
    private let container: Container
    private let frame: Frame

    /// Creates a run for a child, as part of the code that makes it.
    package init(in container: Container) {
        self.container = container
        frame = Frame(.rules, in: container.node.family, container.node, under: Frame.current, within: Frame.own)
    }

    /// Whether the code that asks is part of the run.
    package var isCurrent: Bool { Frame.current?.chain.contains { $0 === frame } == true }

    /// Publishes what `body` sets, like one `update`, and removes what only an earlier run has set; returns the keys that `body` sets.
    package func publish(inPlaceOf former: Set<Key>, _ body: (any PropertyContainer) -> Void) -> Set<Key> {
        let node = container.node
        frame.collectWrites()
        return Context.run(nil, frame) {
            body(Container(.rule(frame, container), asking: node))
            var writes = frame.takeWrites()
            let keys = Set(writes.map(\.key))
            writes += former.subtracting(keys).map { Write(node, TypedKey(resetting: $0), .nothing, by: .rule) }
            if !writes.isEmpty { node.family.commit(writes) }
            return keys
        }
    }

    /// Ends the run, and delivers what it has changed.
    package func end() { frame.end() }

    /// Waits for the end of the run, or returns `false` if that would close a circle of waits.
    package func wait() -> Bool {
        let waiter = Frame.current
        let (isOver, wait) = frame.family.lock.withLock { token -> (Bool, Wait?) in
            frame.isFinished ? (true, nil) : (false, frame.beginWait(token, for: waiter))
        }
        wait?.block()
        return isOver || wait != nil
    }
}
