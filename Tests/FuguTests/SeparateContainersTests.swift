import Fugu
import Support
import Testing

@Suite("Law 2: isolated") struct SeparateContainersTests {}

extension SeparateContainersTests {
    struct Name: Property { static var defaultValue: String { "default" } }
    struct Device: Feature {
        let id = Witness()
        static func load(in container: any FeatureContainer) -> Device { Device() }
    }
    struct Failing: ThrowingFeature {
        let id = Witness()
        static func load(in container: any FeatureContainer) throws -> Failing { Failing() }
    }
    struct Late: AsyncFeature {
        let id = Witness()
        static func load(in container: any FeatureContainer) async throws -> Late { Late() }
    }

    @Test("A value set in one root is not seen in another (law 2)")
    func sets() throws {
        let (left, right) = (Container(), Container())
        let key = PropertyKey(defaultValue: 0)
        left[Name.self] = "left"
        left[key] = 1
        left[Device.self] = Device()
        expect(right[Name.self], equals: "default")
        expect(right[key], equals: 0)
        expect(right[Device.self].id !== left[Device.self].id)
        right.resetAll()
        expect(left[Name.self], equals: "left")
        expect(left[key], equals: 1)
    }

    @Test("Every root loads its own features, of every kind (law 2)")
    func loads() async throws {
        let (left, right) = (Container(), Container())
        let key = FeatureKey { _ in Witness() }
        expect(left[Device.self].id !== right[Device.self].id)
        expect(left[key] !== right[key])
        try expect(left[Failing.self].id !== right[Failing.self].id)
        let (first, second) = (try await left[Late.self], try await right[Late.self])
        expect(first.id !== second.id)
    }

    @Test("The default of a value key is evaluated for each root (law 2)")
    func defaults() {
        let evaluations = Counter()
        let key = PropertyKey(defaultValue: Witness(onEnd: { _ = evaluations.add() }))
        let (left, right) = (Container(), Container())
        expect(left[key] !== right[key])
        expect(left[key], is: left[key])
    }

    @Test("Observers receive changes of their own root only (law 2)")
    func observers() {
        let (left, right) = (Container(), Container())
        let heard = Log<String>()
        left.observe(Name.self) { heard.add($0) }
        right[Name.self] = "right"
        left[Name.self] = "left"
        expect(heard.all, equals: ["left"])
    }

    @Test("The shared container is one, and shares nothing with a new one (law 2)")
    func shared() {
        let key = PropertyKey(defaultValue: Witness())
        expect(Container.shared, is: Container.shared)
        expect(Container.shared[key], is: Container.shared[key])
        expect(Container()[key] !== Container.shared[key])
    }
}
