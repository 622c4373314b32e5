public import Fugu

extension Container {
    /// Reads a source, and gives its values to reads here and in descendants.
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
    /// - Throws: ``PropertyError`` if the source can't be read, or ``PropertyErrors`` if it has a wrong value for a required
    ///   key that was read or is observed. Nothing changes then.
    /// - Complexity: O(*n* + *k* × *s*) for a source with *n* bytes, *k* names that were read or are observed, and *s* sources here.
    public func apply(_ source: some PropertySource) throws {
        try read(source) { entry in
            try changeSources { $0.adding(entry) }
        }
    }

    /// Replaces the sources of this container that have a name with another source.
    ///
    /// All keys with a name see the change together, and observers are notified. It's refused where ``reload(checksUnread:)``
    /// would be. The other source takes the first one's place in the order of precedence; if none has the name, it's
    /// applied.
    ///
    /// - Parameters:
    ///   - name: The ``PropertySource/name`` of the sources to replace.
    ///   - source: The other source.
    /// - Throws: ``PropertyError`` if the source can't be read, or ``PropertyErrors`` with all problems. Nothing changes then.
    /// - Complexity: O(*n* + *k*) for *n* bytes in all sources and *k* names that were read, are observed, or were
    ///   declared.
    public func replaceSources(named name: String, with source: some PropertySource) throws {
        try read(source) { entry in
            while true {
                let old = sources
                let new = (old as? SourceStack ?? SourceStack()).replacing(name, by: entry)
                if try publish(new, over: old) { return }
            }
        }
    }

    /// Removes the sources of this container that have a name.
    ///
    /// What they hid is read again, and observers are notified. Sources of ancestors and children stay.
    ///
    /// - Parameter name: The ``PropertySource/name`` of the sources.
    /// - Throws: ``PropertyErrors`` if a required key that was read or is observed would be left without a value. Nothing
    ///   changes then.
    /// - Complexity: O(*s* + *k*) for *s* sources of this container and *k* names that were read or are observed.
    public func removeSources(named name: String) throws {
        try changeSources { old in
            let new = old.changingEntries { $0.filter { $0.source.name != name } }
            return new.entries.count == old.entries.count ? nil : new
        }
    }

    /// Reads every source of this container again, and publishes all values together.
    ///
    /// A reader that saw one new value never sees an old one afterward. Sources of ancestors and children aren't read. Nothing
    /// changes at all if a source can't be read or has vanished, if a key that was read, is observed, or was declared would
    /// become wrong, or if a required one would lose its value. Declared keys, unknown names, and conditions are checked as
    /// `validate` checks them. A mistake that was there before the reload doesn't refuse it.
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
    ///   - skip: A closure that receives the sources that can't be read and keep their values. If there's none, they're errors.
    ///   - isGood: A closure that says whether to use what was read.
    /// - Returns: Whether it was used.
    /// - Throws: ``PropertyErrors`` with all problems.
    func reload(
        _ isWanted: (SourceStack.Entry) -> Bool, checksUnread: Bool = true,
        skip: (([SourceStack.Failure]) -> Void)? = nil, if isGood: (SourceStack) -> Bool = { _ in true }
    ) throws -> Bool {
        while let old = SourceStack.of(self), old.entries.contains(where: isWanted) {
            let (new, failures) = old.reread(isWanted)
            guard skip != nil || failures.isEmpty else { throw PropertyErrors(failures.map(\.error)) }
            skip?(failures)
            guard isGood(new) else { return false }
            if try publish(new, over: old, checksUnread: checksUnread) { return true }
        }
        return true
    }

    /// Replaces sources unless something would become wrong.
    ///
    /// - Returns: Whether it was done; not if others have replaced `old`.
    func publish(_ new: SourceStack, over old: (any ValueSources)?, checksUnread: Bool = true) throws -> Bool {
        try replaceSources(old, by: new) { mistakes in
            // What was read has the first word, so that each error comes once.
            try refuse(mistakes, of: new)
            if checksUnread { try check(new, over: old as? SourceStack ?? SourceStack()) }
        }
    }

    /// Gives the container what a closure makes of its sources, or leaves them if that's nothing.
    ///
    /// Only what would stop the program at the next read is refused.
    func changeSources(_ change: (SourceStack) throws -> SourceStack?) throws {
        while true {
            let old = sources
            guard let new = try change(old as? SourceStack ?? SourceStack()) else { return }
            if try replaceSources(old, by: new, accept: { try refuse($0.filter(\.isFatal), of: new) }) { return }
        }
    }

    private func refuse(_ mistakes: [SourceMistake], of new: SourceStack) throws {
        guard !mistakes.isEmpty else { return }
        let ancestors = allSources.dropFirst().compactMap { $0 as? SourceStack }
        throw PropertyErrors(
            mistakes.map { mistake in
                guard let error = mistake.error else {
                    return missing(mistake.name, label: mistake.name, in: [new] + ancestors)
                }
                return error as? PropertyError ?? PropertyError("\(error)")
            })
    }

    // MARK: Sources that notify of changes

    /// Reads a source, gives it to a closure that puts it among the container's, and follows it from then on.
    private func read(_ source: some PropertySource, _ place: (SourceStack.Entry) throws -> Void) throws {
        let application = SourceStack.Application()
        let end = source.observeChanges { [weak self, weak application] in
            application?.noteChange()
            guard let self, let application else { return }
            readAgain(application)
        }
        application.follow(until: end)
        let changes = application.changes
        try place(SourceStack.Entry(reading: source, application))
        // A change before the source had its place found nothing to read again.
        if application.changes != changes { readAgain(application) }
    }

    private func readAgain(_ application: SourceStack.Application) {
        do {
            _ = try reload { $0.application === application }
        } catch {
            report(ErrorText.notReloaded("\(error)"))
        }
    }
}
