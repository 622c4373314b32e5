import Fugu
import FuguInspection
import Support
import Testing

// Law 4: no lock that others can meet is held while user code runs; the deinit of anything released is user code.
// Law 8: values are released at once.
@Suite("Law 4: whatever is released may use the container", .timeLimit(.minutes(1))) struct Law04ReleaseTests {
    static let cases: [Case<Law04ReleaseTests>] = [
        Case(
            "A value that a rule sets over may read through the rule's handle in its deinit (laws 4 and 21)",
            rulesHandle),
        Case("A handler of reports that goes may install another one (law 4)", handlerInDeinit),
        Case(
            "Children go away while their parent's value is changed and delivered on other threads (laws 4 and 8)",
            childrenGo),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law04ReleaseTests>) async throws { try await stated.run(self) }

    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Slot: Property { static var defaultValue: Witness? { nil } }
    struct Local: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Int { 1 }
    }
    struct Keeps: Feature {
        let handle: Container
        static func load(in container: any FeatureContainer) -> Keeps { Keeps(handle: .current) }
    }

    /// Something that the container holds, and what releases it.
    enum Held: CaseIterable {
        case valueOfARule, valueSetOverInARule, valueOfAnEarlierRun, rule, predicate, reportHandler, eventHandler
        case observer, ownedObserver, loader, valueInAnUpdate, valueUndone, childsValue, closerOfADroppedContainer

        /// Releases `witness`, which the container or its family held.
        func release(_ witness: @escaping @Sendable () -> Witness, from container: Container) {
            switch self {
            case .valueOfARule:
                container.configureScopes("/a") { $0[Slot.self] = witness() }
                _ = container.scope("/a")[Slot.self]
            case .valueSetOverInARule:
                container.configureScopes("/b") {
                    $0[Slot.self] = witness()
                    $0[Slot.self] = nil
                }
                _ = container.scope("/b")[Slot.self]
            case .valueOfAnEarlierRun:
                let once = Counter()
                container.configureScopes("/c") { if once.add() == 1 { $0[Slot.self] = witness() } }
                let scope = container.scope("/c")
                _ = scope[Slot.self]
                container.invalidateScopes()
                _ = scope[Slot.self]
            case .rule:
                let child = Container()
                child.configureScopes { [held = witness()] _ in withExtendedLifetime(held) {} }
            case .predicate:
                let child = Container()
                child.configureScopes(
                    where: { [held = witness()] _ in withExtendedLifetime(held) { true } }, description: ""
                ) {
                    _ in
                }
            case .reportHandler:
                container.handleReports { [held = witness()] _ in withExtendedLifetime(held) {} }
                container.handleReports { _ in }
            case .eventHandler:
                container.observeEvents { [held = witness()] _ in withExtendedLifetime(held) {} }.cancel()
            case .observer:
                container.observe(Number.self) { [held = witness()] _ in withExtendedLifetime(held) {} }.cancel()
            case .ownedObserver:
                container.observe(Number.self, while: Witness()) { [held = witness()] _ in
                    withExtendedLifetime(held) {}
                }
                container[Number.self] += 1
            case .loader:
                container.replace(Local.self) { [held = witness()] _ in withExtendedLifetime(held) { 2 } }
                container.reset(Local.self)
            case .valueInAnUpdate:
                container.update { changes in
                    changes[Slot.self] = witness()
                    changes[Slot.self] = nil
                }
            case .valueUndone:
                struct Failure: Error {}
                try? container.update { changes throws(Failure) in
                    changes[Slot.self] = witness()
                    throw Failure()
                }
            case .childsValue:
                _ = container.child { $0[Slot.self] = witness() }
            case .closerOfADroppedContainer:
                let child = container.child()
                child.onClose { [held = witness()] in withExtendedLifetime(held) {} }
            }
        }
    }

    @Test(
        "A value can use the container in its deinit, on its own thread and on another (laws 4 and 8)",
        arguments: Held.allCases)
    func uses(_ held: Held) async throws {
        let ended = Counter()
        try await finishing {
            let container = Container()
            container.handleReports { _ in }
            held.release(
                {
                    Witness { [weak container] in
                        if let container {
                            container.handleReports { _ in }
                            container.observe(Number.self) { _ in }.cancel()
                            Law04SingleFlightTests.useElsewhere(container)
                        }
                        ended.add()
                    }
                }, from: container)
        }
        expect(ended.value, equals: 1)
    }

    func rulesHandle() async throws {
        let seen = Log<Int>()
        try await finishing {
            let container = Container()
            container.configureScopes { handle in
                handle[Number.self] = 3
                handle[Slot.self] = Witness { seen.add(handle[Number.self]) }
                handle[Slot.self] = nil
            }
            _ = container.scope("/a")[Number.self]
        }
        expect(seen.all, equals: [3])
    }

    func handlerInDeinit() async throws {
        let reports = Log<String>()
        try await finishing {
            let container = Container()
            container.handleReports { [held = Witness { container.handleReports { reports.add($0) } }] _ in
                withExtendedLifetime(held) {}
            }
            container.handleReports(by: nil)
            container.handleReports(by: nil)
        }
    }

    @Test("An instance that kept its handle observes and reads while the last reference to its container goes (4, 8)")
    func lastReference() async throws {
        try await finishing {
            let end = ContinuousClock.now + .milliseconds(rounds(400, few: 150))
            var round = 0
            while ContinuousClock.now < end {
                round += 1
                var container: Container? = Container()
                container!.observe(Number.self) { _ in }
                let child = round % 2 == 0 ? container!.child() : nil
                child?.observe(Number.self) { _ in }
                let handle = (child ?? container!)[Keeps.self].handle
                let reference = Log<Container>()
                reference.add(container!)
                container = nil
                let (started, gone) = (Counter(), Counter())
                let dropping = startThread { [round] in
                    started.add()
                    for _ in 0..<(round * 7) % 300 { _ = started.value }
                    reference.removeAll()
                    gone.add()
                }
                while started.value == 0 {}
                while gone.value == 0 {
                    handle.observe(Number.self) { _ in }
                    _ = handle.ifLoaded(Number.self)
                }
                dropping.wait()
            }
        }
    }

    func childrenGo() async throws {
        try await finishing {
            let root = Container()
            let heard = Counter()
            let end = ContinuousClock.now + .milliseconds(rounds(300, few: 100))
            onThreads(3) { number in
                while ContinuousClock.now < end {
                    guard number > 0 else {
                        root[Number.self] &+= 1
                        continue
                    }
                    let child = root.child()
                    child.observe(Number.self) { [weak child] _ in
                        heard.add()
                        _ = child?[Number.self]
                    }
                    _ = child[Number.self]
                }
            }
        }
    }
}
