import Support
import Testing

@testable import Fugu

/// Closing takes no task, and no time, for what needs none (laws 18 and 20).
struct ClosingAtOnceTests {}

extension ClosingAtOnceTests {
    struct Own: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Thing { Thing() }
    }
    struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            container.onClose { stage.log.add(tenant) }
            return Thing(tenant)
        }
    }

    /// Whether the closing is done without suspending, and so without another task.
    private func closesAtOnce(_ container: Container) async throws -> Bool {
        let done = Gate()
        let task = Task.immediate {
            try await container.close()
            done.open()
        }
        let isDone = done.isOpen
        try await task.value
        return isDone
    }

    @Test(
        "Closing what has nothing of its own to close takes no task, and refuses and releases all the same (laws 18 and 20)"
    )
    func nothingToClose() async throws {
        // Closing what has nothing to close takes no task, and refuses and releases all the same.
        do {
            let root = Container()
            _ = root[Session.self]
            for child in [root.child(), root.child { $0[Tenant.self] = "child" }] {
                _ = child.child()
                _ = child[Own.self]
                try await expect(closesAtOnce(child))
                expect(child.ifLoaded(Own.self) == nil)
                #expect(throws: LoadError.self) { try child[Late.self] }
            }
            expect(root.stage.log.all, equals: [])
            try await root.close()
            expect(root.stage.log.all, equals: ["root"])
        }
        // A child's instance made from the parent's closers has nothing to close in the child.
        do {
            let root = Container()
            let child = root.child()
            _ = child[FromSession.self]
            try await expect(closesAtOnce(child))
            expect(root.stage.log.all, equals: [])
            try await root.close()
            expect(root.stage.log.all, equals: ["root"])
        }
    }

    struct Late: ThrowingFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) throws -> Thing { Thing() }
    }
    struct FromSession: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Thing { Thing("", parts: [container[Session.self]]) }
    }

    @Test("Closers that do not suspend run where close() is called; one task runs them all (laws 18 and 20)")
    func closersRunHere() async throws {
        let root = Container().unreported
        for index in 0..<3 { _ = root.child { $0[Tenant.self] = "\(index)" }[Session.self] }
        let kept = (0..<3).map { index in root.child { $0[Tenant.self] = "\(index)" } }
        for child in kept { _ = child[Session.self] }
        try await expect(closesAtOnce(root))
        withExtendedLifetime(kept) {}
        expect(root.stage.log.all.sorted(), equals: ["0", "1", "2"])
    }

    @Test("A caller that is cancelled already closes everything, and waits for it (law 18)")
    func cancelledCaller() async throws {
        let root = Container()
        let (log, gate) = (root.stage.log, root.stage.gate("slow"))
        root.onClose {
            log.add("begin")
            await gate.opened()
            log.add(Task.isCancelled ? "cancelled" : "end")
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await root.close()
            log.add("closed")
        }
        await expect(log.first(1), equals: ["begin"])
        await giveOthersTime()
        expect(log.all, equals: ["begin"])
        gate.open()
        try await task.value
        expect(log.all, equals: ["begin", "end", "closed"])
    }

    @Test("Instances that leave one after the other are closed, however many have left before (laws 18 and 20)")
    func oneAfterTheOther() async {
        let container = Container()
        let closed = container.stage.tally("closed")
        let key = FeatureKey { handle in
            handle.onClose { closed.add() }
            return 0
        }
        for count in 1...40 {
            _ = container[key]
            container.reset { _ in key }
            await closed.reaches(count)
            expect(closed.value, equals: count)
        }
    }

    @Test("Waiters are woken in the order in which they came; who left is forgotten (law 20)")
    func waiterQueue() {
        var queue = SparseList<Waiter>()
        let tasks = (0..<1_000).map { _ in Waiter() }
        for task in tasks { queue.append(task) }
        for (index, task) in tasks.enumerated() where index % 10 != 3 { queue.remove(task) }
        queue.remove(tasks[0])
        expect(queue.count, equals: 100)
        expect(queue.slots.count <= 256)
        let left = queue.takeAll().map { ObjectIdentifier($0) }
        expect(left, equals: stride(from: 3, to: 1_000, by: 10).map { ObjectIdentifier(tasks[$0]) })
        expect(queue.isEmpty)
    }
}
