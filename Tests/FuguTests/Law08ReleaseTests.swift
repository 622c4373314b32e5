@testable import Fugu
import Support
import Testing

@Suite("Law 8: nothing kept behind your back") struct Law08ReleaseTests {
    static let cases: [Case<Law08ReleaseTests>] = [
        Case("A value that was replaced or reset is released at once (law 8)", replaced),
        Case("Someone else's handle does not keep what was loaded (law 8)", keptHandle),
        Case("Results given to waiters of a load aren't kept for them (law 8)", waiters),
        Case("A container's values are released with it, even if an instance with a handle is kept (law 8)", survivor),
        Case("A child keeps its parent alive, a parent does not keep its child (law 8)", children),
        Case(
            "Values that the end of an update withdraws from observers are released outside of locks (laws 7 and 8)",
            takenBack),
        Case("A pending value that an update drops is not released under a lock (law 8)", updateDeinit),
        Case("Readers on other threads never meet a value that is gone (law 8)", racingReaders),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law08ReleaseTests>) async throws { try await stated.run(self) }

    struct Slot: Property { static var defaultValue: Witness? { nil } }
    struct Device: Feature {
        static func load(in container: any FeatureContainer) -> Witness { Witness() }
    }

    func replaced() {
        let container = Container()
        let ended = Log<String>()
        func witness(_ name: String) -> Witness { Witness { ended.add(name) } }
        container[Slot.self] = witness("set")
        container[Slot.self] = witness("replaced")
        expect(ended.removeAll(), equals: ["set"])
        container.reset(Slot.self)
        expect(ended.removeAll(), equals: ["replaced"])
        container[Slot.self] = witness("modified")
        container.modify(Slot.self) { $0 = witness("updated") }
        expect(ended.removeAll(), equals: ["modified"])
        container.update { $0[Slot.self] = witness("all") }
        expect(ended.removeAll(), equals: ["updated"])
        container.resetAll()
        expect(ended.removeAll(), equals: ["all"])
    }

    @Test("A feature that was loaded is released when it is reset, set or resets with all, handle or not (law 8)")
    func loaded() {
        struct Keeping: Sendable {
            let container: any FeatureContainer
            let witness: Witness
        }
        let ended = Counter()
        let bare = FeatureKey { _ in Witness { ended.add() } }
        let keeping = FeatureKey { Keeping(container: $0, witness: Witness { ended.add() }) }
        let container = Container()
        _ = (container[bare], container[keeping])
        container.reset(bare)
        expect(ended.value, equals: 1)
        container.reset(keeping)
        expect(ended.value, equals: 2)
        _ = (container[bare], container[keeping])
        container[bare] = Witness()
        container[keeping] = Keeping(container: container.child(), witness: Witness())
        expect(ended.value, equals: 4)
        container.resetAll()
        _ = (container[bare], container[keeping])
        container.resetAll()
        expect(ended.value, equals: 6)
    }

    func keptHandle() {
        let ended = Counter()
        let handles = Log<any FeatureContainer>()
        let key = FeatureKey { handle in
            handles.add(handle)
            return Witness { ended.add() }
        }
        let container = Container()
        _ = container[key]
        container.reset(key)
        expect(ended.value, equals: 1)
    }

    func waiters() {
        let ended = Counter()
        let container = Container()
        let goesOn = Gate()
        let handles = Log<any FeatureContainer>()
        container.replace(Device.self) { handle in
            handles.add(handle)
            goesOn.wait()
            return Witness { ended.add() }
        }
        let threads = (0..<4).map { _ in startThread { _ = container[Device.self] } }
        container.awaitWaiters(3, for: Device.self)
        goesOn.open()
        threads.forEach { $0.wait() }
        container.reset(Device.self)
        expect(ended.value, equals: 1)
    }

    @Test("A container that is released releases everything, even what captured its handle (law 8)")
    func container() async throws {
        struct Late: AsyncFeature {
            let container: any FeatureContainer
            let witness: Witness
            static func load(in container: any FeatureContainer) async throws -> Late {
                Late(container: container, witness: Witness { ended.add() })
            }
            static let ended = Counter()
        }
        final class Node: Sendable {
            let container: any FeatureContainer
            let witness: Witness
            init(_ container: any FeatureContainer, _ ended: Counter) {
                self.container = container
                witness = Witness { ended.add() }
            }
        }
        let ended = Counter()
        let inner = FeatureKey { Node($0, ended) }
        let outer = FeatureKey { handle in [handle[inner], Node(handle, ended)] }
        func use() async throws {
            let container = Container()
            container[Slot.self] = Witness { ended.add() }
            container.observe(Slot.self) { [witness = Witness { ended.add() }] _ in withExtendedLifetime(witness) {} }
            container.replace(Device.self) { [witness = Witness { ended.add() }] _ in witness }
            _ = container[Device.self]
            _ = container.child()[outer]
            let child = container.child { $0[inner] = Node(container.child(), ended) }
            _ = child[outer]
            _ = try await container[Late.self]
        }
        try await use()
        expect(ended.value, equals: 7)
        expect(Late.ended.value, equals: 1)
    }

    func survivor() {
        struct Survivor: Sendable { let container: any FeatureContainer }
        let ended = Counter()
        let other = FeatureKey { _ in Witness { ended.add() } }
        let key = FeatureKey { handle in
            _ = handle[other]
            return Survivor(container: handle)
        }
        let survivor = Container()[key]
        expect(ended.value, equals: 1)
        withExtendedLifetime(survivor) {}
    }

    func children() {
        let ended = Log<String>()
        var parent: Container? = Container()
        weak let weakParent = parent
        parent?[Slot.self] = Witness { ended.add("parent") }
        var child = parent?.child()
        weak let weakChild = child
        let own = FeatureKey(home: .local) { _ in Witness { ended.add("child") } }
        _ = child?[own]
        parent = nil
        expect(weakParent != nil)
        expect(ended.all.isEmpty)
        expect(child?[Slot.self] != nil)
        child = nil
        expect(weakChild == nil)
        expect(weakParent == nil)
        expect(Set(ended.all), equals: ["child", "parent"])
        let lonely = Container()
        weak let forgotten = lonely.child()
        expect(forgotten == nil)
    }

    @Test("A family of 100,000 generations goes with its last child, without running out of stack (law 8)")
    func deepFamily() {
        let ended = Log<Int>()
        weak var root: Container?
        do {
            var container = Container()
            root = container
            for generation in 1...100_000 {
                container = container.child()
                if generation.isMultiple(of: 50_000) { container[Slot.self] = Witness { ended.add(generation) } }
            }
            expect(root != nil)
            expect(ended.all.isEmpty)
        }
        expect(root == nil && ended.all == [100_000, 50_000])
    }

    func takenBack() {
        let container = Container()
        let ended = Counter()
        container.observe(Slot.self) { _ in }
        container.update { handle in
            container[Slot.self] = Law08DeinitTests.useful(container, ended)
            // From here on, only pending deliveries to observers keep it.
            container[Slot.self] = nil
            handle[Slot.self] = Witness()
        }
        expect(ended.value, equals: 1)
    }

    @Test("Nothing is released under a lock: a deinit may use the container from any thread (law 8)")
    func deinits() {
        let container = Container()
        let ended = Counter()
        let useful: @Sendable () -> Witness = { Law08DeinitTests.useful(container, ended) }
        container[Slot.self] = useful()
        container[Slot.self] = nil
        container[Slot.self] = useful()
        container.reset(Slot.self)
        container.update { handle in
            handle[Slot.self] = useful()
            handle[Slot.self] = nil
        }
        try? container.update { handle throws(CancellationError) in
            handle[Slot.self] = useful()
            throw CancellationError()
        }
        expect(ended.value, equals: 4)
        container.observe(Slot.self) { [witness = useful()] _ in withExtendedLifetime(witness) {} }.cancel()
        expect(ended.value, equals: 5)
        for replace in [{ container[Device.self] = Witness() }, { container.reset(Device.self) }] {
            container.replace(Device.self) { [witness = useful()] _ in witness }
            container.replace(Device.self) { [witness = useful()] _ in witness }
            _ = container[Device.self]
            replace()
        }
        expect(ended.value, equals: 9)
        let child = container.child()
        child[Slot.self] = useful()
        child.resetAll()
        expect(ended.value, equals: 10)
    }

    func updateDeinit() {
        let container = Container()
        let number = PropertyKey(defaultValue: 1)
        let seen = Log<Int>()
        container.update { handle in
            handle[number] = 2
            handle[Slot.self] = Witness { seen.add(handle[number]) }
            handle[Slot.self] = nil
            try? container.update { inner throws(CancellationError) in
                inner[Slot.self] = Witness { seen.add(handle[number]) }
                throw CancellationError()
            }
        }
        expect(seen.all, equals: [2, 2])
    }

    func racingReaders() async {
        let container = Container()
        let child = container.child()
        let ended = Counter()
        let key = PropertyKey(defaultValue: Witness { ended.add() })
        await onThreads(4) { thread in
            for _ in 0..<3_000 {
                switch thread {
                case 0: container[key] = Witness { ended.add() }
                case 1: container.reset(key)
                case 2: withExtendedLifetime(container[key]) {}
                default: withExtendedLifetime(child[key]) {}
                }
            }
        }
        let before = ended.value
        container.reset(key)
        _ = container[key]
        container[key] = Witness()
        expect(ended.value > before)
    }
}
