import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

// Law 3: no lock that others can meet is held while user code runs; the deinit of anything released is user code.
// Law 7: values are released at once.
@Suite("Law 3: whatever is released may use the container", .timeLimit(.minutes(5))) struct ReleaseReentryTests {}

extension ReleaseReentryTests {
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
        case observer, loader, valueInAnUpdate, valueUndone, childsValue, closerOfADroppedContainer

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
                    where: { [held = witness()] _ in withExtendedLifetime(held) { true } }
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
        "A value can use the container in its deinit, on its own thread and on another (laws 3 and 7)",
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
                            SingleFlightThreadsTests.useElsewhere(container)
                        }
                        ended.add()
                    }
                }, from: container)
        }
        expect(ended.value, equals: 1)
    }

    @Test(
        "A rule's value may read through the handle in its deinit, and a handler of reports install another one (laws 3 and 14)"
    )
    func rulesHandle() async throws {
        // A value that a rule sets over may read through the rule's handle in its deinit.
        do {
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
        // A handler of reports that goes may install another one.
        do {
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
    }
}

// The deinit of anything released is user code, so it runs under no lock (law 3) and at once (law 7).
@Suite("Law 3: what leaves a list of the engine may change the family", .timeLimit(.minutes(5)))
struct ReleaseFromListsTests {}

extension ReleaseFromListsTests {
    struct Open: Property { static var defaultValue: Int { 0 } }
    struct Turn: Property { static var defaultValue: Int { 0 } }
    struct Failure: Error { let held: Witness? }

    /// A list of the engine, and what lets go of several objects in it.
    enum List: CaseIterable {
        case events, eventsOfTransactions, observers, waiters, loads, failures, effects, writes,
            undoneWrites
        case layers, rules, closers, closersOfLoads, snapshots, childrenByKey

        private static let calls = Counter()

        /// Puts `count` objects into the list and takes all out again.
        func release(
            _ count: Int, from container: Container, _ make: @escaping @Sendable () -> Witness
        ) async throws {
            // Each call has keys of its own, whose closures stay.
            let name = Self.calls.add()
            let slot = PropertyKey<Witness?>(defaultValue: nil, id: "slot\(name)")
            let turn = PropertyKey<Int>(defaultValue: 0, id: "turn\(name)")
            @Sendable func feature(_ number: Int) -> FeatureKey<Witness> {
                FeatureKey(id: "feature\(name).\(number)") { _ in make() }
            }
            let numbers = 0..<count
            switch self {
            case .events:
                let tokens = [
                    container.observe({ _ in slot }) { _ in },
                    container.observe({ _ in turn }) { [weak container] _ in
                        for _ in numbers { container?[slot] = make() }
                    },
                ]
                container[turn] += 1
                container[slot] = nil
                for token in tokens { token.cancel() }
            case .eventsOfTransactions:
                let key = feature(0)
                let token = container.observe({ _ in key }) { _ in }
                container.update { changes in
                    for _ in numbers {
                        container.reset { _ in key }
                        _ = container[key]
                    }
                    changes.replace({ _ in key }) { _ in make() }
                }
                token.cancel()
                container.reset { _ in key }
            case .observers:
                let tokens = numbers.map { _ in
                    container.observe({ _ in turn }) { [held = make()] _ in withExtendedLifetime(held) {} }
                }
                container[turn] += 1
                for token in tokens { token.cancel() }
            case .waiters:
                let key = feature(0)
                let (begun, mayEnd) = (Gate(), Gate())
                container.replace({ _ in key }) { _ in
                    begun.open()
                    mayEnd.wait()
                    return make()
                }
                let first = startThread { _ = container[key] }
                await begun.opened()
                // The instance isn't kept, so only the waiters have it.
                let others = numbers.map { _ in startThread { _ = container[key] } }
                container.reset { _ in key }
                mayEnd.open()
                for thread in [first] + others { await thread.opened() }
                container.reset { _ in key }
            case .loads:
                // What was reset during its load is kept nowhere.
                for number in numbers {
                    let key = feature(number)
                    container.replace({ _ in key }) { _ in
                        container.reset { _ in key }
                        return make()
                    }
                    _ = container[key]
                    container.reset { _ in key }
                }
            case .failures:
                let key = FeatureKey<Int>(id: "forgiving\(name)") { handle in
                    for _ in numbers { _ = try? handle[Failing.self] }
                    return 1
                }
                let child = container.child()
                child.replace(Failing.self) { _ in throw Failure(held: make()) }
                _ = child[key]
            case .effects:
                for number in numbers { _ = container[feature(number)] }
                container.update { changes in for number in numbers { changes.reset({ _ in feature(number) }) } }
            case .writes:
                container.update { changes in
                    for _ in numbers { changes[slot] = make() }
                    changes[slot] = nil
                }
                container.reset { _ in slot }
            case .undoneWrites:
                try? container.update { _ throws(Failure) in
                    try? container.update { changes throws(Failure) in
                        for _ in numbers { changes[slot] = make() }
                        throw Failure(held: nil)
                    }
                    throw Failure(held: nil)
                }
            case .layers:
                let key = FeatureKey<Int>(id: "layered\(name)") { _ in 1 }
                for _ in numbers.prefix(48) {
                    container.decorate({ _ in key }) { [held = make()] value, _ in withExtendedLifetime(held) { value }
                    }
                }
                _ = container[key]
                container.reset { _ in key }
            case .rules:
                let child = container.child()
                for _ in numbers { child.configureScopes { $0[slot] = make() } }
                let scope = child.scope("/a")
                _ = scope[slot]
                child.invalidateScopes()
            case .closers:
                let child = container.child()
                for _ in numbers { child.onClose { [held = make()] in withExtendedLifetime(held) {} } }
                try await child.close()
            case .closersOfLoads:
                let child = container.child()
                let key = FeatureKey<Int>(home: .local, id: "closing\(name)") { handle in
                    for _ in numbers { handle.onClose { [held = make()] in withExtendedLifetime(held) {} } }
                    return 1
                }
                for _ in 0..<3 {
                    _ = child[key]
                    child.reset { _ in key }
                }
                try await child.close()
            case .snapshots:
                let child = container.child()
                let reader = FeatureKey<Int>(id: "reader\(name)") { handle in
                    for number in numbers { withExtendedLifetime(handle[feature(number)]) {} }
                    return 1
                }
                _ = child[reader]
                for number in numbers { container.reset({ _ in feature(number) }) }
            case .childrenByKey:
                let children = container.children(by: Turn.self, capacity: 1)
                for number in numbers {
                    await children.withChild(for: number) { child in
                        child[slot] = make()
                        _ = child[feature(number)]
                    }
                }
                await children.evictAll()
                for number in numbers { container.reset({ _ in feature(number) }) }
            }
        }
    }

    struct Failing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 0 }
    }

    @Test(
        "Objects that leave a list may change the family in their deinit, and leave at once (laws 3 and 7)",
        arguments: List.allCases, [(1, 1), (3, 1), (100, 1), (1, 4), (3, 4), (100, 4)])
    func release(_ list: List, _ size: (count: Int, threads: Int)) async throws {
        let container = Container()
        container.handleReports { _ in }
        let (made, ended) = (Counter(), Counter())
        @Sendable func make() -> Witness {
            made.add()
            return Witness { [weak container] in
                if let container {
                    container.modify(Open.self) { $0 += 1 }
                    container.observe(Open.self) { _ in }.cancel()
                }
                ended.add()
            }
        }
        // Each on a thread of its own, which may hang.
        let ends = (0..<size.threads).map { _ in
            startThread {
                let done = Gate()
                Task {
                    try await list.release(size.count, from: container, make)
                    done.open()
                }
                done.wait()
            }
        }
        for end in ends { try await end.openedUnlessCancelled() }
        await ended.reaches(made.value)
        // However many wait, they wait for one object.
        expect(made.value >= (list == .waiters ? 1 : min(size.count, 48)) * size.threads)
        expect(ended.value, equals: made.value)
        expect(container[Open.self], equals: made.value)
    }

    @Test(
        "What observers have received goes at once, and not with a later event (law 7)", arguments: [1, 3, 100, 1_000])
    func delivered(count: Int) {
        let container = Container()
        let slot = PropertyKey<Witness?>(defaultValue: nil, id: "slot")
        let (ended, left) = (Counter(), Log<Int>())
        container.observe({ _ in slot }) { value in if value != nil { left.add(ended.value) } }
        container.observe(Turn.self) { [weak container] _ in
            for _ in 0..<count { container?[slot] = Witness { ended.add() } }
            container?[slot] = nil
        }
        container[Turn.self] = 1
        // When the observer receives a value, all that it received before are gone.
        expect(left.all, equals: Array(0..<count))
        expect(ended.value, equals: count)
    }
}
