import Fugu
import Synchronization

/// Loads that tasks wait for, compared with the minimum in the language: a task whose value is awaited.
enum Waits {
    static var rows: [Row] {
        [
            Row(cold, beside: bareTask), Row(together, beside: bareTogether),
        ]
    }

    private static let waiters = 64

    private static var cold: Workload {
        let container = Container()
        return Workload(async: "cold load of an async feature, after a reset") { n in
            var sum = 0
            for _ in 0..<n {
                container.reset(RemoteCounter.self)
                sum &+= try await container[RemoteCounter.self].value
            }
            return sum
        }
    }

    private static var bareTask: Workload {
        Workload(async: "a task that makes the same object") { n in
            var sum = 0
            for _ in 0..<n { sum &+= await Task { Number(30) }.value.value }
            return sum
        }
    }

    private static var together: Workload {
        let container = Container()
        return Workload(async: "one of \(waiters) tasks that wait for one load", operations: waiters) { n in
            try await sum(n) { door in
                container.door = door
                container.reset(Held.self)
                return { try await container[Held.self].value }
            }
        }
    }

    private static var bareTogether: Workload {
        Workload(async: "one of \(waiters) tasks that wait for one task", operations: waiters) { n in
            try await sum(n) { door in
                let task = Task {
                    await door.pass()
                    return Number(30)
                }
                return { await task.value.value }
            }
        }
    }

    /// Lets tasks read the same feature together, `n` times; the load ends when all of them are about to read.
    private static func sum(
        _ n: Int, _ prepare: (Door) -> @Sendable () async throws -> Int
    ) async throws -> Int {
        var sum = 0
        for _ in 0..<n {
            let door = Door(expecting: waiters)
            let ask = prepare(door)
            sum &+= try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<waiters {
                    group.addTask {
                        door.arrive()
                        return try await ask()
                    }
                }
                return try await group.reduce(0, &+)
            }
        }
        return sum
    }
}

/// Opens when the expected number of participants has arrived.
private final class Door: Sendable {
    private let arrivals = Atomic(0)
    private let expected: Int
    private let isClosed: AsyncStream<Never>
    private let opening: AsyncStream<Never>.Continuation

    init(expecting expected: Int) {
        self.expected = expected
        (isClosed, opening) = AsyncStream.makeStream(of: Never.self)
    }

    func arrive() {
        if arrivals.add(1, ordering: .relaxed).newValue == expected { opening.finish() }
    }

    /// Returns when the door is open.
    func pass() async {
        for await _ in isClosed {}
    }
}

extension ContainerKeys {
    fileprivate var door: PropertyKey<Door?> { .init() }
}

/// The same object as in `Counter`, from a load that waits for a door.
private enum Held: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Number {
        await container.door?.pass()
        return Number(container[Timeout.self])
    }
}
