import Fugu
import OtherModule

/// Workloads that a server runs for each request, beside a load in a root and a detached task.
enum Requests {
    static var rows: [Row] { making + closing + asynchronous + spellings }

    private static var making: [Row] {
        let root = Container()
        root[Attempts.self] = 4
        let one = Workload("child, value, one feature made") { n in
            var sum = 0
            for index in 0..<n {
                let child = root.child()
                child[Timeout.self] = index
                sum &+= child[Counter.self].value
            }
            return sum
        }
        let two = Workload("child, value, one feature made, a second from it") { n in
            var sum = 0
            for index in 0..<n {
                let child = root.child()
                child[Timeout.self] = index
                sum &+= child[Counter.self].value &+ child[Doubled.self].value
            }
            return sum
        }
        return [
            Row(one, beside: load, bound: .times(1.5)),
            // 1.2 loads more than the row before.
            Row(two, beside: load, bound: .times(2.7)),
        ]
    }

    private static var closing: [Row] {
        let root = Container()
        let made = Workload(async: "child made and dropped") { n in
            for _ in 0..<n { _ = root.child() }
            return n
        }
        let empty = Workload(async: "child made and closed, nothing to close") { n in
            for _ in 0..<n { try await root.child().close() }
            return n
        }
        let closer = Workload(async: "child made and closed, one closer") { n in
            for _ in 0..<n {
                let child = root.child()
                child.onClose {}
                try await child.close()
            }
            return n
        }
        return [
            Row(empty, beside: made, bound: .nanoseconds(300, beyond: "made")),
            // One task is aimed at; it takes as long as two.
            Row(closer, beside: detachedTask, bound: .times(1), reached: 2.1),
        ]
    }

    private static var asynchronous: [Row] {
        let root = Container()
        let cold = Workload(async: "async feature that does not suspend, after a reset") { n in
            var sum = 0
            for _ in 0..<n {
                root.reset(RemoteCounter.self)
                sum &+= try await root[RemoteCounter.self].value
            }
            return sum
        }
        let inChild = Workload(async: "child, value, async feature that does not suspend") { n in
            var sum = 0
            for index in 0..<n {
                let child = root.child()
                child[Timeout.self] = index
                sum &+= try await child[RemoteCounter.self].value
            }
            return sum
        }
        let request = Workload(async: "request: child, value, current, three features, closed") { n in
            var sum = 0
            for index in 0..<n {
                let child = root.child()
                child[Timeout.self] = index
                sum &+= Container.with(child) {
                    let container = Container.current
                    return container[Counter.self].value &+ container[Doubled.self].value
                        &+ container[Greeter.self].number
                }
                try await child.close()
            }
            return sum
        }
        return [
            Row(cold, beside: load, bound: .times(3)),
            Row(inChild, beside: load, bound: .times(2.5)),
            // A quarter of the first is aimed at, by the clock on the wall: waking the other thread is most of it. The second is
            // awaited by a task on a thread that is awake, which takes less than a load.
            Row(request, beside: detachedTaskFromMain, bound: .times(0.25), reached: 4),
            Row(request, beside: detachedTask, bound: .times(6.5)),
            Row(request, beside: load, bound: .times(5)),
        ]
    }

    /// The shorter spellings of a read.
    private static var spellings: [Row] {
        let container = Container()
        container.limit = 101
        container.distantLimit = 101
        let other = Workload("value key of another module, dynamic member") { n in
            var sum = 0
            for _ in 0..<n { sum &+= container.distantLimit }
            return sum
        }
        let holder = Holder()
        let type = Workload("@Injected, a property's type") { n in
            Container.with(container) {
                var sum = 0
                for _ in 0..<n { sum &+= holder.timeout }
                return sum
            }
        }
        let member = Workload("@Injected, a value key") { n in
            Container.with(container) {
                var sum = 0
                for _ in 0..<n { sum &+= holder.limit }
                return sum
            }
        }
        let path = Workload("@Injected, a key path of the container") { n in
            Container.with(container) {
                var sum = 0
                for _ in 0..<n { sum &+= holder.fluent }
                return sum
            }
        }
        return [
            Row(other, beside: Reads.number(), bound: .times(1.6), reached: 1.7),
            Row(type, beside: Reads.number(), bound: .times(11)),
            Row(member, beside: Reads.number(), bound: .times(11)),
            Row(path, beside: Reads.number(), bound: .times(11)),
        ]
    }

    /// A load in a root, the minimum for a feature.
    private static var load: Workload {
        let container = Container()
        return Workload("load in a root, after a reset") { n in
            var sum = 0
            for _ in 0..<n {
                container.reset(Counter.self)
                sum &+= container[Counter.self].value
            }
            return sum
        }
    }

    /// A detached task that the program's `main` awaits, which takes two hops.
    private static var detachedTaskFromMain: Workload {
        Workload(async: "a detached task, awaited by main") { n in
            await Task { @MainActor in
                var sum = 0
                for index in 0..<n { sum &+= await Task.detached { index }.value }
                return sum
            }.value
        }
    }

    /// A detached task that a task on no actor awaits.
    private static var detachedTask: Workload {
        Workload(async: "a detached task") { n in
            var sum = 0
            for index in 0..<n { sum &+= await Task.detached { index }.value }
            return sum
        }
    }
}

private struct Holder {
    @Injected(Timeout.self) var timeout
    @Injected(\.limit) var limit
    @Injected(\.timeout) var fluent
}

/// Loaded from another feature.
private enum Doubled: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Counter.self].value &* 2) }
}

/// A link in a chain of features, each of which needs the next.
protocol Link: Feature where Instance == Int {
    associatedtype Next: Feature where Next.Instance == Int
}

extension Link {
    static func load(in container: any FeatureContainer) -> Int { container[Next.self] + 1 }
}

/// Chains of 40 features in Fugu and in the original library.
enum Chain {
    typealias First = Link01
    static let length = 40
}

enum Link01: Link { typealias Next = Link02 }
enum Link02: Link { typealias Next = Link03 }
enum Link03: Link { typealias Next = Link04 }
enum Link04: Link { typealias Next = Link05 }
enum Link05: Link { typealias Next = Link06 }
enum Link06: Link { typealias Next = Link07 }
enum Link07: Link { typealias Next = Link08 }
enum Link08: Link { typealias Next = Link09 }
enum Link09: Link { typealias Next = Link10 }
enum Link10: Link { typealias Next = Link11 }
enum Link11: Link { typealias Next = Link12 }
enum Link12: Link { typealias Next = Link13 }
enum Link13: Link { typealias Next = Link14 }
enum Link14: Link { typealias Next = Link15 }
enum Link15: Link { typealias Next = Link16 }
enum Link16: Link { typealias Next = Link17 }
enum Link17: Link { typealias Next = Link18 }
enum Link18: Link { typealias Next = Link19 }
enum Link19: Link { typealias Next = Link20 }
enum Link20: Link { typealias Next = Link21 }
enum Link21: Link { typealias Next = Link22 }
enum Link22: Link { typealias Next = Link23 }
enum Link23: Link { typealias Next = Link24 }
enum Link24: Link { typealias Next = Link25 }
enum Link25: Link { typealias Next = Link26 }
enum Link26: Link { typealias Next = Link27 }
enum Link27: Link { typealias Next = Link28 }
enum Link28: Link { typealias Next = Link29 }
enum Link29: Link { typealias Next = Link30 }
enum Link30: Link { typealias Next = Link31 }
enum Link31: Link { typealias Next = Link32 }
enum Link32: Link { typealias Next = Link33 }
enum Link33: Link { typealias Next = Link34 }
enum Link34: Link { typealias Next = Link35 }
enum Link35: Link { typealias Next = Link36 }
enum Link36: Link { typealias Next = Link37 }
enum Link37: Link { typealias Next = Link38 }
enum Link38: Link { typealias Next = Link39 }
enum Link39: Link { typealias Next = Link40 }

enum Link40: Feature {
    static func load(in container: any FeatureContainer) -> Int { container[Timeout.self] }
}
