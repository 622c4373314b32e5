import Fugu
import Support
import Testing

@Suite("Law 8: children, handles and views made inside of loads") struct Law08NestedLoadsTests {
    struct Base: Property { static var defaultValue: Int { 0 } }
    struct Made: Property { static var defaultValue: Witness? { nil } }

    /// How a load can come by a child.
    enum Origin: CaseIterable {
        case current, with, grandchild, captured

        func child(_ captured: Container) -> Container {
            switch self {
            case .current: Container.current.child()
            case .with: Container.with({ _ in }) { Container.current }
            case .grandchild: Container.current.child().child()
            case .captured: captured.child()
            }
        }
    }

    /// Loads something that makes a child, `depth` loads down.
    private func makeChild(_ origin: Origin, depth: Int, in container: Container) -> Container {
        let children = Log<Container>()
        var key = FeatureKey(home: .local, id: UniqueID()) { [weak container] _ in
            children.add(origin.child(container!))
            return 0
        }
        for _ in 1..<depth {
            let inner = key
            key = FeatureKey(home: .local, id: UniqueID()) { $0[inner] }
        }
        _ = container[key]
        // A key's closures are never released.
        return children.removeAll()[0]
    }

    @Test(
        "A child made in a load keeps its parent, however deep the load, and all go together (law 8)",
        arguments: Origin.allCases, [1, 2, 5])
    func keepsParent(_ origin: Origin, _ depth: Int) {
        let ended = Counter()
        weak var parent: Container?
        do {
            let child: Container
            do {
                let container = Container().child { $0[Base.self] = 9 }
                parent = container
                child = makeChild(origin, depth: depth, in: container)
            }
            expect(parent != nil)
            expect(child[Base.self], equals: 9)
            // Its later loads are its own or its parent's, and neither stays behind.
            let local = FeatureKey(home: .local, id: UniqueID()) { _ in Witness { ended.add() } }
            let inherited = FeatureKey(id: UniqueID()) { handle in
                _ = handle[Base.self]
                return Witness { ended.add() }
            }
            _ = (child[local], child[inherited])
            child[Made.self] = Witness { ended.add() }
            expect(ended.value, equals: 0)
        }
        expect(parent == nil)
        expect(ended.value, equals: 3)
    }

    @Test("An observer in a child made in a nested load hears its parent's changes (laws 8 and 14)")
    func hearsParent() {
        let container = Container()
        let child = makeChild(.current, depth: 3, in: container)
        let heard = Log<Int>()
        child.observe(Base.self) { heard.add($0) }
        container[Base.self] = 1
        expect(heard.all, equals: [1])
    }

    @Test(
        "A container goes though its features keep its handle, the handle's observable, or a nested load's (law 8)",
        arguments: [1, 2, 5])
    func keptHandles(_ depth: Int) {
        struct Keeper: Sendable {
            let handle: any FeatureContainer
            let observable: ObservableContainer
            let witness: Witness
        }
        let ended = Counter()
        weak var gone: Container?
        do {
            let container = Container()
            gone = container
            var key = FeatureKey(id: UniqueID()) { handle in
                Keeper(
                    handle: handle, observable: (handle as! Container).observable, witness: Witness { ended.add() })
            }
            for _ in 1..<depth {
                let inner = key
                key = FeatureKey(id: UniqueID()) { $0[inner] }
            }
            _ = container[key]
        }
        expect(gone == nil)
        expect(ended.value, equals: 1)
    }

    @Test("A container let go in its own observer goes when that returns (laws 8 and 10)")
    func letGoInObserver() {
        let box = Locked<Container?>(Container())
        let heard = Counter()
        weak let gone = box.withLock { $0 }
        gone?.observe(Base.self) { _ in
            heard.add()
            let last = box.withLock { $0.take() }
            withExtendedLifetime(last) {}
        }
        gone?[Base.self] = 1
        expect(heard.value, equals: 1)
        expect(gone == nil)
    }
}
