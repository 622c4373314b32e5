/// The loads of a family, in the order in which they began, from the moment somebody asked for the log.
package final class LoadLog: Sendable {
    private let ways = Guarded<[[Key]]>([])

    fileprivate func note(_ flight: Flight) { ways.withLock { $0.append(flight.way) } }

    /// How many loads have begun.
    package var count: Int { ways.withLock { $0.count } }

    /// Of each load but the first `count`, the names on the way to it: who needed it, outermost first, and itself.
    package func paths(after count: Int) -> [[String]] {
        ways.withLock { Array($0.dropFirst(count)) }.map { $0.map(\.name) }
    }
}

extension Container {
    /// The log of this container's family, begun if there is none.
    package var loadLog: LoadLog {
        let family = backing.node.family
        return family.lock.withLock {
            let log = family.loadLog ?? LoadLog()
            family.loadLog = log
            return log
        }
    }
}

extension Family {
    /// Under the lock: notes a load. Defaults of properties are none.
    func noteBeginning(of flight: Flight) {
        guard let loadLog, flight.requested.kind != .property else { return }
        loadLog.note(flight)
    }
}
