import Foundation
import Support
import Testing

@testable import Fugu

/// Law 3: once for the family.
struct FamilyLoadTests {}

extension FamilyLoadTests {
    struct Request: Property { static var defaultValue: Int { 0 } }
    struct Flag: Property { static var defaultValue: Bool { false } }

    @Test("1,000 children that ask at once share one load of a root feature (law 3)")
    func oneThousandChildren() {
        let arrived = Latch(1000)
        let loads = Counter()
        let pool = FeatureKey { _ in
            loads.add()
            arrived.wait()
            return Token()
        }
        let root = Container()
        let children = (0..<1000).map { number in root.child { $0[Request.self] = number } }
        let given = Log<Token>()
        onManyThreads(1000) { index in
            arrived.countDown()
            given.add(children[index][pool])
        }
        expect(loads.value, equals: 1)
        expect(given.all.count, equals: 1000)
        expect(Set(given.all.map(ObjectIdentifier.init)).count, equals: 1)
        expect(root[pool], is: given.all[0])
    }

    @Test("Children whose first load turns out to be their own get one each, however they wait (laws 3, 10)")
    func unknownHome() {
        let arrived = Latch(20)
        let handler = FeatureKey { container in
            arrived.wait()
            return Token(container[Request.self])
        }
        let root = Container()
        let children = (0..<20).map { number in root.child { $0[Request.self] = number } }
        onThreads(20) { index in
            arrived.countDown()
            expect(children[index][handler].number, equals: index)
            expect(children[index][handler], is: children[index][handler])
        }
    }

    @Test("Once its inputs are known, loads with different homes run in parallel (law 3)")
    func parallelHomes() {
        let meeting = Locked<Latch?>(nil)
        let handler = FeatureKey { container in
            let number = container[Request.self]
            meeting.withLock { $0 }?.meet()
            return Token(number)
        }
        let root = Container()
        _ = root.child { $0[Request.self] = 100 }[handler]
        // Nobody gets on before all four are in their loads.
        meeting.withLock { $0 = Latch(4) }
        onThreads(4) { index in
            let child = root.child { $0[Request.self] = index }
            expect(child[handler].number, equals: index)
        }
    }

    @Test("Readers of one home share its load, whoever of the family asks at the same moment (law 3)")
    func oneLoadForEachHome() {
        for _ in 0..<20 {
            let loads = Counter()
            let handler = FeatureKey(id: UniqueID()) { container in
                loads.add()
                return Thing(container[Request.self], container)
            }
            Drawing(
                """
                root                  → root: 0
                  first    request=1  → first: 1
                    one               → first: 1
                    two               → first: 1
                  second   request=2  → second: 2
                    three             → second: 2
                    four              → second: 2
                  third               → root: 0
                """, ["request": .property(Request.self)], order: .together
            ) { $0[handler] }
            expect(loads.value, equals: 3)
        }
    }

    @Test("A wait that would close a circle, though no container has a cycle, is avoided by loading on (laws 3, 5)")
    func circleOfWaitsWithoutCycle() {
        let loading = Latch(2)
        let keys = Locked<(FeatureKey<Token>, FeatureKey<Token>)?>(nil)
        let isFirst = Locked((true, true))
        // In a container with the flag the first needs the second, without it the second needs the first.
        let first = FeatureKey { container in
            let flag = container[Flag.self]
            let meets = isFirst.withLock { first in
                defer { first.0 = false }; return first.0
            }
            if meets { loading.meet() }
            return Token(flag ? container[keys.withLock { $0!.1 }].number + 1 : 1)
        }
        let second = FeatureKey { container in
            let flag = container[Flag.self]
            let meets = isFirst.withLock { first in
                defer { first.1 = false }; return first.1
            }
            if meets { loading.meet() }
            return Token(flag ? 10 : container[keys.withLock { $0!.0 }].number + 10)
        }
        keys.withLock { $0 = (first, second) }
        let root = Container()
        let with = root.child { $0[Flag.self] = true }
        let without = root.child { $0[Flag.self] = false }
        onThreads(2) { index in
            if index == 0 {
                expect(with[first].number, equals: 11)
            } else {
                expect(without[second].number, equals: 11)
            }
        }
        expect(with[second].number, equals: 10)
        expect(without[first].number, equals: 1)
    }

    @Test(
        "Where loads overlap because a value changed meanwhile, one instance is kept and the others are closed (law 3)"
    )
    func overlappingLoads() async throws {
        let gate = Gate()
        let began = Gate()
        let waits = Locked(false)
        let (closed, closing) = AsyncStream.makeStream(of: Int.self)
        let feature = FeatureKey { container in
            let flag = container[Flag.self]
            if flag, waits.withLock({ $0 }) {
                began.open()
                gate.wait()
            }
            let number = flag ? container[Request.self] : -1
            container.onClose { closing.yield(number) }
            return Token(number)
        }
        let root = Container().unreported
        root[Flag.self] = true
        // Lets the family know that it lives where the request is set.
        expect(root.child { $0[Request.self] = 1 }[feature].number, equals: 1)
        var closings = closed.makeAsyncIterator()
        waits.withLock { $0 = true }
        let child = root.child { $0[Request.self] = 2 }
        let given = Log<Token>()
        let worker = startThread { given.add(child[feature]) }
        began.wait()
        root[Flag.self] = false
        let shared = root[feature]
        expect(child[feature], is: shared)
        gate.open()
        worker.wait()
        expect(given.all[0], is: shared)
        expect(child[feature], is: shared)
        await expect(closings.next(isolation: nil), equals: 2)
        try await root.close()
    }

    // MARK: Cycles

    struct Session: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Session { Session() }
    }

    @Test("A cycle through a captured child is found on the load's own thread (laws 3, 5)")
    func cycleThroughCapturedChild() {
        let root = Container()
        root.node.family.reports.handle { _ in }
        let child = root.child()
        let inner = child.child { $0[Request.self] = 4 }
        child.replace(Session.self) { _ in try inner[Session.self] }
        let error = #expect(throws: LoadError.self) { try inner[Session.self] }
        expect(error?.path, equals: ["Session", "Session"])
    }
}

/// Law 3: who waits for whose load.
struct FamilyWaitingTests {}

extension FamilyWaitingTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Own: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Token { Token() }
    }

    @Test("Instances made from something local load in parallel in each container (laws 3, 11)")
    func localInputs() {
        struct Loads: Property { static var defaultValue: Counter { Counter() } }
        struct FromOwn: Feature {
            static func load(in container: any FeatureContainer) -> Int {
                let loads = container[Loads.self]
                _ = container[Own.self]
                // The first lets the family know that each container has its own.
                guard loads.add() > 1 else { return 1 }
                let handle = container as! Container
                let root = handle.ancestor(handle.node.ancestor(at: 0))
                awaitState { loads.value == 3 || root.waiterCount(for: Key(raw: Key.feature(FromOwn.self))) > 0 }
                return loads.value
            }
        }
        let root = Container()
        _ = root.child()[FromOwn.self]
        let counts = Log<Int>()
        onThreads(2) { _ in counts.add(root.child()[FromOwn.self]) }
        expect(counts.all, equals: [3, 3])
    }

    @Test("A reader that waited four times for instances of old values loads beside the others (laws 3, 12)")
    func outdatedAgainAndAgain() {
        let gates = (0..<6).map { _ in Gate() }
        let loads = Counter()
        let key = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            let number = container[Number.self]
            gates[loads.add() - 1].wait()
            return number
        }
        let root = Container()
        var threads = [startThread { _ = root[key] }]
        awaitState { loads.value == 1 }
        let patient = startThread { _ = root[key] }
        root.awaitWaiters(1, for: key)
        for round in 1...4 {
            root[Number.self] = round
            // The load in progress is outdated now, so that a new reader doesn't join it.
            threads.append(startThread { _ = root[key] })
            awaitState { loads.value == round + 1 }
            gates[round - 1].open()
            threads[round - 1].wait()
            if round < 4 { root.awaitWaiters(1, for: key) }
        }
        awaitState { loads.value == 6 || root.waiterCount(for: Key(raw: key.raw)) > 0 }
        expect(loads.value, equals: 6)
        gates.forEach { $0.open() }
        (threads + [patient]).forEach { $0.wait() }
    }
}

/// Lets threads through once as many have come as it was made for.
private final class Latch: Sendable {
    private let gate = Gate()
    private let arrivals = Counter()
    private let count: Int

    init(_ count: Int) { self.count = count }

    func countDown() { if arrivals.add() == count { gate.open() } }
    func wait() { gate.wait() }

    /// Comes, and waits for the others.
    func meet() {
        countDown()
        wait()
    }
}

/// Runs `body` on so many threads at once that their stacks have to be small, and waits for the end of all.
private func onManyThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let ends = Latch(count)
    for number in 0..<count {
        let thread = Thread {
            body(number)
            ends.countDown()
        }
        thread.stackSize = 256 << 10
        thread.start()
    }
    ends.wait()
}
