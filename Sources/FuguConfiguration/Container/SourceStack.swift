import Fugu

/// All sources of a container with what they held when they were last read, the latest applied first.
///
/// It never changes: applying and reloading make another.
final class SourceStack: ValueSources {
    /// A source and what it held.
    struct Entry: Sendable {
        let source: any PropertySource
        let snapshot: PropertySnapshot
        /// Taken before the source was read, so that what changed in between shows at the next look.
        let stamp: PropertySourceStamp?
        /// Stays the same when the source is read again.
        let id: Identity

        init(reading source: any PropertySource, id: Identity = Identity()) throws(PropertyError) {
            self.source = source
            self.id = id
            stamp = source.modificationStamp()
            snapshot = try source.load()
        }
    }

    final class Identity: Sendable {}

    let entries: [Entry]
    /// Whom to tell what is read.
    let log: ReadLog?

    init(_ entries: [Entry], log: ReadLog? = nil) {
        self.entries = entries
        self.log = log
    }

    /// The sources of a container, if it has some.
    static func of(_ container: Container) -> SourceStack? { container.sources as? SourceStack }

    /// What has the name, in the order in which it counts.
    ///
    /// No layer looks into another.
    func values(named name: String) -> some Sequence<LocatedValue> { found(name).lazy.map(\.value) }

    /// The same, with whether its source calls it a secret.
    func found(_ name: String) -> some Sequence<(value: LocatedValue, isSecret: Bool)> {
        entries.lazy.compactMap { entry in
            entry.snapshot.value(named: name).map { ($0, entry.snapshot.isSecret(name)) }
        }
    }

    func answer<Value: Decodable & Sendable>(_ name: String, as _: Value.Type, isSecret: Bool) -> SourceAnswer<Value> {
        let found = found(name).first { _ in true }
        log?.tell(SourceRead(name: name, type: "\(Value.self)", origin: found?.value.origin))
        guard let (value, isMarked) = found else { return .nothing }
        do throws(PropertyError) {
            return .value(try value.decode(Value.self, quotesValues: !isSecret && !isMarked))
        } catch {
            return .failure(error)
        }
    }

    func holdsTheSame(_ name: String, as others: any ValueSources) -> Bool {
        guard let others = others as? SourceStack else { return false }
        let (own, its) = (values(named: name).first { _ in true }, others.values(named: name).first { _ in true })
        guard let own, let its else { return own == nil && its == nil }
        return own.isSame(as: its)
    }

    func over(_ others: any ValueSources) -> any ValueSources {
        SourceStack(entries + ((others as? SourceStack)?.entries ?? []), log: log ?? (others as? SourceStack)?.log)
    }

    /// The same sources with what they hold now, or everything that is wrong with them.
    ///
    /// `id`: The one source to read again; the others keep what they have. All of them if there is none.
    func reread(only id: Identity? = nil) throws(PropertyErrors) -> SourceStack {
        var fresh: [Entry] = []
        var errors: [PropertyError] = []
        for entry in entries {
            guard id == nil || entry.id === id else {
                fresh.append(entry)
                continue
            }
            do throws(PropertyError) {
                fresh.append(try Entry(reading: entry.source, id: entry.id))
            } catch {
                errors.append(error)
            }
        }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
        return SourceStack(fresh, log: log)
    }

    /// What the sources would be stamped with now.
    var stampsNow: [PropertySourceStamp?] { entries.map { $0.source.modificationStamp() } }

    /// What they were stamped with when they were read.
    var stamps: [PropertySourceStamp?] { entries.map(\.stamp) }
}

extension PropertyErrors {
    /// Errors of any kind, each as one of ours.
    init(_ errors: [any Error]) {
        self.init(errors.map { $0 as? PropertyError ?? PropertyError("\($0)") })
    }
}
