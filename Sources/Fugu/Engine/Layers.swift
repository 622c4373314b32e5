/// What one call adds to a feature: a decoration, or an element of a list.
final class Layer: Sendable {
    enum Kind: Sendable {
        /// Returns the loader of what wraps what a key gives.
        case decoration(@Sendable (_ within: Key) -> Replacement)
        /// The place and the loader of an element, and what returns the loader of a list that has elements after what a key
        /// gives.
        case element(SourcePlace, Replacement, list: @Sendable (_ within: Key, _ elements: Layers) -> Replacement)
    }
    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }
}

/// The layers of one loader, the last one first: a decoration, or all elements of a list.
final class Layers: Sendable {
    let layer: Layer
    /// The key of the element, if the layer adds one.
    let element: Key?
    /// The number of layers.
    let count: Int
    private let before: ChainReference<Layers>?

    init(_ layer: Layer, element: Key? = nil, before: Layers? = nil) {
        self.layer = layer
        self.element = element
        self.before = before.map { ChainReference($0) }
        count = 1 + (before?.count ?? 0)
    }

    deinit { before?.release { $0.before } }

    /// Returns the list with another last layer in place of its own.
    func replacing(_ layer: Layer) -> Layers { Layers(layer, element: element, before: before?.object) }

    var all: some Sequence<Layers> { sequence(first: self) { $0.before?.object } }
}

/// A place in the chain of loaders that a container has for a feature, each of which wraps what the key of the one before gives.
struct Link: Sendable {
    /// The key of the loader before.
    let within: Key
    let layers: Layers
    /// The number of decorations so far.
    let level: Int

    /// The keys that only the loader reads: what it wraps, and the elements of a list.
    var keys: [Key] { [within] + layers.all.compactMap(\.element) }
}

/// The writes that add layers to what a node has for a feature.
struct LayerWrites {
    let key: TypedKey
    let node: Node
    private var writes = PendingWrites()
    private var known: [(key: Key, setting: Setting)] = []

    init(to key: TypedKey, in node: Node) { (self.key, self.node) = (key, node) }

    var all: [Write] { writes.all }

    /// Whether the node still has what the layers were added to.
    func areCurrent(_ token: LockToken) -> Bool {
        known.allSatisfy { node.setting(token, of: $0.key).isSame(as: $0.setting) }
    }

    private mutating func setting(of key: Key) -> Setting {
        if let write = writes[key, node] { return write.setting }
        let setting = node.family.lock.withLock { token in node.setting(token, of: key) }
        known.append((key, setting))
        return setting
    }

    /// Sets a key.
    @inline(never) mutating func put(_ setting: Setting, at key: Key? = nil) {
        if setting.isNothing { return }
        var garbage = Garbage()
        writes.add(Write(node, key ?? self.key.key, self.key.equal, setting), &garbage)
        garbage.dispose()
    }

    /// Adds a layer: the decorations of a container are around all elements that it adds, whatever the order of the calls.
    mutating func add(_ layer: Layer) {
        let former = setting(of: key.key)
        let level = former.loader?.link?.level ?? 0
        switch layer.kind {
        case .decoration(let load):
            let within = inner(level)
            put(former, at: within)
            put(.loader(load(within).linked(Link(within: within, layers: Layers(layer), level: level + 1))))
        case .element(let place, let load, let list):
            let target = level > 0 ? inner(0) : key.key
            let own = setting(of: target)
            let known = own.loader?.link?.layers
            let within = inner(-1)
            if known == nil { put(own, at: within) }
            let element = key.key.inner(depth: node.depth, index: known?.count ?? 0, at: place)
            put(.loader(load), at: element)
            let layers = Layers(layer, element: element, before: known)
            let link = Link(within: within, layers: layers, level: 0)
            put(.loader(list(within, layers).linked(link)), at: target)
        }
    }

    private func inner(_ index: Int) -> Key { key.key.inner(depth: node.depth, index: index) }
}
