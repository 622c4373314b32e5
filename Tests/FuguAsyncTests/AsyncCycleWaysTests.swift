import Fugu
import Support
import Testing

@Suite("Cycles are found whatever way the need goes (law 6)", .timeLimit(.minutes(5))) struct AsyncCycleWaysTests {
    static let cases: [Case<AsyncCycleWaysTests>] = [
        Case(
            "The same key through a child made in the load is a cycle whatever the child overrides (law 6)",
            throughAChild),
        Case("The need may go past the handle in a task started from the load (law 6)", pastTheHandle),
        Case("A cycle of throwing features that an async one needs is thrown with the whole way (law 6)", mixedKinds),
        Case(
            "The same key in unrelated families that delegate to each other is no cycle; a closed path is one (law 6)",
            families),
        Case("Ways that meet again are no cycle and load once (law 6)", diamond),
        Case("A later read through the kept handle is no cycle: the message's advice works (law 6)", later),
        Case("2,000 loads may be nested where none takes stack from another; the next is reported (law 6)", deepest),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<AsyncCycleWaysTests>) async throws {
        try await stated.run(self)
    }

    struct Descending: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            // Another container of the family with another value: still the same key on one way.
            let child = Container.current.child { $0[Tenant.self] = "below" }
            return try await child[Descending.self]
        }
    }

    func throughAChild() async throws {
        let error = try #require(
            await #expect(throws: LoadError.self) { try await Container()[Descending.self] })
        expect(error.path, equals: ["Descending", "Descending"])
    }

    enum Way: String, CaseIterable, Sendable {
        case asyncLet, group, task, detached, thread
    }
    enum WayProperty: Property {
        static var defaultValue: Way { .asyncLet }
    }
    struct Outer: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            switch container[WayProperty.self] {
            case .asyncLet:
                async let inner = container[Inner.self]
                return try await inner
            case .group:
                return try await withThrowingTaskGroup(of: Thing.self) { group in
                    group.addTask { try await container[Inner.self] }
                    return try await group.next()!
                }
            case .task: return try await Task { try await container[Inner.self] }.value
            case .detached: return try await Task.detached { try await container[Inner.self] }.value
            case .thread: return try await onThread { Result { try container[InnerThrowing.self] } }.get()
            }
        }
    }
    struct Inner: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Outer.self] }
    }
    struct InnerThrowing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { try container[InnerThrowing.self] }
    }

    @Test("The need may go through any task or thread by way of the handle (law 6)", arguments: Way.allCases)
    func throughTasks(_ way: Way) async throws {
        let container = Container()
        container[WayProperty.self] = way
        let error = try #require(await #expect(throws: LoadError.self) { try await container[Outer.self] })
        let inner = way == .thread ? ["InnerThrowing", "InnerThrowing"] : ["Inner", "Outer"]
        expect(error.path, equals: ["Outer"] + inner)
    }

    struct PastTheHandle: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let family = container[FamilyProperty.self].container!
            return try await Task { try await family[PastTheHandle.self] }.value
        }
    }
    struct Weak: Sendable {
        weak let container: Container?
    }
    enum FamilyProperty: Property {
        static var defaultValue: Weak { Weak(container: nil) }
    }

    func pastTheHandle() async throws {
        let container = Container()
        _ = container.logReports()
        container[FamilyProperty.self] = Weak(container: container)
        let error = try #require(await #expect(throws: LoadError.self) { try await container[PastTheHandle.self] })
        expect(error.path, equals: ["PastTheHandle", "PastTheHandle"])
    }

    struct First: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { try container[Second.self] }
    }
    struct Second: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { try container[First.self] }
    }
    struct Mixed: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try container[First.self] }
    }

    func mixedKinds() async throws {
        let error = try #require(await #expect(throws: LoadError.self) { try await Container()[Mixed.self] })
        expect(error.path, equals: ["Mixed", "First", "Second", "First"])
    }

    struct Delegating: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            guard let other = container[FamilyProperty.self].container else { return Thing("end") }
            return try await other[Delegating.self]
        }
    }

    func families() async throws {
        let (one, two) = (Container(), Container())
        one[FamilyProperty.self] = Weak(container: two)
        try await expect(one[Delegating.self].name, equals: "end")
        let (three, four) = (Container(), Container())
        three[FamilyProperty.self] = Weak(container: four)
        four[FamilyProperty.self] = Weak(container: three)
        let error = try #require(await #expect(throws: LoadError.self) { try await three[Delegating.self] })
        expect(error.path, equals: ["Delegating", "Delegating", "Delegating"])
    }

    struct Diamond: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            async let left = container[LeftSide.self]
            async let right = container[RightSide.self]
            async let again = container[LeftSide.self]
            return Thing("Diamond", parts: [try await left, try await right, try await again])
        }
    }
    struct LeftSide: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing("left", parts: [try await container[Bottom.self]])
        }
    }
    struct RightSide: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing("right", parts: [try await container[Bottom.self]])
        }
    }
    struct Bottom: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Bottom").add()
            await Task.yield()
            return Thing("bottom")
        }
    }

    func diamond() async throws {
        for _ in 0..<50 {
            let container = Container()
            let diamond = try await container[Diamond.self]
            expect(diamond.parts[0], is: diamond.parts[2])
            expect(diamond.parts[0].parts[0], is: diamond.parts[1].parts[0])
            expect(container.stage.tally("Bottom").value, equals: 1)
        }
    }

    struct Lazy: AsyncFeature {
        final class Instance: Sendable {
            let handle: any FeatureContainer
            init(_ handle: any FeatureContainer) { self.handle = handle }
            var user: User.Instance { get async throws { try await handle[User.self] } }
        }
        static func load(in container: any FeatureContainer) async throws -> Instance { Instance(container) }
    }
    struct User: AsyncFeature {
        final class Instance: Sendable {
            let lazy: Lazy.Instance
            init(_ lazy: Lazy.Instance) { self.lazy = lazy }
        }
        static func load(in container: any FeatureContainer) async throws -> Instance {
            Instance(try await container[Lazy.self])
        }
    }

    func later() async throws {
        let container = Container()
        let user = try await container[User.self]
        try await expect(user.lazy.user, is: user)
    }

    /// Two thousand types, none of which has a long name.
    struct Deep<Fifties: Sendable, Ones: Sendable>: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Deep").add().isMultiple(of: 50)
                ? try await container[Deep<Fifties?, Int>.self] : try await container[Deep<Fifties, Ones?>.self]
        }
    }

    @Test("Nesting without end is reported alike (law 6)")
    func deep() async throws {
        let container = Container()
        let error = try #require(await #expect(throws: LoadError.self) { try await container[Deep<Int, Int>.self] })
        expect(error.path.count > 101)
        expect(error.description.contains("the stack has no room for more"))
        expect(container.stage.tally("Deep").value, equals: error.path.count - 1)
    }
    /// Goes on in another container without end, and so on no stack.
    struct Elsewhere: AsyncFeature {
        static let loads = Counter()
        static func load(in container: any FeatureContainer) async throws -> Thing {
            loads.add()
            return try await Container()[Elsewhere.self]
        }
    }

    func deepest() async throws {
        await #expect(throws: LoadError.self) { try await Container()[Elsewhere.self] }
        expect(Elsewhere.loads.value, equals: 2_000)
    }
}
