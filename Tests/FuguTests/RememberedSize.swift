@testable import Fugu

/// How much a container's node remembers, counted and not weighed.
struct RememberedSize: Equatable {
    /// The provenances of what is there, and those behind them, each once.
    var provenances = 0
    /// All that these name.
    var inputs = 0
    var dependents = 0
    var loads = 0
    var followers = 0
    var places = 0
    var exclusions = 0
    var cells = 0
    var children = 0
    var active = 0
    var layers = 0
    var namings = 0
}

extension Container {
    var size: RememberedSize {
        let node = backend.node
        return node.family.lock.withLock { token in
            var size = RememberedSize()
            var open: [Provenance] = []
            for cell in node.storage.cells(token) {
                size.cells += 1
                guard let state = cell.state?[token] else { continue }
                if let provenance = state.provenance { open.append(provenance) }
                if let provenance = state.lastProvenance { open.append(provenance) }
                size.dependents += state.dependents.count
                size.loads += state.loads.reduce(0) { count, _ in count + 1 }
                size.followers += state.followers == nil ? 0 : 1
                size.places += state.place.hasBelow ? 1 : 0
                size.exclusions += state.exclusion == nil ? 0 : 1
            }
            var seen: Set<ObjectIdentifier> = []
            while let provenance = open.popLast() {
                guard seen.insert(ObjectIdentifier(provenance)).inserted else { continue }
                size.provenances += 1
                size.inputs += provenance.inputs.count + provenance.others.count
                open += provenance.inputs.compactMap { $0.provenance?.object }
            }
            var child = node.storage[token].firstChild?.object
            while let next = child {
                size.children += 1
                child = next.storage[token].nextSibling?.object
            }
            size.active = Int(node.storage[token].activeCount)
            size.layers = node.family.state[token].layers.count
            size.namings = node.family.state[token].namings.count
            return size
        }
    }
}

extension Container {
    /// What the instances of this container were made from.
    var provenances: [Provenance] {
        let node = backend.node
        return node.family.lock.withLock { token in
            node.storage.cells(token).compactMap { $0.state?[token].provenance }
        }
    }
}
