import Fugu

/// Workloads for families, sets, observers, and loads.
enum Changes {
    static var rows: [Row] { families + writes + loads }

    private static var families: [Row] {
        [
            Row(inherited(through: 1), beside: Reads.number(), bound: .times(1.2)),
            Row(inherited(through: 8), beside: Reads.number(), bound: .times(1.5)),
            Row(inheritedFeature(through: 1), beside: Reads.counter()),
            Row(inheritedFeature(through: 8), beside: Reads.counter()),
            Row(child, beside: originalContainer, bound: .faster(1)),
        ]
    }

    private static var writes: [Row] {
        [
            Row(set(observers: 0), beside: originalSet(observers: 0), bound: .faster(3)),
            // Each delivery binds the observed container as the current one, for the tasks that observers start, too.
            Row(set(observers: 10), beside: originalSet(observers: 10), bound: .faster(3), reached: 4),
        ]
    }

    private static var loads: [Row] {
        let cold = Workload("cold load in a chain of \(Chain.length)", operations: Chain.length) { n in
            var sum = 0
            for _ in 0..<n { sum &+= Container()[Chain.First.self] }
            return sum
        }
        let original = Workload("original: cold load in a chain", operations: Chain.length) { n in
            var sum = 0
            for _ in 0..<n { sum &+= OriginalContainer()[Chain.First.self] }
            return sum
        }
        let container = Container()
        let present = Workload(async: "present async feature") { n in
            var sum = 0
            for _ in 0..<n { sum &+= try await container[RemoteCounter.self].value }
            return sum
        }
        return [
            // The original's way records nothing of what was read.
            Row(cold, beside: original, bound: .times(16)),
            Row(present, beside: Reads.counter(), bound: .times(3)),
        ]
    }
}

extension Changes {
    private static func descendant(_ generations: Int) -> Container {
        let root = Container()
        root[Timeout.self] = 31
        return (0..<generations).reduce(root) { parent, _ in parent.child() }
    }

    private static func inherited(through generations: Int) -> Workload {
        let container = descendant(generations)
        return Workload("Int property, inherited through \(generations)") { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Timeout.self] }
            return sum
        }
    }

    private static func inheritedFeature(through generations: Int) -> Workload {
        let container = descendant(generations)
        return Workload("feature: class, inherited through \(generations)") { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Counter.self].value }
            return sum
        }
    }

    private static var child: Workload {
        let root = Container()
        root[Attempts.self] = 4
        return Workload("child: create, set, read, drop") { n in
            var sum = 0
            for index in 0..<n {
                let child = root.child()
                child[Timeout.self] = index
                sum &+= child[Timeout.self]
            }
            return sum
        }
    }

    private static var originalContainer: Workload {
        Workload("original: container for a scope") { n in
            var sum = 0
            for index in 0..<n {
                let container = OriginalContainer()
                container[Timeout.self] = index
                sum &+= container[Timeout.self]
            }
            return sum
        }
    }

    private static func set(observers: Int) -> Workload {
        let container = Container()
        for _ in 0..<observers { container.observe(Timeout.self) { consume($0) } }
        return Workload(observers == 0 ? "set" : "set with \(observers) observers") { n in
            for index in 0..<n { container[Timeout.self] = index }
            return container[Timeout.self]
        }
    }

    private static func originalSet(observers: Int) -> Workload {
        let container = OriginalContainer()
        for _ in 0..<observers { container.observe(Timeout.self) { consume($0) } }
        return Workload(observers == 0 ? "original: set" : "original: set with \(observers) observers") { n in
            for index in 0..<n { container[Timeout.self] = index }
            return container[Timeout.self]
        }
    }
}

/// The rows of the table, in its order.
public var allRows: [Row] { Reads.rows + Changes.rows + Waits.rows + Requests.rows }
