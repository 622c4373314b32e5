import Fugu

/// A small world: a family of two or three containers, three keys, and what three actors do there.
struct World: Hashable {
    enum Key: String, CaseIterable { case P, F, G }

    enum Op: Hashable, CustomStringConvertible {
        case read(Key, Int), set(Key, Int), reset(Key, Int), replace(Int), modify(Int), update(Int)
        case observe(Key, Int), cancelToken, close(Int), readAsync(Int), cancelReaders, drop

        /// Spelled so that it can be read and given back to `--world`.
        var description: String {
            switch self {
            case .read(let key, let place): "read \(key) \(place)"
            case .set(let key, let place): "set \(key) \(place)"
            case .reset(let key, let place): "reset \(key) \(place)"
            case .replace(let place): "replace F \(place)"
            case .modify(let place): "modify P \(place)"
            case .update(let place): "update P,F \(place)"
            case .observe(let key, let place): "observe \(key) \(place)"
            case .cancelToken: "cancel token"
            case .close(let place): "close \(place)"
            case .readAsync(let place): "await A \(place)"
            case .cancelReaders: "cancel readers"
            case .drop: "drop last"
            }
        }

        var isAsync: Bool {
            switch self {
            case .close, .readAsync: true
            default: false
            }
        }

        /// Whether it gives a container a feature that isn't made from P, or another loader.
        var givesFeatures: Bool {
            switch self {
            case .set(.F, _), .set(.G, _), .replace, .update: true
            default: false
            }
        }

        /// Whether nothing is different afterwards, but for what is loaded.
        var changesNothing: Bool {
            switch self {
            case .read, .observe, .readAsync: true
            default: false
            }
        }
    }

    enum Observers: String, CaseIterable {
        case none, heard
        /// The one of P sets P once more, and the one of F resets G.
        case writing
    }

    /// The parent of each container; the first is the root.
    let parents: [Int]
    let reloads: Bool
    /// Whether everything was read before.
    let isWarm: Bool
    /// Whether F and A register closers.
    let hasClosers: Bool
    let observers: Observers
    let actors: [[Op]]

    var last: Int { parents.count }

    /// Whether operations come to a lock before they touch what others see.
    func beginsAlone(_ ops: [Op]) -> Bool {
        if actors.joined().contains(.drop) { return false }
        switch ops[0] {
        case .set, .reset, .replace, .modify, .update, .observe: return true
        case .read, .cancelToken, .close, .readAsync, .cancelReaders, .drop: return false
        }
    }

    static let shapes = ["2": [0], "3": [0, 1], "3b": [0, 0]]
}

extension World: CustomStringConvertible {
    /// The world on one line.
    var description: String {
        let shape = Self.shapes.first { $0.value == parents }!.key
        let flags = [
            shape, reloads ? "reloads" : "keeps", isWarm ? "warm" : "cold", hasClosers ? "closers" : "plain",
            observers.rawValue,
        ]
        return flags.joined(separator: " ") + " | "
            + actors.map { $0.map(\.description).joined(separator: "; ") }.joined(separator: " | ")
    }

    init?(_ text: String) {
        let parts = text.split(separator: "|").map { $0.trimmed }
        let flags = parts[0].split(separator: " ").map(String.init)
        guard parts.count > 1, flags.count == 5, let parents = Self.shapes[flags[0]],
            let observers = Observers(rawValue: flags[4])
        else { return nil }
        let all = Dictionary(uniqueKeysWithValues: Self.ops(parents.count + 1).map { ($0.description, $0) })
        let actors = parts.dropFirst().map { $0.split(separator: ";").compactMap { all[$0.trimmed] } }
        self.init(
            parents: parents, reloads: flags[1] == "reloads", isWarm: flags[2] == "warm",
            hasClosers: flags[3] == "closers", observers: observers, actors: actors)
    }

    /// The world as a program.
    var program: String {
        var lines = ["let containers = \(parents.count + 1) of them, parents \(parents)"]
        lines.append("P: Int = 1; F = 10 * P\(reloads ? ", reloads" : ""); G = F, then P\(reloads ? ", reloads" : "")")
        if isWarm { lines.append("G read in the last container") }
        switch observers {
        case .none: break
        case .heard: lines.append("P, F and G observed in the last container")
        case .writing: lines.append("the last container's observers write: P sets P + 100 once, F resets G")
        }
        for (number, ops) in actors.enumerated() {
            lines.append("actor \(number): " + ops.map(\.description).joined(separator: ", then "))
        }
        return lines.joined(separator: "\n")
    }
}

extension Substring {
    var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension World {
    /// Everything that an actor can do in a family of so many containers.
    static func ops(_ count: Int) -> [Op] {
        var ops: [Op] = []
        for place in [0, count - 1] {
            ops += [
                .read(.G, place), .read(.F, place), .read(.P, place), .set(.P, place), .set(.F, place),
                .reset(.P, place), .reset(.F, place), .update(place), .modify(place), .observe(.G, place),
            ]
        }
        ops += [.replace(0), .replace(count - 1), .reset(.G, count - 1), .cancelToken, .drop]
        ops += [.close(0), .close(count - 1), .readAsync(0), .readAsync(count - 1), .cancelReaders]
        return ops
    }

    /// All worlds of so many actors with one operation each that are worth it.
    static func all(actors count: Int, _ names: [String]) -> [World] {
        names.flatMap { shape in
            let parents = shapes[shape]!
            return choices(of: count, from: ops(parents.count + 1)[...]).flatMap { ops in
                variants(parents, ops.map { [$0] })
            }
        }
    }

    /// So many operations in all ways, each way once, whatever the order.
    private static func choices(of count: Int, from ops: ArraySlice<Op>) -> [[Op]] {
        if count == 0 { return [[]] }
        return ops.indices.flatMap { index in
            choices(of: count - 1, from: ops[index...]).map { [ops[index]] + $0 }
        }
    }

    private static func variants(_ parents: [Int], _ actors: [[Op]]) -> [World] {
        let ops = actors.flatMap { $0 }
        // Nobody sees what is changed, or nothing is changed: little can go wrong.
        guard ops.contains(where: { !$0.changesNothing || $0 == .readAsync(0) }) || ops.contains(.read(.G, 0)) else {
            return []
        }
        if ops.contains(.cancelReaders), !ops.contains(where: { if case .readAsync = $0 { true } else { false } }) {
            return []
        }
        let hasClosers = ops.contains { if case .close = $0 { true } else { false } }
        var result: [World] = []
        for reloads in [false, true] {
            for isWarm in [false, true] {
                for observers in Observers.allCases {
                    if observers == .none, ops.contains(.cancelToken) { continue }
                    result.append(
                        World(
                            parents: parents, reloads: reloads, isWarm: isWarm, hasClosers: hasClosers,
                            observers: observers, actors: actors))
                }
            }
        }
        return result
    }
}
