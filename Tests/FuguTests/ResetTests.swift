import Fugu
import Support
import Testing

/// Law 13: reset.
struct ResetTests {}

extension ResetTests {
    struct Size: Property { static var defaultValue: Int { 1 } }
    struct Born: Property { static var defaultValue: Token { Token() } }
    final class Service: Feature, Sendable {
        let size: Int
        init(_ size: Int) { self.size = size }
        static func load(in container: any FeatureContainer) -> Service { Service(container[Size.self]) }
    }
    final class Live: Feature, Sendable {
        let size: Int
        init(_ size: Int) { self.size = size }
        static func load(in container: any FeatureContainer) -> Live { Live(container[Size.self]) }
        static var reloadsWhenInputsChange: Bool { true }
    }

    @Test("A reset of a property gives its default, evaluated anew, and in a child the parent's value (laws 3, 13)")
    func property() {
        // A property that is reset gives its default again, evaluated anew.
        do {
            let root = Container()
            root[Size.self] = 5
            root.reset(Size.self)
            expect(root[Size.self], equals: 1)
            let born = root[Born.self]
            expect(root[Born.self], is: born)
            root.reset(Born.self)
            expect(root[Born.self] !== born)
        }
        // A property that is reset in a child gives the parent's value again.
        do {
            let root = Container()
            root[Size.self] = 5
            let child = root.child { $0[Size.self] = 6 }
            child.reset(Size.self)
            expect(child[Size.self], equals: 5)
            // It has no more values; inherited ones stay.
            child.reset(Size.self)
            expect(child[Size.self], equals: 5)
            expect(root[Size.self], equals: 5)
        }
    }

    @Test("A reset feature loads again at the next read, and loses what was set and replaced (law 13)")
    func feature() {
        // A feature that is reset loads again at the next read, and not before.
        do {
            let loads = Counter()
            let key = FeatureKey { _ in Token(loads.add()) }
            let root = Container()
            let first = root[key]
            root.reset { _ in key }
            expect(loads.value, equals: 1)
            expect(root.ifLoaded { _ in key } == nil)
            expect(root[key] !== first)
            expect(loads.value, equals: 2)
        }
        // A reset removes an instance that was set and a replaced loader.
        do {
            let root = Container()
            root[Service.self] = Service(100)
            root.reset(Service.self)
            expect(root[Service.self].size, equals: 1)
            root.replace(Service.self) { _ in Service(200) }
            expect(root[Service.self].size, equals: 200)
            root.reset(Service.self)
            expect(root[Service.self].size, equals: 1)
        }
    }

    @Test(
        "A reset in a child leaves what it inherits, and one in the parent what children have, but what they share goes (laws 10, 13)"
    )
    func inheritedStays() {
        // A reset in a child leaves what is inherited.
        do {
            let root = Container()
            let shared = root[Service.self]
            let child = root.child()
            child.reset(Service.self)
            child.resetAll()
            expect(child[Service.self], is: shared)
            expect(root[Service.self], is: shared)
        }
        // A reset in the parent leaves what children set and loaded for themselves.
        do {
            let root = Container()
            let child = root.child { $0[Size.self] = 3 }
            let own = child[Service.self]
            _ = root[Service.self]
            root.reset(Service.self)
            root.resetAll()
            expect(child[Service.self], is: own)
            expect(child[Size.self], equals: 3)
        }
        // A reset in the parent is seen by children that shared its instance.
        do {
            let root = Container()
            let child = root.child()
            let before = child[Service.self]
            root.reset(Service.self)
            expect(child[Service.self] !== before)
            expect(child[Service.self], is: root[Service.self])
        }
    }

    @Test(
        "resetAll resets all that was set or loaded here and nothing else; resetting what never was changes nothing (laws 9, 13)"
    )
    func all() {
        // resetAll resets everything that was set or loaded here, and nothing else.
        do {
            let root = Container()
            root[Size.self] = 2
            let child = root.child {
                $0[Size.self] = 3
                $0[Service.self] = Service(50)
            }
            let grandchild = child.child { $0[Size.self] = 4 }
            let born = root[Born.self]
            child.resetAll()
            expect(child[Size.self], equals: 2)
            expect(child[Service.self].size, equals: 2)
            expect(child[Service.self], is: root[Service.self])
            expect(child[Born.self], is: born)
            expect(grandchild[Size.self], equals: 4)
            root.resetAll()
            expect(child[Size.self], equals: 1)
            expect(root[Born.self] !== born)
        }
        // Resetting what was never set or loaded changes nothing and calls nobody.
        do {
            let root = Container()
            root[Size.self] = 2
            let child = root.child { $0[Born.self] = Token() }
            let live = child[Live.self]
            let heard = Counter()
            child.observe(Size.self) { _ in heard.add() }
            child.reset(Size.self)
            expect(heard.value, equals: 0)
            expect(child[Live.self], is: live)
            expect(root[Live.self], is: live)
        }
    }

    @Test("A reset releases the instance at once, also in a child (laws 7, 13)")
    func releases() {
        let alive = Counter()
        let key = FeatureKey { container in Token(container[Size.self], alive: alive) }
        let root = Container()
        let child = root.child { $0[Size.self] = 7 }
        _ = (root[key], child[key])
        child.reset { _ in key }
        expect(alive.value, equals: 1)
        root.reset { _ in key }
        expect(alive.value, equals: 0)
    }

    @Test("A reset of what is observed loads it again at once, whether it reloads or not (laws 9, 12, 13)")
    func eager() {
        // A reset of what reloads and is observed loads it again at once.
        do {
            let root = Container()
            let heard = Log<Live>()
            let first = root[Live.self]
            root.observe(Live.self) { heard.add($0) }
            root.reset(Live.self)
            expect(heard.all.count, equals: 1)
            expect(heard.all.first !== first)
            expect(root.ifLoaded(Live.self), is: heard.all.first)
        }
        // A reset of what is observed loads it again at once, since its observers hear of the reset.
        do {
            let root = Container()
            let heard = Log<Service>()
            let first = root[Service.self]
            root.observe(Service.self) { heard.add($0) }
            root.reset(Service.self)
            expect(heard.all.count, equals: 1)
            expect(heard.all.first !== first)
            expect(root.ifLoaded(Service.self), is: heard.all.first)
        }
    }
}
