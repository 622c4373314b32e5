import Fugu
import ServiceContextModule

/// Workloads that read values and instances that are present.
enum Reads {
    static var rows: [Row] { numbers + objects + spellings + many }

    /// The workload that most others are compared with.
    static func number(threads: Int = 1) -> Workload {
        let container = Container()
        container[Timeout.self] = 31
        return Workload("Int property", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Timeout.self] }
            return sum
        }
    }

    static func greeter(threads: Int = 1) -> Workload {
        let container = Container()
        return Workload("feature: struct, closure, object", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Greeter.self].number }
            return sum
        }
    }

    static func counter(threads: Int = 1) -> Workload {
        let container = Container()
        return Workload("feature: class", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Counter.self].value }
            return sum
        }
    }

    static func bareReference(threads: Int = 1) -> Workload {
        let reference = BareReference(Number(1))
        return Workload("bare retain and release", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= reference.retained().value }
            return sum
        }
    }

    private static var numbers: [Row] {
        [
            Row(number(), beside: originalNumber(), bound: .faster(15)),
            Row(number(), beside: mutexNumber(), bound: .faster(4)),
            Row(number(), beside: contextNumber()),
            Row(number(), beside: plainLet()),
            // Shows whether the machine has two free cores: otherwise, the rows with two threads mean little.
            Row(plainLet(threads: 2), beside: plainLet()),
            Row(number(threads: 2), beside: number(), bound: .times(1.3)),
            Row(number(threads: 2), beside: originalNumber(threads: 2)),
            Row(number(threads: 2), beside: mutexNumber(threads: 2)),
        ]
    }

    private static var objects: [Row] {
        let rest = "bare on two"
        return [
            Row(greeter(), beside: bareReference(), bound: .times(1.7)),
            Row(counter(), beside: bareReference(), bound: .times(1.7)),
            Row(
                greeter(threads: 2), beside: greeter(), bareReference(threads: 2), bound: .times(1.3, plus: rest)),
            Row(
                counter(threads: 2), beside: counter(), bareReference(threads: 2), bound: .times(1.3, plus: rest)),
            Row(greeter(), beside: originalGreeter()),
            Row(greeter(threads: 2), beside: originalGreeter(threads: 2)),
            Row(counter(), beside: contextObject()),
        ]
    }

    private static var spellings: [Row] {
        let container = Container()
        container[Timeout.self] = 31
        container.limit = 101
        let reader = container[Reader.self]
        let accessor = Workload("fluent accessor") { n in
            var sum = 0
            for _ in 0..<n { sum &+= container.timeout }
            return sum
        }
        let member = Workload("value key, dynamic member") { n in
            var sum = 0
            for _ in 0..<n { sum &+= container.limit }
            return sum
        }
        let subscripted = Workload("value key, subscript") { n in
            var sum = 0
            for _ in 0..<n { sum &+= container.limit }
            return sum
        }
        let handle = Workload("Int property, captured handle") { n in
            var sum = 0
            for _ in 0..<n { sum &+= reader.container[Timeout.self] }
            return sum
        }
        return [
            Row(accessor, beside: number(), bound: .times(1.1)),
            Row(member, beside: number(), bound: .times(1.6)),
            Row(subscripted, beside: number()),
            Row(handle, beside: number(), bound: .times(3)),
        ]
    }

    /// The same ten keys among few and among many; and all of the many in turn, which exceed the caches close to the
    /// core.
    private static var many: [Row] {
        func among(_ count: Int, reading read: Int) -> Workload {
            let keys = (0..<count).map { PropertyKey(defaultValue: $0, id: $0) }
            let container = Container()
            for (index, key) in keys.enumerated() { container[key] = index }
            let some = Array(keys.prefix(read))
            return Workload("\(read) of \(count) keys in turn") { n in
                var sum = 0
                var index = 0
                for _ in 0..<n {
                    sum &+= container[some[index]]
                    index = index + 1 == some.count ? 0 : index + 1
                }
                return sum
            }
        }
        return [
            Row(among(1_000, reading: 10), beside: among(10, reading: 10), bound: .times(1.5)),
            Row(among(10_000, reading: 10), beside: among(10, reading: 10), bound: .times(1.5)),
            Row(among(10_000, reading: 10_000), beside: among(10, reading: 10)),
        ]
    }
}

// MARK: - Other approaches

extension Reads {
    private static func originalNumber(threads: Int = 1) -> Workload {
        let container = OriginalContainer()
        container[Timeout.self] = 31
        return Workload("original: Int property", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Timeout.self] }
            return sum
        }
    }

    private static func originalGreeter(threads: Int = 1) -> Workload {
        let container = OriginalContainer()
        return Workload("original: feature", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Greeter.self].number }
            return sum
        }
    }

    private static func mutexNumber(threads: Int = 1) -> Workload {
        let container = MutexDictionary()
        container[Timeout.self] = 31
        return Workload("Mutex and dictionary: Int", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= container[Timeout.self] }
            return sum
        }
    }

    private static func contextNumber() -> Workload {
        var context = ServiceContext.topLevel
        context[TimeoutContextKey.self] = 31
        return Workload("ServiceContext: Int") { [context] n in
            var sum = 0
            for _ in 0..<n { sum &+= context[TimeoutContextKey.self] ?? 0 }
            return sum
        }
    }

    private static func contextObject() -> Workload {
        var context = ServiceContext.topLevel
        context[NumberContextKey.self] = Number(1)
        return Workload("ServiceContext: object") { [context] n in
            var sum = 0
            for _ in 0..<n { sum &+= context[NumberContextKey.self]?.value ?? 0 }
            return sum
        }
    }

    private static func plainLet(threads: Int = 1) -> Workload {
        let value = PlainLet(31)
        return Workload("plain let behind a call", threads: threads) { n in
            var sum = 0
            for _ in 0..<n { sum &+= value.read() }
            return sum
        }
    }
}

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
