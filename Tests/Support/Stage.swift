import Fugu

/// Gates and counters by name, and a log, which a test shares with the loads of its features.
package final class Stage: Sendable {
    package let log = Log<String>()
    private let gates = Locked<[String: Gate]>([:])
    private let tallies = Locked<[String: Counter]>([:])
    private let failures = Locked<[String: Int]>([:])

    package init() {}

    package func gate(_ name: String) -> Gate {
        gates.withLock { gates in
            if let known = gates[name] { return known }
            let made = Gate()
            gates[name] = made
            return made
        }
    }

    package func tally(_ name: String) -> Counter {
        tallies.withLock { tallies in
            if let known = tallies[name] { return known }
            let made = Counter()
            tallies[name] = made
            return made
        }
    }

    /// Lets the next so many calls of `mayFail` with this name throw.
    package func fail(_ name: String, times: Int = 1) { failures.withLock { $0[name] = times } }

    package func mayFail(_ name: String) throws {
        let fails = failures.withLock { failures in
            guard let left = failures[name], left > 0 else { return false }
            failures[name] = left - 1
            return true
        }
        if fails { throw Boom(name) }
    }
}

/// Held by the root, so that reading it puts no feature below.
package enum StageProperty: Property {
    package static var defaultValue: Stage { Stage() }
}

/// For what must not happen: gives others every opportunity to let it happen.
package func giveOthersTime() async {
    for _ in 0..<20 { await Task.yield() }
    try? await Task.sleep(for: .milliseconds(10))
    for _ in 0..<20 { await Task.yield() }
}
