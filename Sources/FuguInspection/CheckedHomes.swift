import Fugu

/// Where the features of a check live.
///
/// The engine has placed what was loaded. Where that depends on a stand-in for a feature that declares no home, the place says
/// nothing.
struct CheckedHomes {
    /// Features, each name once.
    struct List {
        private var paths: [String: [String]] = [:]

        var sorted: [ContainerCheck.Feature] {
            paths.map { ContainerCheck.Feature(name: $0.key, path: $0.value) }.sorted { $0.name < $1.name }
        }

        mutating func add(_ name: String, _ path: [String] = []) { paths[name] = paths[name] ?? path }
    }

    private(set) var shared = List()
    private(set) var overriding = List()
    private(set) var local = List()
    private(set) var undetermined = List()

    /// Adds the features of one root.
    mutating func add(_ root: LoadCheck.Root) {
        let standIns = Dictionary(uniqueKeysWithValues: root.standIns.map { ($0.key, $0) })
        let entries = root.snapshot.entries.map { Entry($0, root.homes[$0.place.key] ?? .inferred) }
        let names = GraphNames(of: entries.flatMap { [$0.key] + $0.snapshot.anchors + $0.snapshot.reads })
        let next = Self.unknownInputs(of: entries, standIns)
        for entry in entries where entry.key.kind != .property {
            let (key, home) = (entry.key, entry.home)
            if let standIn = standIns[key], key.isRequired || standIn.home.isInferred { continue }
            guard entry.isLoaded || entry.snapshot.isUnset else { continue }
            let name = names[key]
            if home.isLocal || entry.snapshot.isLocal {
                local.add(name)
            } else if let input = next[key], !entry.isFixed, entry.snapshot.depth == 0 || !entry.isLoaded {
                undetermined.add(name, sequence(first: input) { next[$0] }.map { names[$0] })
            } else if entry.snapshot.depth == 0 {
                shared.add(name)
            } else {
                let anchors = entry.isLoaded ? entry.snapshot.anchors : Array(home.keys?.prefix(1) ?? [])
                overriding.add(name, anchors.map { names[$0] })
            }
        }
    }

    /// Returns, for each key whose place isn't known because of a stand-in, the input that leads there.
    private static func unknownInputs(of entries: [Entry], _ standIns: [Key: StandIns.Use]) -> [Key: Key] {
        var next: [Key: Key] = [:]
        /// Follows the readers of some keys, as far as they count.
        func follow(_ keys: [Key], where counts: (Entry) -> Bool) {
            var readers: [Key: [Key]] = [:]
            for entry in entries where standIns[entry.key] == nil && counts(entry) {
                for read in entry.snapshot.reads { readers[read, default: []].append(entry.key) }
            }
            var open = keys.sorted { $0.name < $1.name }
            var index = 0
            while index < open.count {
                for reader in readers[open[index]] ?? [] where next[reader] == nil {
                    next[reader] = open[index]
                    open.append(reader)
                }
                index += 1
            }
        }
        // What has failed since a stand-in did may read more, once that's loaded.
        follow(standIns.values.filter { $0.instead == .error }.map(\.key)) { $0.snapshot.isUnset }
        let failed = entries.filter { $0.snapshot.isUnset && !$0.isKnown }.map(\.key)
        follow(failed + standIns.values.filter(\.home.isInferred).map(\.key)) { entry in
            entry.snapshot.depth == 0 && !entry.isKnown
        }
        return next
    }

    /// An entry with the declared home of its key.
    private struct Entry {
        let snapshot: GraphSnapshot.Entry
        let home: Home
        var key: Key { snapshot.place.key }
        /// Whether there's an instance.
        var isLoaded: Bool { snapshot.state == .loaded || snapshot.state == .testValue }
        /// Whether the instance lives where the declaration says, which a decoration's doesn't.
        let isFixed: Bool
        /// Whether it's known where it lives, whatever it's made from.
        var isKnown: Bool { isFixed || home.isLocal || snapshot.isLocal }

        init(_ entry: GraphSnapshot.Entry, _ home: Home) {
            (snapshot, self.home) = (entry, home)
            isFixed = home.isFixed && !entry.reads.contains { $0.decorated == entry.place.key }
        }
    }
}
