import Fugu

/// The sources of a container with the values that they had when they were last read, the latest applied first.
///
/// It's immutable: applying and reloading create another one.
final class SourceStack: ValueSources {
    /// A source and its values.
    final class Entry: Sendable {
        let source: any PropertySource
        let snapshot: PropertySnapshot
        /// The stamp from before the source was read, so that a change in between is noticed at the next poll.
        let stamp: PropertySourceStamp?
        /// The identity, which stays the same when the source is read again.
        let application: Application

        init(reading source: any PropertySource, _ application: Application = Application()) throws(PropertyError) {
            self.source = source
            self.application = application
            stamp = source.modificationStamp()
            snapshot = try source.load()
        }

        /// Returns the present values of the source.
        ///
        /// A source that was there and has vanished is an error, so that the last good values stay.
        func reread(_ source: any PropertySource) throws(PropertyError) -> Entry {
            let new = try Entry(reading: source, application)
            if new.snapshot.isMissing, !snapshot.isMissing {
                throw PropertyError(ErrorText.vanished, source: new.snapshot.source)
            }
            return new
        }
    }

    /// The application of a source to a container.
    ///
    /// When no container has the source any more, the source is no longer observed.
    final class Application: Sendable {
        /// A closure stored as a generic value would be wrapped once more at each access.
        private struct End {
            var body: (@Sendable () -> Void)?
        }

        private let end = Locked(End())

        /// Keeps the closure that ends the observation.
        func follow(until body: (@Sendable () -> Void)?) { end.withLock { $0.body = body } }

        deinit { end.withLock { $0.body }?() }
    }

    let entries: [Entry]
    /// The closure that receives the names that are read.
    let log: ReadLog?

    init(_ entries: [Entry], log: ReadLog? = nil) {
        self.entries = entries
        self.log = log
    }

    /// Returns the sources of a container, if it has any.
    static func of(_ container: Container) -> SourceStack? { container.sources as? SourceStack }

    /// Returns the values for the name, in order of precedence.
    ///
    /// Layers are independent of one another.
    func values(named name: String) -> some Sequence<LocatedValue> {
        entries.lazy.compactMap { $0.snapshot.value(named: name) }
    }

    func answer<Value: Decodable & Sendable>(
        _ name: String, as _: Value.Type, form: PropertyForm<Value>?, isSecret: Bool
    ) -> SourceAnswer<Value> {
        let value = value(named: name, as: Value.self, form: form)
        log?.tell(SourceRead(name: name, type: "\(Value.self)", origin: value?.origin))
        guard let value else { return .nothing }
        if value.isSecret { SecretNames.addSupplied(name) }
        do throws(PropertyError) {
            return .value(try value.decode(Value.self, form: form, quotesValues: !isSecret))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the first value for the name, or the merged tables if a form says so.
    func value<Value: Decodable>(named name: String, as type: Value.Type, form: PropertyForm<Value>?) -> LocatedValue? {
        guard form?.mergesTables == true else { return values(named: name).first { _ in true } }
        MergedNames.members(of: name, as: type, form)
        return mergedTable(named: name)?.located(name) ?? values(named: name).first { _ in true }
    }

    /// Returns the merged tables of the name, down to a source that has another value there.
    func mergedTable(named name: String) -> MergedTable? {
        var table = MergedTable()
        for entry in entries {
            guard let value = entry.snapshot.value(named: name) else {
                for member in MergedNames.members(of: name) ?? [] {
                    let path = member.split(separator: ".").map(String.init)
                    if let value = entry.snapshot.value(named: name + "." + member) { table.add(value, at: path[...]) }
                }
                continue
            }
            guard value.node.kind == .table else { break }
            table.add(value)
        }
        return table.isEmpty ? nil : table
    }

    func holdsTheSame(_ name: String, as others: any ValueSources) -> Bool {
        guard let others = others as? SourceStack else { return false }
        if let members = MergedNames.members(of: name) {
            return ([name] + members.map { name + "." + $0 }).allSatisfy { name in
                let (own, its) = (Array(values(named: name)), Array(others.values(named: name)))
                return own.count == its.count && zip(own, its).allSatisfy { $0.isSame(as: $1) }
            }
        }
        let (own, its) = (values(named: name).first { _ in true }, others.values(named: name).first { _ in true })
        guard let own, let its else { return own == nil && its == nil }
        return own.isSame(as: its)
    }

    func over(_ others: any ValueSources) -> any ValueSources {
        SourceStack(entries + ((others as? SourceStack)?.entries ?? []), log: log ?? (others as? SourceStack)?.log)
    }

    /// Returns the same sources, some of them with their present values, or throws all errors.
    ///
    /// `isWanted`: A closure that says whether to read a source again.
    func reread(_ isWanted: (Entry) -> Bool) throws(PropertyErrors) -> SourceStack {
        var fresh: [Entry] = []
        var errors: [PropertyError] = []
        for entry in entries {
            guard isWanted(entry) else {
                fresh.append(entry)
                continue
            }
            do throws(PropertyError) {
                fresh.append(try entry.reread(entry.source))
            } catch {
                errors.append(error)
            }
        }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
        return SourceStack(fresh, log: log)
    }
}

extension PropertyErrors {
    /// Creates an error that collects errors of any type.
    init(_ errors: [any Error]) {
        self.init(errors.map { $0 as? PropertyError ?? PropertyError("\($0)") })
    }
}
