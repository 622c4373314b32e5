@testable import Fugu
import Support
import Testing

@Suite("What leaves, is released, or calls close() while a container closes (law 18)", .timeLimit(.minutes(5)))
struct ClosingMeanwhileTests {}

extension ClosingMeanwhileTests {
    @Test("A closer whose container is released meanwhile can't close a container above that waits for it (law 18)")
    func closesAbove() async throws {
        let root = Container()
        let (began, goesOn, log) = (Gate(), Gate(), Log<String>())
        root.onClose { log.add("root") }
        var child: Container? = root.child()
        child!.onClose { [unowned root] in
            began.open()
            await goesOn.opened()
            defer { log.add("child") }
            try await root.close()
        }
        let closing = Task { try await root.close() }
        await began.opened()
        child = nil
        goesOn.open()
        let error = try #require(
            await #expect(throws: CloseError.self) { try await finishing { try await closing.value } })
        expect((error.failures.first?.error as? CloseError)?.code, equals: .waitsForItself)
        expect(log.all, equals: ["child", "root"])
    }

    @Test(
        "Closing a container waits for a child that was released while it is closed, or before it has come to it (law 18)"
    )
    func releasedWhileClosed() async throws {
        // Closing a container waits for a child that was released while it's closed.
        do {
            let root = Container()
            let middle = root.child()
            let (began, goesOn, log) = (Gate(), Gate(), Log<String>())
            root.onClose { log.add("root") }
            var child: Container? = middle.child()
            child!.onClose {
                began.open()
                await goesOn.opened()
                log.add("child")
            }
            let first = Task { try await middle.close() }
            await began.opened()
            child = nil
            let second = Task { try await root.close() }
            await root.untilClosing()
            await giveOthersTime()
            expect(log.all, equals: [])
            goesOn.open()
            try await finishing {
                try await first.value
                try await second.value
            }
            expect(log.all, equals: ["child", "root"])
        }
        // So it does for one that's released before it has come to it.
        do {
            let root = Container()
            let log = Log<String>()
            var child: Container? = root.child()
            child!.onClose { log.add("child") }
            let (began, goesOn, younger) = (Gate(), Gate(), root.child())
            younger.onClose {
                began.open()
                await goesOn.opened()
            }
            let closing = Task { try await root.close() }
            await began.opened()
            child = nil
            goesOn.open()
            try await finishing { try await closing.value }
            expect(log.all, equals: ["child"])
        }
    }

    @Test("A child that a kept handle made keeps its parent, and both are closed with the root (laws 7 and 18)")
    func keptHandle() async throws {
        let root = Container()
        let log = root.stage.log
        var middle: Container? = root.child { $0[Tenant.self] = "middle" }
        middle!.onClose { log.add("middle") }
        let child = (middle![Keeper.self].handle as! Container).child()
        weak let gone = middle
        middle = nil
        expect(gone == nil)
        expect(child[Tenant.self], equals: "middle")
        child.onClose { log.add("child") }
        try await expect(child[Closed.self].name, equals: "middle")
        child.reset(Closed.self)
        await expect(log.first(1), equals: ["closed in middle"])
        try await finishing { try await root.close() }
        expect(log.all, equals: ["closed in middle", "child", "middle"])
    }

    struct Keeper: Feature {
        static var home: Home { .local }
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Keeper { Keeper(handle: container) }
    }
    struct Closed: AsyncFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (log, tenant) = (container.stage.log, container[Tenant.self])
            container.onClose { log.add("closed in \(tenant)") }
            return Thing(tenant)
        }
    }

    /// An instance and the one that it's made from, which has left but is still needed.
    private func makeDependent(
        in container: Container, _ log: Log<String>, _ close: @escaping @Sendable () async -> Void
    ) {
        let input = FeatureKey(home: .local, id: UniqueID()) { handle in
            handle.onClose { log.add("input") }
            return 1
        }
        let dependent = FeatureKey(home: .local, id: UniqueID()) { handle in
            _ = handle[input]
            handle.onClose {
                await close()
                log.add("dependent")
            }
            return 1
        }
        _ = container[dependent]
        container.reset { _ in input }
    }

    /// An instance that has left, with a closer.
    private func leave(_ container: Container, _ close: @escaping @Sendable () async throws -> Void) {
        let key = FeatureKey(home: .local, id: UniqueID()) { handle in
            handle.onClose(close)
            return 1
        }
        _ = container[key]
        container.reset { _ in key }
    }

    @Test("What leaves while its container closes is closed by that closing (law 18)")
    func leavesMeanwhile() async throws {
        let root = Container().unreported
        let (began, goesOn, log) = (Gate(), Gate(), Log<String>())
        let (closed, other) = (root.child(), root.child())
        makeDependent(in: closed, log) {
            began.open()
            await goesOn.opened()
        }
        let closing = Task { try await closed.close() }
        await began.opened()
        leave(other) {
            try await closed.close()
            log.add("other")
        }
        await closed.untilClosersWait(1)
        goesOn.open()
        try await finishing {
            try await closing.value
            try await root.close()
        }
        expect(log.all, equals: ["dependent", "input", "other"])
    }

    /// Closes a container as far as its own closer, which waits for the gate.
    private func beginClosing(_ container: Container) async -> (call: Task<Void, any Error>, goesOn: Gate) {
        let (began, goesOn) = (Gate(), Gate())
        container.onClose {
            began.open()
            await goesOn.opened()
        }
        let call = Task { try await container.close() }
        await began.opened()
        return (call, goesOn)
    }

    @Test("What others load while a container closes is never closed, however often, and holds up no call (law 18)")
    func loadedByOthers() async throws {
        let root = Container().unreported
        let log = Log<String>()
        let (first, goesOn) = await beginClosing(root)
        leave(root) { log.add("left") }
        makeDependent(in: root, log) {}
        let child = root.child()
        leave(child) { log.add("left in a child") }
        goesOn.open()
        try await finishing {
            try await first.value
            try await root.close()
        }
        await giveOthersTime()
        expect(log.all, equals: [])
    }

    @Test("What others begin to load while a closing waits for a load is closed by it, before its inputs (law 18)")
    func loadedWhileItWaits() async throws {
        let root = Container()
        let (log, children) = (Log<String>(), [root.child(), root.child()])
        func load(in container: Container, _ name: String) async -> (goesOn: Gate, ended: Gate) {
            let (began, goesOn) = (Gate(), Gate())
            let input = FeatureKey(home: .local, id: UniqueID()) { handle in
                handle.onClose { log.add("input of \(name)") }
                return 1
            }
            let key = FeatureKey(home: .local, id: UniqueID()) { handle in
                handle.onClose { log.add(name) }
                began.open()
                goesOn.wait()
                return handle[input]
            }
            _ = container[input]
            let ended = startThread { _ = container[key] }
            await began.opened()
            return (goesOn, ended)
        }
        let first = await load(in: children[1], "first")
        let closing = Task { try await root.close() }
        await root.untilClosing()
        let second = await load(in: children[0], "second")
        first.goesOn.open()
        await first.ended.opened()
        await giveOthersTime()
        second.goesOn.open()
        try await finishing { try await closing.value }
        await second.ended.opened()
        for name in ["first", "second"] {
            expect(log.all.filter { $0.hasSuffix(name) }, equals: [name, "input of \(name)"])
        }
    }

    @Test("A closer may close another container whose instances leave meanwhile (law 18)")
    func leavesWithin() async throws {
        let root = Container().unreported
        let log = Log<String>()
        let (closed, other) = (root.child(), root.child())
        makeDependent(in: closed, log) {}
        leave(other) {
            try await closed.close()
            log.add("other")
        }
        try await finishing { try await root.close() }
        expect(log.all, equals: ["dependent", "input", "other"])
    }

    @Test("A leaver may close a container whose closing has waited for those that left before (law 18)")
    func queuedBehind() async throws {
        for closesChild in [false, true] {
            let root = Container()
            let (first, calls, goesOn, log) = (Gate(), Gate(), Gate(), Log<String>())
            let (closed, other) = (root.child(), root.child())
            let target = closesChild ? closed.child() : closed
            leave(target) { await first.opened() }
            leave(other) {
                calls.open()
                do { try await target.close() } catch { return log.add("\(error)") }
                log.add("other")
            }
            target.onClose { await goesOn.opened() }
            let call = Task { try await closed.close() }
            await closed.untilClosing()
            first.open()
            await calls.opened()
            await giveOthersTime()
            goesOn.open()
            try await finishing {
                try await call.value
                try await root.close()
            }
            expect(log.all, equals: ["other"])
        }
    }

    @Test("Closings whose closers wait for each other in tasks of their own end at a deadline (law 18)")
    func throughTasks() async throws {
        let (first, second) = (Container().unreported, Container())
        let (began, called, log) = (Gate(), Gate(), Log<String>())
        first.onClose {
            began.open()
            await called.opened()
            try await second.close()
        }
        second.onClose {
            called.open()
            try await first.close()
            log.add("second")
        }
        let closing = Task { try await first.close(deadline: .milliseconds(20)) }
        await began.opened()
        let other = Task { try await second.close() }
        try await finishing {
            let error = try #require(await #expect(throws: CloseError.self) { try await closing.value })
            expect((error.failures.first?.error as? CloseError)?.code, equals: .deadlineExceeded)
            try await other.value
        }
        expect(log.all, equals: ["second"])
    }

    struct Overdue: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container[LoadsProperty.self].add(Work.current!)
            await stage.gate("overdue").opened()
            return Thing()
        }
    }
    enum LoadsProperty: Property {
        static var defaultValue: Log<Work> { Log() }
    }

    @Test("What an overdue load loads while a closing releases what it has closed is closed (law 18)")
    func endsWhileReleased() async throws {
        let root = Container().unreported
        let log = Log<String>()
        let reader = Task { try await root[Overdue.self] }
        let load = await root[LoadsProperty.self].first(1)[0]
        await root.untilWaiting(for: Overdue.self, 1)
        let needed = FeatureKey(home: .local, id: UniqueID()) { handle in
            handle.onClose { log.add("closed") }
            return 1
        }
        let released = FeatureKey(home: .local, id: UniqueID()) { _ in
            Witness { [unowned root] in _ = Context.run(nil, load) { root[needed] } }
        }
        _ = root[released]
        await #expect(throws: CloseError.self) { try await root.close(deadline: .zero) }
        await root.untilClosersRan()
        expect(log.all, equals: ["closed"])
        root.stage.gate("overdue").open()
        let error = await #expect(throws: LoadError.self) { try await reader.value }
        expect(error?.code, equals: .containerClosed)
    }

    @Test("A deadline ends what others wait for in its containers, and nothing beside them (law 18)")
    func othersAreLeft() async throws {
        let root = Container()
        let (leaverEnds, log) = (Gate(), Log<String>())
        let (closed, other) = (root.child(), root.child())
        leave(other) {
            log.add("begins")
            try await leaverEnds.openedUnlessCancelled()
            log.add("other")
        }
        closed.onClose { try await Gate().openedUnlessCancelled() }
        _ = await log.first(1)
        let first = Task { try await root.close() }
        await root.untilClosing()
        await #expect(throws: CloseError.self) {
            try await finishing { try await closed.close(deadline: .milliseconds(10)) }
        }
        leaverEnds.open()
        try await finishing { try await first.value }
        expect(log.all, equals: ["begins", "other"])
    }
}

/// What is loaded while a container is being closed (law 18).
struct ClosingLateInputsTests {}

extension ClosingLateInputsTests {
    struct Closed: Property { static var defaultValue: Log<String> { Log() } }

    struct Input: Feature {
        static func load(in container: any FeatureContainer) -> Token {
            let closed = container[Closed.self]
            container.onClose { closed.add("input") }
            return Token()
        }
    }
    struct Late: Feature {
        static func load(in container: any FeatureContainer) -> Token {
            let closed = container[Closed.self]
            _ = container[Input.self]
            container.onClose { closed.add("late") }
            return Token()
        }
    }

    @Test("What a closer loads may be closed after its inputs, by the same close() (law 18)")
    func later() async throws {
        let container = Container.program().unreported
        let closed = container[Closed.self]
        let input = container[Input.self]
        // It runs last.
        container.onClose { [unowned container] in
            expect(closed.all, equals: ["input"])
            _ = container[Late.self]
            expect(container[Input.self], is: input)
        }
        try await container.close()
        expect(closed.all, equals: ["input", "late"])
    }
}
