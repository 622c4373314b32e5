@testable import Fugu
@testable import FuguScopes

/// How much a container's node remembers, counted and not weighed.
struct RememberedSize: Equatable {
    /// The provenances of what is there, each once.
    var provenances = 0
    /// All that these name.
    var inputs = 0
    /// The instances and followers that watch keys.
    var readers = 0
    var loads = 0
    var followers = 0
    var exclusions = 0
    var cells = 0
    var children = 0
    var scopes = 0
    var namings = 0
}

extension Container {
    var size: RememberedSize {
        let node = node
        var size = RememberedSize()
        node.family.lock.withLock { token in
            var seen: Set<ObjectIdentifier> = []
            for cell in node.storage.cells(token) {
                size.cells += 1
                guard let place = cell.place else { continue }
                let rare = place[token].rare
                for provenance in [place[token].provenance, rare?.last].compactMap(\.self)
                where seen.insert(ObjectIdentifier(provenance)).inserted {
                    size.provenances += 1
                    size.inputs += provenance.keys.count
                }
                size.readers += place[token].watchers.count
                size.loads += rare?.loads.all.count ?? 0
                size.followers += rare?.follower.value == nil ? 0 : 1
                size.exclusions += rare?.exclusion == nil ? 0 : 1
            }
            var child = node.storage[token].firstChild?.object
            while let next = child {
                size.children += 1
                child = next.storage[token].nextSibling?.object
            }
            size.namings = node.family.state[token].namings.count
        }
        size.scopes = ScopeTable.of(self).scopes.withLock { $0.count }
        return size
    }

    /// The provenance of this container's instances.
    var provenances: [Provenance] {
        let node = node
        return node.family.lock.withLock { token in
            node.storage.cells(token).compactMap { $0.place?[token].provenance }
        }
    }
}
