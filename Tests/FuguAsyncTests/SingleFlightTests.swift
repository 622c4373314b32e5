import Fugu
import FuguTesting
import Support
import Testing

@Suite("Single flight for tasks (law 3)", .timeLimit(.minutes(5))) struct SingleFlightTests {}

extension SingleFlightTests {
    struct Model: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            stage.tally("Model").add()
            await stage.gate("Model").opened()
            return Thing("Model")
        }
    }

    @Test("1,000 tasks that ask together get the instance of one load, and threads stay free meanwhile (law 3)")
    func thousandTasks() async throws {
        let container = Container()
        let readers = (0..<1_000).map { _ in Task { try await container[Model.self] } }
        await container.untilWaiting(for: Model.self, 1_000)
        // All wait. If one of them held a thread of the pool, this would never end.
        let work = await withTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        expect(work, equals: 499_500)
        container.stage.gate("Model").open()
        let instance = try await container[Model.self]
        for reader in readers { try await expect(reader.value, is: instance) }
        expect(container.stage.tally("Model").value, equals: 1)
    }

    @Test("1,000 children that ask together share one load (law 3)")
    func thousandChildren() async throws {
        let root = Container()
        let readers = (0..<1_000).map { _ in
            let child = root.child()
            return Task { try await child[Model.self] }
        }
        await root.untilWaiting(for: Model.self, 1_000)
        root.stage.gate("Model").open()
        let instance = try await root[Model.self]
        for reader in readers { try await expect(reader.value, is: instance) }
        expect(root.stage.tally("Model").value, equals: 1)
    }

    struct Left: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.gate("left").open()
            await container.stage.gate("right").opened()
            return Thing("Left")
        }
    }
    struct Right: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.gate("right").open()
            await container.stage.gate("left").opened()
            return Thing("Right")
        }
    }
    struct Both: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            async let left = container[Left.self]
            async let right = container[Right.self]
            return Thing("Both", parts: [try await left, try await right])
        }
    }

    @Test("Different features load in parallel, also for one load that needs them (law 3)")
    func parallel() async throws {
        let container = Container()
        let both = try await container[Both.self]
        expect(both.parts.map(\.name), equals: ["Left", "Right"])
        try await expect(container[Left.self], is: both.parts[0])
    }

    enum Request {
        @TaskLocal static var id = "none"
    }
    struct Traced: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String {
            await container.stage.gate("Traced").opened()
            return Request.id
        }
    }

    @Test(
        "An async load has the task-local values of the task that started it, and its handle as current container (law 11)"
    )
    func taskLocals() async throws {
        // Task-local values are those of the task that started the load.
        do {
            let container = Container()
            let first = Request.$id.withValue("first") { Task { try await container[Traced.self] } }
            await container.untilWaiting(for: Traced.self, 1)
            let second = Request.$id.withValue("second") { Task { try await container[Traced.self] } }
            await container.untilWaiting(for: Traced.self, 2)
            container.stage.gate("Traced").open()
            try await expect(first.value, equals: "first")
            try await expect(second.value, equals: "first")
        }
        // Inside an async load the current container is its handle.
        do {
            let root = Container()
            let child = root.child { $0[Tenant.self] = "child" }
            try await expect(child[Nested.self], equals: child.ifLoaded(Nested.self))
            try await expect(child[Nested.self].name, equals: "Nested of child")
            try await expect(root[Nested.self].name, equals: "Nested of root")
        }
    }

    @MainActor @Test("A present instance is read without suspending")
    func noSuspension() async throws {
        let container = Container()
        container.stage.gate("Model").open()
        _ = try await container[Model.self]
        let child = container.child()
        _ = try await child[Model.self]
        let others = Counter()
        Task { @MainActor in others.add() }
        for _ in 0..<100 {
            _ = try await container[Model.self]
            _ = try await child[Model.self]
        }
        expect(others.value, equals: 0)
        await others.reaches(1)
    }

    struct Nested: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            // The handle is current: code without a container records too.
            Thing("Nested of \(Container.current[Tenant.self])")
        }
    }

    struct Keeper: Feature {
        static var home: Home { .local }
        let handle: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Keeper { Keeper(handle: container) }
    }
    struct Gated: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            await container.stage.gate("Gated").opened()
            return try await container[Nested.self]
        }
    }

    @Test("A task loads itself if the container whose kept handle began the load is released meanwhile (laws 3 and 7)")
    func releasedMeanwhile() async throws {
        let root = Container().unreported
        let gate = root.stage.gate("Gated")
        var child: Container? = root.child()
        let (untilReleased, handle) = (child!.untilReleased, child![Keeper.self].handle)
        let first = Task { try await handle[Gated.self] }
        await root.untilWaiting(for: Gated.self, 1)
        let second = Task { try await root[Gated.self] }
        await root.untilWaiting(for: Gated.self, 2)
        child = nil
        await untilReleased()
        gate.open()
        let error = await #expect(throws: LoadError.self) { try await first.value }
        expect(error?.code, equals: .containerGone)
        try await expect(second.value, equals: root.ifLoaded(Gated.self))
    }
}

extension Thing: Equatable {
    static func == (left: Thing, right: Thing) -> Bool { left === right }
}

extension SingleFlightTests {
    private struct Level: Property { static var defaultValue: Int { 0 } }
    private struct Tens: AsyncFeature, Equatable {
        let tens: Int
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) async throws -> Tens { Tens(tens: 0) }
    }

    @Test(
        "A canceled load that goes on replaces no later instance that's equal to its own, or the same (laws 4 and 12)",
        arguments: [(10, 11), (1, 2)])
    func equalToLater(_ levels: (first: Int, second: Int)) async throws {
        let container = Container()
        let (reached, gate, loads) = (Gate(), Gate(), Counter())
        container.replace(Tens.self) { container in
            if loads.add() == 2 {
                reached.open()
                await gate.opened()
            }
            return Tens(tens: container[Level.self] / 10)
        }
        _ = try await container[Tens.self]
        container[Level.self] = levels.first
        let reader = Task { try await container[Tens.self] }
        await reached.opened()
        reader.cancel()
        _ = await reader.result
        // The canceled load was asked when the instance before this one was in doubt.
        _ = try await container[Tens.self]
        let identity = container.identity(of: Tens.self)
        container[Level.self] = levels.second
        gate.open()
        while container.loadsUnderWay > 0 { await Task.yield() }
        _ = try await container[Tens.self]
        expect(container.identity(of: Tens.self), equals: identity)
    }
}

@Suite("Many tasks wait for one load (law 3)", .timeLimit(.minutes(5))) struct ThousandTasksTests {}

extension ThousandTasksTests {
    /// Takes 100 milliseconds by the container's clock.
    struct Slow: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Slow").add()
            try await container.clock.sleep(for: .milliseconds(100))
            return Thing("Slow")
        }
    }

    private func read(_ container: Container) -> [Task<Thing, any Error>] {
        (0..<1_000).map { _ in Task { try await container[Slow.self] } }
    }

    @Test("1,000 tasks wait for one load of 100 ms; none has it before, and all have it then (law 3)")
    func byTheClock() async throws {
        let (container, clock) = (Container(), ManualClock())
        container.clock = AnyClock(clock)
        let readers = read(container)
        await container.untilWaiting(for: Slow.self, 1_000)
        await clock.sleepers(atLeast: 1)
        clock.move(by: .milliseconds(99))
        expect(container.ifLoaded(Slow.self) == nil)
        clock.move(by: .milliseconds(1))
        let instance = try await container[Slow.self]
        for reader in readers { try await expect(reader.value, is: instance) }
        expect(container.stage.tally("Slow").value, equals: 1)
    }

    @Test(
        "999 of 1,000 tasks that are cancelled are released at once, and the load goes on for the last (laws 3 and 4)")
    func cancelled() async throws {
        let (container, clock) = (Container(), ManualClock())
        container.clock = AnyClock(clock)
        let readers = read(container)
        await container.untilWaiting(for: Slow.self, 1_000)
        for reader in readers.dropLast() { reader.cancel() }
        for reader in readers.dropLast() {
            await #expect(throws: CancellationError.self) { try await reader.value }
        }
        await clock.sleepers(atLeast: 1)
        clock.move(by: .milliseconds(100))
        try await expect(readers.last?.value, is: container.ifLoaded(Slow.self))
        expect(container.stage.tally("Slow").value, equals: 1)
    }
}

@Suite("The values of async features (law 9)", .timeLimit(.minutes(5))) struct SequenceOfAsyncTests {}

extension SequenceOfAsyncTests {
    private typealias Slow = ThousandTasksTests.Slow

    @Test("values(of:) does not go on waiting for its first load when its task is cancelled (laws 4 and 9)")
    func valuesAreCancelled() async throws {
        let (container, clock) = (Container(), ManualClock())
        container.clock = AnyClock(clock)
        let task = Task { for await _ in container.values(of: Slow.self) {} }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await task.value
        // Nobody else waits, so the load is cancelled: its sleep ends and it leaves nothing.
        while container.loadsUnderWay > 0 { await Task.yield() }
        expect(clock.sleeperCount, equals: 0)
        expect(container.ifLoaded(Slow.self) == nil)
    }
}
