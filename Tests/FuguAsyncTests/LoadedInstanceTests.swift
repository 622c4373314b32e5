import Fugu
import Support
import Testing

@Suite("A warm instance is read without waiting (law 4)", .timeLimit(.minutes(5))) struct LoadedInstanceTests {}

extension LoadedInstanceTests {
    struct Pool: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            await Task.yield()
            return Thing("pool of \(container[Tenant.self])")
        }
    }
    struct Config: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { Thing("config") }
    }
    struct Users: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Thing {
            Thing("Users", parts: [container.loaded(Pool.self), container.loaded(Config.self)])
        }
    }

    @Test("It gives the instance that is there, loaded or set, to readers and to plain loads (law 4)")
    func gives() async throws {
        // It gives the instance that is there, to readers and to plain loads.
        do {
            let container = Container()
            try await container.warmUp {
                $0.load(Pool.self)
                $0.load(Config.self)
            }
            expect(container.loaded(Pool.self), is: container.ifLoaded(Pool.self))
            expect(container.loaded(Config.self), is: container.ifLoaded(Config.self))
            expect(container.child().loaded(Pool.self), is: container.ifLoaded(Pool.self))
            let users = container[Users.self]
            expect(users.parts[0], is: container.ifLoaded(Pool.self))
            expect(users.parts[1], is: container.ifLoaded(Config.self))
        }
        // It gives what was set.
        do {
            let container = Container()
            let (pool, config) = (Thing(), Thing())
            container.set(Pool.self, to: pool)
            container.set(Config.self, to: config)
            expect(container.loaded(Pool.self), is: pool)
            expect(container.loaded(Config.self), is: config)
        }
    }

    @Test(
        "In a load it is an input, also through Container.current: an override gives a child its own (laws 4, 10, 11 and 12)"
    )
    func isAnInput() async throws {
        // In a load it is an input: an override gives a child its own, and a change is followed.
        do {
            let container = Container()
            _ = try await container[Pool.self]
            _ = try container[Config.self]
            let users = container[Users.self]
            let mine = Thing("mine")
            let child = container.child()
            expect(child[Users.self], is: users)
            child.set(Pool.self, to: mine)
            expect(child[Users.self].parts[0], is: mine)
            expect(container[Users.self], is: users)
            container.set(Config.self, to: mine)
            expect(container[Users.self] !== users)
            expect(container[Users.self].parts[1], is: mine)
        }
        // Through Container.current it is an input of the running load, too.
        do {
            struct Late: Feature {
                static func load(in container: any FeatureContainer) -> Thing {
                    Thing("Late", parts: [Container.current.loaded(Pool.self)])
                }
            }
            let container = Container()
            let child = container.child { $0[Tenant.self] = "child" }
            _ = try await child[Pool.self]
            expect(child[Late.self].parts[0].name, equals: "pool of child")
            expect(container.ifLoaded(Late.self) == nil)
        }
    }

    @Test("Without an instance, the program stops with the path and the fix (law 4)")
    func stops() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Container()[Users.self]
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(
            text.contains(
                "Fugu: there is no loaded instance of Pool.\nPath: Users → Pool\nFix: load it in this container, with "
                    + "try await container.warmUp { $0.load("))
        expect(text.contains("LoadedInstanceTests.Pool.self) }"))
        expect(text.contains("or set it, with container.set("))
    }

    @Test("A child that overrides what the instance was made from has none (laws 4 and 10)")
    func overridden() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = Container()
            _ = try container[Config.self]
            _ = try await container[Pool.self]
            _ = container.child { $0[Tenant.self] = "child" }.loaded(Pool.self)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(
            text.contains(
                "Fugu: there is no loaded instance of Pool for a container that sets Tenant, from which it's made.\n"
                    + "Path: Pool → Tenant\nFix: load it in this container, with try await container.warmUp { $0.load("),
            "\(text)")
        expect(text.contains("or set it, with container.set("))
    }
}

@Suite("An abandoned load and the one that took its place (law 4)", .timeLimit(.minutes(5))) struct LoadOverlapTests {
}

extension LoadOverlapTests {
    /// Does not care for cancellation; every load has its own gate.
    struct Stubborn: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Stubborn").add()
            container.onClose { stage.log.add("close \(number)") }
            await stage.gate("Stubborn \(number)").opened()
            stage.log.add(Task.isCancelled ? "end \(number), cancelled" : "end \(number)")
            try stage.mayFail("Stubborn \(number)")
            return Thing("Stubborn \(number)")
        }
    }

    /// Begins a load, abandons it, and begins another one while the first still runs.
    private func overlap(in container: Container) async -> Task<Thing, any Error> {
        let abandoned = Task { try await container[Stubborn.self] }
        await container.stage.tally("Stubborn").reaches(1)
        abandoned.cancel()
        await #expect(throws: CancellationError.self) { try await abandoned.value }
        let next = Task { try await container[Stubborn.self] }
        await container.stage.tally("Stubborn").reaches(2)
        return next
    }

    @Test("A reader after the last one left starts a new load at once, and whichever is first is kept (law 4)")
    func abandonedSucceedsFirst() async throws {
        // A reader after the last one left starts a new load at once; the abandoned one is kept if first.
        do {
            let container = Container()
            let stage = container.stage
            let next = await overlap(in: container)
            stage.gate("Stubborn 1").open()
            await expect(stage.log.first(1), equals: ["end 1, cancelled"])
            while container.loadsUnderWay > 1 { await Task.yield() }
            try await expect(container[Stubborn.self].name, equals: "Stubborn 1")
            stage.gate("Stubborn 2").open()
            try await expect(next.value.name, equals: "Stubborn 1")
            await expect(stage.log.first(3), equals: ["end 1, cancelled", "end 2", "close 2"])
            try await container.close()
            expect(stage.log.all.last, equals: "close 1")
            expect(stage.log.all.count, equals: 4)
        }
        // A reader after the last one left starts a new load at once; it is kept if first.
        do {
            let container = Container()
            let stage = container.stage
            let next = await overlap(in: container)
            stage.gate("Stubborn 2").open()
            try await expect(next.value.name, equals: "Stubborn 2")
            stage.gate("Stubborn 1").open()
            await expect(stage.log.first(3), equals: ["end 2", "end 1, cancelled", "close 1"])
            try await expect(container[Stubborn.self].name, equals: "Stubborn 2")
            try await container.close()
            expect(stage.log.all.count, equals: 4)
            expect(stage.log.all.last, equals: "close 2")
        }
    }

    @Test("A failure of the abandoned load is nobody's; that of the new one leaves what the abandoned made (law 4)")
    func failuresOfOverlappingLoads() async throws {
        for failing in 1...2 {
            let container = Container().unreported
            let stage = container.stage
            stage.fail("Stubborn \(failing)")
            let next = await overlap(in: container)
            stage.gate("Stubborn 1").open()
            while container.loadsUnderWay > 1 { await Task.yield() }
            stage.gate("Stubborn 2").open()
            try await expect(next.value.name, equals: "Stubborn \(3 - failing)")
        }
    }
}
