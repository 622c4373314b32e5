public import Fugu

extension Container {
    /// Reads a source, and takes values from it here and in descendants.
    ///
    /// Its values come before those of sources that were applied earlier, and after what code and rules set here. All
    /// keys with a name see the values together, and observers are notified. A value that doesn't have the type of its
    /// key doesn't stop the program: a read gives the default, and the problem is reported once (see
    /// `handleReports(by:)`).
    ///
    /// A source that notifies of its changes, such as ``MutableSource``, is read again at each of them for as long as
    /// the container lives; a copy of the container keeps the values of the moment it was made, until you reload it. A
    /// change that can't be used is reported. Several threads can apply sources at the same time.
    ///
    /// - Parameter source: The source.
    /// - Throws: ``PropertyError`` if the source can't be read. Nothing changes then.
    /// - Complexity: O(*n* + *k*) for a source with *n* bytes and *k* names that were read or are observed.
    public func apply(_ source: some PropertySource) throws {
        let entry = try SourceStack.Entry(reading: source)
        while true {
            let old = sources
            let new = SourceStack([entry])
            if try replaceSources(old, by: old.map { new.over($0) } ?? new) { break }
        }
        follow(source, entry.application)
    }

    /// Takes away the sources of this container that have a name.
    ///
    /// What they hid is read again, and observers are notified. Sources of ancestors and children stay.
    ///
    /// - Parameter name: The ``PropertySource/name`` of the sources.
    /// - Complexity: O(*s* + *k*) for *s* sources of this container and *k* names that were read or are observed.
    public func removeSources(named name: String) {
        while let old = SourceStack.of(self) {
            let new = SourceStack(old.entries.filter { $0.source.name != name }, log: old.log)
            // Nothing is refused here, so nothing is thrown.
            if new.entries.count == old.entries.count || (try? replaceSources(old, by: new)) != false { return }
        }
    }

    /// Reads every source of this container again, and publishes all values together.
    ///
    /// A reader that saw one new value never sees an old one afterwards. Sources of ancestors and children aren't read.
    /// If a source can't be read or has vanished, or if a key that was read, is observed, or was declared would become
    /// wrong, nothing changes at all. Declared keys are checked as ``validate()`` checks them, and so are unknown names and
    /// conditions; what is wrong already refuses no reload.
    ///
    /// A file that another process is writing can be read half written; ``reload(every:)`` says how to write files that
    /// are read while they change.
    ///
    /// - Parameter checksUnread: Pass `false` to check only keys that were read or are observed.
    /// - Throws: ``PropertyErrors`` with all problems.
    /// - Complexity: O(*n* + *k*) for *n* bytes in all sources and *k* names that were read, are observed, or were
    ///   declared.
    public func reload(checksUnread: Bool = true) throws { _ = try reload({ _ in true }, checksUnread: checksUnread) }

    /// Reads sources again.
    ///
    /// - Parameters:
    ///   - isWanted: A closure that says whether to read a source again.
    ///   - checksUnread: Whether to check declared keys that nothing has read.
    ///   - isGood: A closure that says whether to use what was read.
    /// - Returns: Whether it was used.
    /// - Throws: ``PropertyErrors`` with all problems.
    func reload(
        _ isWanted: (SourceStack.Entry) -> Bool, checksUnread: Bool = true,
        if isGood: (SourceStack) -> Bool = { _ in true }
    ) throws -> Bool {
        while let old = SourceStack.of(self) {
            let new = try old.reread(isWanted)
            guard isGood(new) else { return false }
            if try publish(new, over: old, checksUnread: checksUnread) { return true }
        }
        return true
    }

    /// Replaces sources unless something would become wrong.
    ///
    /// - Returns: Whether it was done; not if others have replaced `old`.
    func publish(_ new: SourceStack, over old: SourceStack, checksUnread: Bool = true) throws -> Bool {
        // What was read has the first word, so that each error comes once.
        let accept: ([any Error]) throws -> Void = { errors in
            if !errors.isEmpty { throw PropertyErrors(errors) }
            if checksUnread { try self.check(new, over: old) }
        }
        return try replaceSources(old, by: new, accept: accept)
    }

    private func follow(_ source: some PropertySource, _ application: SourceStack.Application) {
        let end = source.observeChanges { [weak self, weak application] in
            guard let self, let application else { return }
            do {
                _ = try reload { $0.application === application }
            } catch {
                report(ErrorText.notReloaded("\(error)"))
            }
        }
        application.follow(until: end)
    }
}
