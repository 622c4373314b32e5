import Fugu
import Support
import Testing

@Suite("Single flight for tasks (law 4)", .timeLimit(.minutes(5))) struct SingleFlightTests {
    struct Model: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            stage.tally("Model").add()
            await stage.gate("Model").opened()
            return Thing("Model")
        }
    }

    @Test("1,000 tasks that ask together get the instance of one load, and threads stay free meanwhile (laws 4 and 17)")
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
        #expect(work == 499_500)
        container.stage.gate("Model").open()
        let instance = try await container[Model.self]
        for reader in readers { #expect(try await reader.value === instance) }
        #expect(container.stage.tally("Model").value == 1)
    }

    @Test("1,000 children that ask together share one load (law 17)")
    func thousandChildren() async throws {
        let root = Container()
        let readers = (0..<1_000).map { _ in
            let child = root.child()
            return Task { try await child[Model.self] }
        }
        await root.untilWaiting(for: Model.self, 1_000)
        root.stage.gate("Model").open()
        let instance = try await root[Model.self]
        for reader in readers { #expect(try await reader.value === instance) }
        #expect(root.stage.tally("Model").value == 1)
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

    @Test("Different features load in parallel, also for one load that needs them (law 4)")
    func parallel() async throws {
        let container = Container()
        let both = try await container[Both.self]
        #expect(both.parts.map(\.name) == ["Left", "Right"])
        #expect(try await container[Left.self] === both.parts[0])
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

    @Test("Task-local values are those of the task that started the load")
    func taskLocals() async throws {
        let container = Container()
        let first = Request.$id.withValue("first") { Task { try await container[Traced.self] } }
        await container.untilWaiting(for: Traced.self, 1)
        let second = Request.$id.withValue("second") { Task { try await container[Traced.self] } }
        await container.untilWaiting(for: Traced.self, 2)
        container.stage.gate("Traced").open()
        #expect(try await first.value == "first")
        #expect(try await second.value == "first")
    }

    struct Prioritised: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> [TaskPriority] {
            let before = Task.currentPriority
            container.stage.gate("begun").open()
            await container.stage.gate("Prioritised").opened()
            return [before, await raisedPriority()]
        }
    }

    @Test("A load runs with its first asker's priority and is raised to a later one's, where the runtime can")
    func priority() async throws {
        let container = Container()
        let stage = container.stage
        let first = Task.detached(priority: .background) { try await container[Prioritised.self] }
        await stage.gate("begun").opened()
        let second = Task.detached(priority: .high) { try await container[Prioritised.self] }
        await container.untilWaiting(for: Prioritised.self, 2)
        stage.gate("Prioritised").open()
        let priorities = try await second.value
        #expect(priorities[0] < .high)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        #expect(priorities[1] >= .high)
        _ = try await first.value
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
        #expect(others.value == 0)
        await others.reaches(1)
    }

    struct Nested: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            // The handle is current: code without a container records too.
            Thing("Nested of \(Container.current[Tenant.self])")
        }
    }

    @Test("Inside an async load the current container is its handle (law 15)")
    func currentIsTheHandle() async throws {
        let root = Container()
        let child = root.child { $0[Tenant.self] = "child" }
        #expect(try await child[Nested.self] == child.ifLoaded(Nested.self))
        #expect(try await child[Nested.self].name == "Nested of child")
        #expect(try await root[Nested.self].name == "Nested of root")
    }
}

extension Thing: Equatable {
    static func == (left: Thing, right: Thing) -> Bool { left === right }
}
