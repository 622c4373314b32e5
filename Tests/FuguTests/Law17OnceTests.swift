@testable import Fugu
import Support
import Testing

@Suite("Law 17: once for the family") struct Law17OnceTests {
    static let cases: [Case<Law17OnceTests>] = [
        Case("1,000 children that ask at once share one load of a root feature (law 17)", oneThousandChildren),
        Case("1,000 tasks of 1,000 children share one load of an async root feature (law 17)", oneThousandTasks),
        Case(
            "Children whose first load turns out to be their own get one each, however they wait (laws 16, 17)",
            unknownHome),
        Case("Once its inputs are known, loads with different homes run in parallel (law 17)", parallelHomes),
        Case("A cycle through a child is found, whatever the child overrides (laws 6, 17)", cycleThroughChild),
        Case(
            "A cycle through a captured child is found on the load's own thread (laws 6, 17)", cycleThroughCapturedChild
        ),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law17OnceTests>) async throws { try await stated.run(self) }

    struct Request: Property { static var defaultValue: Int { 0 } }
    struct Flag: Property { static var defaultValue: Bool { false } }

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

    func oneThousandTasks() async throws {
        let root = Container()
        let children = (0..<1000).map { number in root.child { $0[Request.self] = number } }
        let identities = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for child in children { group.addTask { ObjectIdentifier(try await child[AsyncPool.self].token) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        expect(identities.count, equals: 1)
        expect(asyncPoolLoads.value, equals: 1)
    }

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

    @Test("Readers of one home share its load, whoever of the family asks at the same moment (law 17)")
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

    @Test("A wait that would close a circle, though no container has a cycle, is avoided by loading on (laws 6, 17)")
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
        "Where loads overlap because a value changed meanwhile, one instance is kept and the others are closed (law 17)"
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
        let root = Container()
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
        static func load(in container: any FeatureContainer) throws -> Session {
            _ = try container[Account.self]
            return Session()
        }
    }
    struct Account: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Account {
            _ = try Container.current.child { $0[Request.self] = 1 }[Session.self]
            return Account()
        }
    }

    func cycleThroughChild() throws {
        let error = #expect(throws: LoadError.self) { try Container().child()[Session.self] }
        expect(error?.path, equals: ["Session", "Account", "Session"])
        expect(error?.description.contains("Session → Account → Session"), equals: true)
    }

    func cycleThroughCapturedChild() {
        let root = Container()
        root.node.family.reports.handle { _ in }
        let child = root.child()
        let inner = child.child { $0[Request.self] = 4 }
        child.replace(Session.self) { _ in try inner[Session.self] }
        let error = #expect(throws: LoadError.self) { try inner[Session.self] }
        expect(error?.path, equals: ["Session", "Session"])
    }

    @Test("A plain feature in a cycle through a child stops the program with the path (laws 6, 17)")
    func plainCycleStops() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct Outer: Feature {
                static func load(in container: any FeatureContainer) -> Outer {
                    _ = Container.current.child().child { $0[Request.self] = 1 }[Outer.self]
                    return Outer()
                }
            }
            _ = Container().child()[Outer.self]
        }
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        expect(message.contains("Outer → Outer"))
    }

    @Test("Two threads that each wait for what the other loads, in different children, learn of the cycle (laws 6, 17)")
    func cycleBetweenThreads() {
        struct Left: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Left {
                if container[Meeting.self].takesPart() { container[Meeting.self].latch.meet() }
                _ = try container[Right.self]
                return Left()
            }
        }
        struct Right: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Right {
                if container[Meeting.self].takesPart() { container[Meeting.self].latch.meet() }
                _ = try container[Left.self]
                return Right()
            }
        }
        let root = Container()
        root[Meeting.self] = Meeting.Point()
        let errors = Log<LoadError>()
        onThreads(2) { index in
            let child = root.child()
            do {
                if index == 0 { _ = try child[Left.self] } else { _ = try child[Right.self] }
            } catch {
                if let error = error as? LoadError { errors.add(error) }
            }
        }
        expect(errors.all.count, equals: 2)
        expect(errors.all.allSatisfy { $0.path.count >= 3 && $0.path.first == $0.path.last })
    }
}

/// Where the first two loads meet.
private struct Meeting: Property {
    final class Point: Sendable {
        let latch = Latch(2)
        private let count = Counter()
        func takesPart() -> Bool { count.add() <= 2 }
    }
    static var defaultValue: Point { Point() }
}

private let asyncPoolLoads = Counter()

private struct AsyncPool: AsyncFeature {
    let token = Token()
    static func load(in container: any FeatureContainer) async throws -> AsyncPool {
        asyncPoolLoads.add()
        for _ in 0..<100 { await Task.yield() }
        return AsyncPool()
    }
}
