import Fugu
import Support
import Testing

@Suite("Laws 6 and 10: an observer is in nobody's load") struct Law10NobodysLoadTests {
    struct Watched: Property { static var defaultValue: Value { Value(number: 0) } }
    struct Value: Sendable {
        let number: Int
        var witness: Witness?
    }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Mark: Property { static var defaultValue: Int { 0 } }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    /// An operation in the middle of which a thread may change a key.
    enum Middle: CaseIterable {
        case load, nestedLoad, update, modify

        func perform(_ container: Container, _ body: @escaping @Sendable () -> Void) {
            if self == .load || self == .nestedLoad {
                container.replace(Parsed.self) { _ in
                    body()
                    return 1
                }
            }
            switch self {
            case .load: _ = try? container[Parsed.self]
            case .nestedLoad: _ = container[FeatureKey(id: UniqueID()) { (try? $0[Parsed.self]) ?? 0 }]
            case .update: container.update { _ in body() }
            case .modify: container.modify(Other.self) { _ in body() }
            }
        }
    }

    @Test(
        "Another thread's change is not delivered inside a load, an update, or a modify (laws 6 and 10)",
        arguments: Middle.allCases)
    func elsewhere(_ middle: Middle) {
        let container = Container()
        let (releasing, goesOn) = (Gate(), Gate())
        container[Watched.self] = Value(
            number: 1,
            witness: Witness {
                releasing.open(); goesOn.wait()
            })
        let heard = Log<Int>()
        let faults = Log<String>()
        let isInside = Counter()
        container.observe(Watched.self) { value in
            heard.add(value.number)
            if isInside.value != 0, value.number == 2 { faults.add("heard inside") }
            // Were it inside the load, this would be a cycle; inside the modify, a write of the same key.
            do { _ = try container[Parsed.self] } catch { faults.add("\(error)") }
            container[Other.self] = value.number
        }
        // It has changed the key, and delivers when the old value is released.
        let first = startThread { container[Watched.self] = Value(number: 2) }
        releasing.wait()
        let second = startThread {
            middle.perform(container) {
                isInside.add()
                container[Watched.self] = Value(number: 3)
                isInside.add(-1)
            }
        }
        second.wait()
        goesOn.open()
        first.wait()
        expect(faults.all.isEmpty)
        expect(heard.all, equals: [2, 3])
    }

    @Test("An observer's read is never an input, whichever thread delivers (law 10)", arguments: Middle.allCases)
    func nobodysInput(_ middle: Middle) {
        let container = Container()
        let loads = Counter()
        let outer = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { _ in
            middle.perform(container) { container[Watched.self] = Value(number: 1) }
            return loads.add()
        }
        container.observe(Watched.self) { _ in _ = (container[Mark.self], Container.current[Mark.self]) }
        expect(container[outer], equals: 1)
        container[Mark.self] = 1
        expect(container[outer], equals: 1)
        expect(container.child { $0[Mark.self] = 2 }[outer], equals: 1)
    }

    @Test("An update in an observer joins nothing, whoever delivers (laws 7 and 10)")
    func updateInObserver() {
        struct Failure: Error {}
        let container = Container()
        container.observe(Watched.self) { value in container.update { $0[Other.self] = value.number } }
        #expect(throws: Failure.self) {
            try container.update { _ in
                onAnotherThread { container[Watched.self] = Value(number: 3) }
                expect(container[Other.self], equals: 3)
                container[Watched.self] = Value(number: 4)
                throw Failure()
            }
        }
        expect(container[Other.self], equals: 4)
    }

    @Test("Inside an observer, Container.current is the container it observes, whoever changes what (law 10)")
    func current() {
        let root = Container()
        let child = root.child()
        let heard = Log<String>()
        for (name, container) in [("root", root), ("child", child)] {
            container.observe(Mark.self) { [weak container] _ in
                heard.add(Container.current === container ? name : "another one than \(name)")
            }
        }
        root[Mark.self] = 1
        Container.with(Container()) { root[Mark.self] = 2 }
        Container.with(child) { root[Mark.self] = 3 }
        _ = child[FeatureKey(home: .local, id: UniqueID()) { _ in root[Mark.self] = 4 }]
        onAnotherThread { root[Mark.self] = 5 }
        expect(heard.count, equals: 10)
        expect(Set(heard.all), equals: ["root", "child"])
    }
}
