import Foundation
@testable import Fugu
import FuguInspection
import Support
import Testing

/// A container at first sight.
struct ContainerTests {}

extension ContainerTests {
    struct Name: Property { static var defaultValue: String { "world" } }
    struct Greeting: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Greeting {
            Greeting(text: "Hello, \(container[Name.self])")
        }
    }

    @Test("reads defaults, sets, and loads features from what is set")
    func basics() {
        let container = Container()
        expect(container[Name.self], equals: "world")
        container[Name.self] = "Ada"
        expect(container[Greeting.self].text, equals: "Hello, Ada")
        expect(Container { $0[Name.self] = "Eve" }[Greeting.self].text, equals: "Hello, Eve")
    }
}

/// Law 2: isolated.
struct SeparateContainersTests {}

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

    @Test("Every root has its own values, features, defaults, and observers (law 2)")
    func sets() async throws {
        // A value set in one root is not seen in another.
        do {
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
        // Every root loads its own features, of every kind.
        do {
            let (left, right) = (Container(), Container())
            let key = FeatureKey { _ in Witness() }
            expect(left[Device.self].id !== right[Device.self].id)
            expect(left[key] !== right[key])
            try expect(left[Failing.self].id !== right[Failing.self].id)
            let (first, second) = (try await left[Late.self], try await right[Late.self])
            expect(first.id !== second.id)
        }
        // The default of a value key is evaluated for each root.
        do {
            let evaluations = Counter()
            let key = PropertyKey(defaultValue: Witness(onEnd: { _ = evaluations.add() }))
            let (left, right) = (Container(), Container())
            expect(left[key] !== right[key])
            expect(left[key], is: left[key])
        }
        // Observers receive changes of their own root only.
        do {
            let (left, right) = (Container(), Container())
            let heard = Log<String>()
            left.observe(Name.self) { heard.add($0) }
            right[Name.self] = "right"
            left[Name.self] = "left"
            expect(heard.all, equals: ["left"])
        }
    }

    @Test("The shared container is one, and shares nothing with a new one (law 2)")
    func shared() {
        let key = PropertyKey(defaultValue: Witness())
        expect(Container.shared, is: Container.shared)
        expect(Container.shared[key], is: Container.shared[key])
        expect(Container()[key] !== Container.shared[key])
    }
}

/// Law 3: lazy, once.
struct LazyLoadTests {}

extension LazyLoadTests {
    struct Session: Feature {
        let id = UUID()
        static func load(in container: any FeatureContainer) -> Session { Session() }
    }

    @Test("Nothing runs before the first read, and then once, or never if it was set before (law 3)")
    func lazy() throws {
        // Nothing runs before the first read, and then once.
        do {
            let runs = Counter()
            let property = PropertyKey(defaultValue: runs.add())
            let feature = FeatureKey { _ in runs.add() }
            let container = Container()
            let child = container.child()
            expect(container.ifLoaded { _ in property } == nil)
            expect(container.ifLoaded { _ in feature } == nil)
            expect(runs.value, equals: 0)
            for _ in 0..<10 { _ = (container[property], container[feature], child[property], child[feature]) }
            expect(runs.value, equals: 2)
            expect(container.ifLoaded { _ in property }, equals: 1)
            expect(child.ifLoaded { _ in feature }, equals: 2)
        }
        // A feature that is set before its first read is never loaded.
        do {
            let runs = Counter()
            let property = PropertyKey(defaultValue: runs.add())
            let feature = FeatureKey { _ in runs.add() }
            let container = Container()
            container[property] = 10
            container[feature] = 20
            container.replace(Session.self) { _ in
                runs.add()
                return Session()
            }
            let session = Session()
            container[Session.self] = session
            expect(container[property], equals: 10)
            expect(container[feature], equals: 20)
            expect(container[Session.self].id, equals: session.id)
            expect(runs.value, equals: 0)
        }
    }
}

// Law 3: defaultValue runs at the first read, and not before, in debug builds either.
/// Law 3: what nobody reads is not evaluated.
struct LazyUnreadTests {}

extension LazyUnreadTests {
    private static func counted(_ counter: Counter, _ number: Int = 0) -> PropertyKey<Int> {
        PropertyKey(defaultValue: counter.add() + number, id: "counted")
    }

    @Test(
        "However often a key is made, compared, set, observed and reset, its default waits for the first read (law 3)")
    func unread() {
        let container = Container()
        let evaluated = Counter()
        for _ in 0..<5 {
            let key = Self.counted(evaluated)
            expect(key, equals: Self.counted(evaluated))
            container[key] = 5
            expect(container[key], equals: 5)
            container.observe({ _ in key }) { _ in }.cancel()
            _ = (container.graph, "\(key)", Container(copying: container))
        }
        expect(evaluated.value, equals: 0)
        container.reset { _ in Self.counted(evaluated) }
        expect(container[Self.counted(evaluated)], equals: 1)
        expect(container[Self.counted(evaluated)], equals: 1)
        expect(evaluated.value, equals: 1)
    }

    @Test("A default that captures an object keeps it alive and is asked once for each root (laws 2 and 3)")
    func captured() {
        final class Base: Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
        }
        func key(_ base: Base) -> PropertyKey<Int> { PropertyKey(defaultValue: base.number, id: "captured") }
        let first = key(Base(1))
        for _ in 0..<100 { _ = key(Base(1)) }
        expect(Container()[first], equals: 1)
        expect(Container()[key(Base(1))], equals: 1)
    }
}
