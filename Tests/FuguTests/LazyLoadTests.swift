import Foundation
import Fugu
import FuguInspection
import Support
import Testing

@Suite("Law 3: lazy, once") struct LazyLoadTests {}

extension LazyLoadTests {
    struct Session: Feature {
        let id = UUID()
        static func load(in container: any FeatureContainer) -> Session { Session() }
    }

    @Test("Nothing runs before the first read, and then once (law 3)")
    func lazy() {
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

    @Test("A feature that is set before its first read is never loaded (law 3)")
    func setFirst() throws {
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

// Law 3: defaultValue runs at the first read, and not before, in debug builds either.
@Suite("Law 3: what nobody reads is not evaluated") struct LazyUnreadTests {}

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
