import Fugu
import Support

/// Gates and counters by name, and a log, which a test shares with the loads of its features.
final class Stage: Sendable {
    let log = Log<String>()
    private let gates = Locked<[String: Gate]>([:])
    private let tallies = Locked<[String: Counter]>([:])
    private let failures = Locked<[String: Int]>([:])

    func gate(_ name: String) -> Gate {
        gates.withLock { gates in
            if let known = gates[name] { return known }
            let made = Gate()
            gates[name] = made
            return made
        }
    }

    func tally(_ name: String) -> Counter {
        tallies.withLock { tallies in
            if let known = tallies[name] { return known }
            let made = Counter()
            tallies[name] = made
            return made
        }
    }

    /// Lets the next so many calls of `mayFail` with this name throw.
    func fail(_ name: String, times: Int = 1) { failures.withLock { $0[name] = times } }

    func mayFail(_ name: String) throws {
        let fails = failures.withLock { failures in
            guard let left = failures[name], left > 0 else { return false }
            failures[name] = left - 1
            return true
        }
        if fails { throw Boom(name) }
    }
}

/// Held by the root, so that reading it puts no feature below.
enum StageProperty: Property {
    static var defaultValue: Stage { Stage() }
}

extension FeatureContainer {
    var stage: Stage { self[StageProperty.self] }
}

/// Something with an identity.
final class Thing: Sendable, CustomStringConvertible {
    let name: String
    let parts: [Thing]
    private let onEnd: @Sendable () -> Void

    init(_ name: String = "thing", parts: [Thing] = [], onEnd: @escaping @Sendable () -> Void = {}) {
        self.name = name
        self.parts = parts
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    var description: String { name }
}

/// A value that a child may set, so that features that read it become its own.
enum Tenant: Property {
    static var defaultValue: String { "root" }
}
