import Fugu

/// All sources of a container with what they held when they were last read, the latest applied first. It never changes:
/// applying and reloading make another.
final class SourceStack: ValueSources {
    /// A source and what it held.
    struct Entry: Sendable {
        let source: any PropertySource
        let snapshot: PropertySnapshot
        /// Taken before the source was read, so that what changed in between shows at the next look.
        let stamp: PropertySourceStamp?

        init(reading source: any PropertySource) throws(PropertyError) {
            self.source = source
            stamp = source.modificationStamp()
            snapshot = try source.load()
        }
    }

    let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    /// The sources of a container, if it has some.
    static func of(_ container: Container) -> SourceStack? { container.sources as? SourceStack }

    /// What has the name, in the order in which it counts. No layer looks into another.
    func values(named name: String) -> some Sequence<LocatedValue> {
        entries.lazy.compactMap { $0.snapshot.value(named: name) }
    }

    func answer<Value: Decodable & Sendable>(_ name: String, as _: Value.Type, isSecret: Bool) -> SourceAnswer<Value> {
        guard let value = values(named: name).first(where: { _ in true }) else { return .nothing }
        do throws(PropertyError) {
            return .value(try value.decode(Value.self, quotesValues: !isSecret))
        } catch {
            return .failure(error)
        }
    }

    func over(_ others: any ValueSources) -> any ValueSources {
        SourceStack(entries + ((others as? SourceStack)?.entries ?? []))
    }

    /// The same sources with what they hold now, or everything that is wrong with them.
    func reread() throws(PropertyErrors) -> SourceStack {
        var fresh: [Entry] = []
        var errors: [PropertyError] = []
        for entry in entries {
            do throws(PropertyError) { fresh.append(try Entry(reading: entry.source)) } catch { errors.append(error) }
        }
        guard errors.isEmpty else { throw PropertyErrors(errors) }
        return SourceStack(fresh)
    }

    /// What the sources would be stamped with now.
    var stampsNow: [PropertySourceStamp?] { entries.map { $0.source.modificationStamp() } }
}

extension PropertyErrors {
    /// Errors of any kind, each as one of ours.
    init(_ errors: [any Error]) {
        self.init(errors.map { $0 as? PropertyError ?? PropertyError("\($0)") })
    }
}
