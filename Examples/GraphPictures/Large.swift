import Fugu
import FuguInspection

/// A graph of many features, none of which is of interest, to see how pictures and their times grow.
struct Large {
    private let root = Container()
    private let children: [Container]

    private static func mark(_ child: Int) -> PropertyKey<Int> {
        PropertyKey(defaultValue: 0, id: child, member: "tenant")
    }

    init(_ count: Int) {
        let root = root
        let children = (0..<max(1, count / 100)).map { number in
            root.child { $0[Self.mark(number)] = number }
        }
        self.children = children
        // Three of ten live in children. Each reads three of those before it, those nearby more often than others.
        var state: UInt64 = 42
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, limit)
        }
        var shared: [FeatureKey<Int>] = []
        var own: [[FeatureKey<Int>]] = children.map { _ in [] }
        for index in 0..<count {
            let child = index % 10 < 3 ? random(children.count) : nil
            let before = child.map { shared + own[$0].suffix(6) } ?? shared
            let inputs = before.isEmpty ? [] : (0..<3).map { _ in before[max(0, before.count - 1 - random(60))] }
            let key = FeatureKey<Int>(id: index, member: "service") { container in
                if let child { _ = container[Self.mark(child)] }
                return inputs.reduce(0) { $0 &+ container[$1] } &+ 1
            }
            if let child { own[child].append(key) } else { shared.append(key) }
            _ = (child.map { children[$0] } ?? root)[key]
        }
    }

    /// Calls a closure with the container that draws the graph, while all containers of the family exist.
    func withGraphs(_ body: (() -> ContainerGraph) throws -> Void) rethrows {
        try withExtendedLifetime(children) { try body { root.graph } }
    }
}
