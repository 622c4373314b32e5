import Fugu
import Support
import Testing

@Suite("A warm instance is read without waiting (law 27)", .timeLimit(.minutes(5))) struct Law27LoadedTests {
    static let cases: [Case<Law27LoadedTests>] = [
        Case("It gives the instance that is there, to readers and to plain loads (law 27)", gives),
        Case("It gives what was set (law 27)", givesWhatWasSet),
        Case(
            "In a load it is an input: an override gives a child its own, and a change is followed (laws 16, 19 and 27)",
            isAnInput),
        Case("Through Container.current it is an input of the running load, too (laws 15 and 27)", throughCurrent),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law27LoadedTests>) async throws { try await stated.run(self) }

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

    func gives() async throws {
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

    func givesWhatWasSet() {
        let container = Container()
        let (pool, config) = (Thing(), Thing())
        container.set(Pool.self, to: pool)
        container.set(Config.self, to: config)
        expect(container.loaded(Pool.self), is: pool)
        expect(container.loaded(Config.self), is: config)
    }

    func isAnInput() async throws {
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

    func throughCurrent() async throws {
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

    @Test("Without an instance, the program stops with the path and the fix (law 27)")
    func stops() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Container()[Users.self]
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(
            text.contains(
                "Fugu: there is no loaded instance of Pool.\nPath: Users → Pool\nFix: load it first, with "
                    + "try await container.warmUp { $0.load("))
        expect(text.contains("Law27LoadedTests.Pool.self) }"))
        expect(text.contains("or set it, with container.set("))
    }

    @Test("A child that overrides what the instance was made from has none (laws 16 and 27)")
    func overridden() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = Container()
            _ = try container[Config.self]
            _ = try await container[Pool.self]
            _ = container.child { $0[Tenant.self] = "child" }.loaded(Pool.self)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Fugu: there is no loaded instance of Pool"))
    }
}
