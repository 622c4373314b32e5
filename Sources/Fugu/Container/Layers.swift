/// A decoration of a feature, or an element that's added to a list.
final class Layer: Sendable {
    /// The loader of a feature with the layer, and the writes of the keys within that it needs.
    typealias Addition = (loader: Replacement, inner: [Write])

    private let add: @Sendable (_ setting: Operation?, _ layers: Layers, _ node: Node) -> Addition

    /// Creates a layer from a closure that receives what a node has and the layers of the result.
    init(_ add: @escaping @Sendable (_ setting: Operation?, _ layers: Layers, _ node: Node) -> Addition) {
        self.add = add
    }

    /// Adds the layer to what a node has for the feature.
    func added(to setting: Operation?, in node: Node) -> Addition {
        var layers = Layers(setting)
        layers.all.append(self)
        return add(setting, layers, node)
    }
}

/// What a node has for a key: layers, and what they are around.
struct Layers: Sendable {
    /// What code or a rule set, or `nil` if the innermost layer wraps what the node would inherit.
    private var base: Operation?
    /// The layers, the innermost one first.
    fileprivate(set) var all: [Layer] = []

    /// Whether the innermost layer wraps what the node would inherit.
    var areAroundInherited: Bool { base == nil }

    init(_ setting: Operation?) {
        if let layers = setting?.replacement?.layers { self = layers } else { base = setting }
    }

    /// Lays what a nearer node has around this; a layer that's already here stays where it is.
    mutating func add(_ nearer: Layers) {
        guard nearer.base == nil else {
            self = nearer
            return
        }
        let known = Set(all.map { ObjectIdentifier($0) })
        all += nearer.all.filter { !known.contains(ObjectIdentifier($0)) }
    }

    /// Returns the writes that give a node without a setting of the key what is here.
    func writes(of key: Key, in node: Node) -> [Write] {
        var (setting, writes) = (base, [Write]())
        for layer in all {
            let (loader, inner) = layer.added(to: setting, in: node)
            setting = .replace(loader)
            writes += inner
        }
        if let setting { writes.append(Write(node, TypedKey(resetting: key), setting)) }
        return writes
    }
}
