public import Fugu

extension Container {
    /// Reads a source and lets its values count here and in descendants: before those of the sources applied earlier,
    /// after whatever code and rules set here.
    ///
    /// All keys with a name see the values at once; those that are observed hear of it. A value that is not what its key
    /// asks for stops nobody: a read gives the default and the mistake is reported once, see `handleReports(by:)`.
    /// May be called from any thread; applying while another thread does so too loses neither.
    ///
    /// - Throws: a ``PropertyError`` if the source cannot be read as a whole; then nothing changes.
    public func apply(_ source: some PropertySource) throws {
        let entry = try SourceStack.Entry(reading: source)
        while true {
            let old = sources
            let new = SourceStack([entry])
            if try replaceSources(old, by: old.map { new.over($0) } ?? new) { return }
        }
    }

    /// Reads every source of this container again and publishes all values together: who saw one new value never
    /// afterwards sees an old one. Sources of ancestors and children are left alone.
    ///
    /// All or nothing: if a source cannot be read, or a key that was read or is observed no longer decodes, everything
    /// stays as it is.
    ///
    /// - Throws: ``PropertyErrors`` with all that was found wrong.
    public func reload() throws {
        while let old = SourceStack.of(self) {
            let new = try old.reread()
            let isDone = try replaceSources(old, by: new) { errors in
                if !errors.isEmpty { throw PropertyErrors(errors) }
            }
            if isDone { return }
        }
    }
}
