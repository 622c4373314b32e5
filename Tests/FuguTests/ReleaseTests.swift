import Support
import Testing

@testable import Fugu

/// Law 7: nothing kept behind your back.
struct ReleaseTests {}

extension ReleaseTests {
    struct Slot: Property { static var defaultValue: Witness? { nil } }
    struct Device: Feature {
        static func load(in container: any FeatureContainer) -> Witness { Witness() }
    }

    @Test("What was replaced, reset, or set over is released at once, a value or a loaded feature (law 7)")
    func replaced() {
        // A value that was replaced or reset is released at once.
        do {
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
        // A feature that was loaded is released when it is reset, set or resets with all, handle or not.
        do {
            struct Keeping: Sendable {
                let container: any FeatureContainer
                let witness: Witness
            }
            let ended = Counter()
            let bare = FeatureKey { _ in Witness { ended.add() } }
            let keeping = FeatureKey { Keeping(container: $0, witness: Witness { ended.add() }) }
            let container = Container()
            _ = (container[bare], container[keeping])
            container.reset { _ in bare }
            expect(ended.value, equals: 1)
            container.reset { _ in keeping }
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
    }

    @Test("Results given to waiters of a load aren't kept for them (law 7)")
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

    @Test("A container that is released releases everything, even what captured its handle (law 7)")
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

    @Test("A container's values are released with it, even if an instance with a handle is kept (law 7)")
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

    @Test("Values that an update drops, or withdraws from observers, are released outside of locks (laws 6 and 7)")
    func takenBack() {
        // Values that the end of an update withdraws from observers are released outside of locks.
        do {
            let container = Container()
            let ended = Counter()
            container.observe(Slot.self) { _ in }
            container.update { handle in
                container[Slot.self] = ReleaseDeinitTests.useful(container, ended)
                // From here on, only pending deliveries to observers keep it.
                container[Slot.self] = nil
                handle[Slot.self] = Witness()
            }
            expect(ended.value, equals: 1)
        }
        // A pending value that an update drops is not released under a lock.
        do {
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
    }

    @Test("Nothing is released under a lock: a deinit may use the container from any thread (law 7)")
    func deinits() {
        let container = Container()
        let ended = Counter()
        let useful: @Sendable () -> Witness = { ReleaseDeinitTests.useful(container, ended) }
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
}

/// Law 7: children, handles and views made inside of loads.
struct ReleaseOfNestedLoadsTests {}

extension ReleaseOfNestedLoadsTests {
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
        "A child made in a load keeps its parent, however deep the load, and all go together (law 7)",
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

    @Test("An observer in a child made in a nested load hears its parent's changes (laws 7 and 10)")
    func hearsParent() {
        let container = Container()
        let child = makeChild(.current, depth: 3, in: container)
        let heard = Log<Int>()
        child.observe(Base.self) { heard.add($0) }
        container[Base.self] = 1
        expect(heard.all, equals: [1])
    }

    @Test(
        "A container goes though its features keep its handle, the handle's observable, or a nested load's (law 7)",
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

    @Test("A container let go in its own observer goes when that returns (laws 7 and 9)")
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

/// Law 7: nothing is released under a lock.
struct ReleaseDeinitTests {}

extension ReleaseDeinitTests {
    struct Slot: Property { static var defaultValue: Witness? { nil } }
    struct Failing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 0 }
    }
    struct Refusal: Error { let witness: Witness }

    /// Uses the container when it goes, from another thread.
    static func useful(_ container: Container, _ ended: Counter) -> Witness {
        Witness {
            SingleFlightThreadsTests.useElsewhere(container)
            ended.add()
        }
    }

    @Test(
        "Closers that go with their container, and an error that a load has caught, are not released under a lock (law 7)"
    )
    func closers() {
        // Closers that go with their container are not released under a lock.
        do {
            let root = Container()
            // Debug builds report closers that never ran.
            root.handleReports { _ in }
            let ended = Counter()
            do {
                let child = root.child()
                let witness = Self.useful(root, ended)
                child.onClose { withExtendedLifetime(witness) {} }
            }
            expect(ended.value, equals: 1)
        }
        // An error that a load has caught goes when the load ends, and not under a lock.
        do {
            let container = Container()
            let ended = Counter()
            container.replace(Failing.self) { _ in throw Refusal(witness: Self.useful(container, ended)) }
            let handles = Log<any FeatureContainer>()
            let forgiving = FeatureKey { handle in
                handles.add(handle)
                return (try? handle[Failing.self]) ?? 7
            }
            expect(container[forgiving], equals: 7)
            expect(ended.value, equals: 1)
        }
    }
}

/// Law 7: after a container was released.
struct ReleaseOfContainersTests {}

extension ReleaseOfContainersTests {
    struct Name: Property { static var defaultValue: String { "default" } }
    struct Greeting: Feature {
        static func load(in container: any FeatureContainer) -> String { "hello" }
    }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }
    struct Report: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 2 }
    }
    struct Fetched: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }
    /// Keeps its handle.
    struct Keeper: Feature {
        let container: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Keeper { Keeper(container: container) }
    }

    @Test(
        "Through a kept handle, a read gives the default, a change does nothing, and what can throw throws LoadError (law 7)"
    )
    func property() async {
        // A property read gives its default and is reported.
        do {
            let (keeper, reports) = {
                let container = Container()
                container[Name.self] = "set"
                return (container[Keeper.self], container.logReports())
            }()
            expect(keeper.container[Name.self], equals: "default")
            expect(reports.count, equals: 1)
            expect(reports.all.first?.contains("Name was read after its container was released"), equals: true)
        }
        // A change is reported and does nothing.
        do {
            let (keeper, reports) = {
                let container = Container()
                return (container[Keeper.self], container.logReports())
            }()
            keeper.container[Name.self] = "late"
            expect(reports.all.first?.contains("Name was changed after its container was released"), equals: true)
            expect(keeper.container[Name.self], equals: "default")
        }
        // Throwing and async features throw LoadError.
        do {
            let keeper = Container()[Keeper.self]
            let error = #expect(throws: LoadError.self) { try keeper.container[Parsed.self] }
            expect(error?.code, equals: .containerGone)
            expect(error?.path, equals: ["Parsed"])
            let text = error?.description ?? ""
            expect(text.hasPrefix("Fugu: Parsed was read after its container was released.\nPath: Parsed, in "))
            expect(text.contains(" at FuguTests/ReleaseTests.swift:"))
            let late = await #expect(throws: LoadError.self) { try await keeper.container[Fetched.self] }
            expect(late?.code, equals: .containerGone)
            expect(late?.path, equals: ["Fetched"])
        }
    }

    @Test("A plain feature stops with a message that names it, or the load that reads it, since it is released (law 7)")
    func loadedFeature() async {
        // A plain feature stops with a message that names it, though it was loaded before, since it is released.
        do {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                ThisProcess.mustStopSoon()
                let keeper = {
                    let container = Container()
                    _ = container[Greeting.self]
                    return container[Keeper.self]
                }()
                _ = keeper.container[Greeting.self]
            }
            expectMessage(
                of: result, "Greeting was read after its container was released", "Fix: keep the Container as long as")
        }
        // The error names the load that reads.
        do {
            let keeper = Container()[Keeper.self]
            let container = Container()
            container.replace(Report.self) { _ in try keeper.container[Parsed.self] }
            let error = #expect(throws: LoadError.self) { try container[Report.self] }
            expect(error?.path, equals: ["Report", "Parsed"])
            expect(
                error?.description.contains("released.\nPath: Report → Parsed, in loadedFeature() at FuguTests/"),
                equals: true
            )
        }
    }
}
