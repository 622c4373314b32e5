public import Fugu

extension Container {
    /// Reads a source and lets its values count here and in descendants: before those of the sources applied earlier,
    /// after whatever code and rules set here.
    ///
    /// All keys with a name see the values at once; those that are observed hear of it. A value that is not what its key
    /// asks for stops nobody: a read gives the default and the mistake is reported once, see `handleReports(by:)`.
    /// You can call this from any thread; applying while another thread does so too loses neither.
    ///
    /// A source that tells of its changes, such as ``MutableSource``, is read again at each of them as long as the container
    /// lives; a change that cannot be used is reported.
    ///
    /// - Throws: A ``PropertyError`` if the source cannot be read as a whole; then nothing changes.
    public func apply(_ source: some PropertySource) throws {
        let entry = try SourceStack.Entry(reading: source)
        while true {
            let old = sources
            let new = SourceStack([entry])
            if try replaceSources(old, by: old.map { new.over($0) } ?? new) { break }
        }
        follow(source, entry.id)
    }

    /// Reads every source of this container again and publishes all values together: who saw one new value never
    /// afterwards sees an old one. Sources of ancestors and children are left alone.
    ///
    /// All or nothing: if a source cannot be read, or a key that was read or is observed no longer decodes, everything
    /// stays as it is.
    ///
    /// A file that another process writes in place can be read half written; see ``reload(every:)`` for how to write files
    /// that are read while they change.
    ///
    /// - Throws: ``PropertyErrors`` with all that was found wrong.
    public func reload() throws { _ = try reload(only: nil) { _ in true } }

    /// - Parameters:
    ///   - id: The one source to read again; all if nil.
    ///   - isGood: Whether what was read is to be used.
    /// - Returns: Whether it was.
    func reload(only id: SourceStack.Identity?, if isGood: (SourceStack) -> Bool) throws -> Bool {
        while let old = SourceStack.of(self) {
            let new = try old.reread(only: id)
            guard isGood(new) else { return false }
            let isDone = try replaceSources(old, by: new) { errors in
                if !errors.isEmpty { throw PropertyErrors(errors) }
            }
            if isDone { return true }
        }
        return true
    }

    private func follow(_ source: some PropertySource, _ id: SourceStack.Identity) {
        let end = Registration()
        end.body = source.observeChanges { [weak self] in
            guard let self else {
                end.body?()
                return
            }
            do { _ = try reload(only: id) { _ in true } } catch { report(ErrorText.notReloaded("\(error)")) }
        }
    }
}
