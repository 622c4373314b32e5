import Fugu
import Support
import Testing

private enum N: Property { static var defaultValue: Int { 1 } }
private enum Gates: Property { static var defaultValue: Gate { Gate() } }
private enum Trace: Property { static var defaultValue: Log<String> { Log() } }
private struct Oops: Error, Equatable {}

private struct Base: AsyncFeature {
    static func load(in c: any FeatureContainer) async throws -> Base {
        let trace = c[Trace.self]
        trace.add("+base")
        c.onClose { trace.add("-base") }
        return Base()
    }
}
private struct Middle: ThrowingFeature {
    static func load(in c: any FeatureContainer) throws -> Middle {
        let trace = c[Trace.self]
        trace.add("+middle")
        c.onClose {
            trace.add("-middle")
            throw Oops()
        }
        return Middle()
    }
}
private struct Upper: AsyncFeature {
    static func load(in c: any FeatureContainer) async throws -> Upper {
        _ = try await c[Base.self]
        _ = try c[Middle.self]
        let trace = c[Trace.self]
        trace.add("+upper")
        c.onClose { trace.add("-upper") }
        return Upper()
    }
}
private struct Waiting: AsyncFeature {
    let n: Int
    static func load(in c: any FeatureContainer) async throws -> Waiting {
        c[Trace.self].add("begin")
        await c[Gates.self].opened()
        if Task.isCancelled { c[Trace.self].add("cancelled") }
        try Task.checkCancellation()
        return Waiting(n: c[N.self])
    }
}
private struct Failing: AsyncFeature {
    static func load(in c: any FeatureContainer) async throws -> Failing {
        let trace = c[Trace.self]
        c.onClose { trace.add("closed what failed") }
        throw Oops()
    }
}
private struct Ping: AsyncFeature {
    static func load(in c: any FeatureContainer) async throws -> Ping {
        async let other = c[Pong.self]
        _ = try await other
        return Ping()
    }
}
private struct Pong: AsyncFeature {
    static func load(in c: any FeatureContainer) async throws -> Pong {
        _ = try await withThrowingTaskGroup(of: Ping.self) { group in
            group.addTask { try await c[Ping.self] }
            return try await group.next()!
        }
        return Pong()
    }
}
private struct Plain: Feature {
    static func load(in c: any FeatureContainer) -> Plain { Plain() }
}
private struct PlainThrowing: ThrowingFeature {
    static func load(in c: any FeatureContainer) throws -> PlainThrowing { PlainThrowing() }
}
private final class Keeper: Feature, Sendable {
    let container: any FeatureContainer
    init(_ container: any FeatureContainer) { self.container = container }
    static func load(in c: any FeatureContainer) -> Keeper { Keeper(c) }
}
private struct ThroughChild: ThrowingFeature {
    static let family = Container()
    static func load(in c: any FeatureContainer) throws -> ThroughChild {
        try family.child { $0[N.self] = 2 }[ThroughChild.self]
    }
}

@Suite("Corner cases of lifetimes", .timeLimit(.minutes(5))) struct LifetimeCornerTests {}

extension LifetimeCornerTests {
    static let cases: [Case<LifetimeCornerTests>] = [
        Case("Closing a child leaves the parent as it is (law 28)", closingChild),
        Case("A load that fails runs its own closers at once, and its failure is not kept (laws 27, 28)", failing),
        Case("A cycle through async let and task groups is thrown with the way (law 6)", cycles),
        Case("A cycle through a child that overrides something is a cycle (law 6)", childCycle),
        Case("A storm of cancellations leaves one load for the remaining readers (law 27)", storm),
        Case("When the last waiter leaves, the load is cancelled, and the next one begins anew (law 27)", lastLeaves),
        Case("A set during a load stays, and all who waited get it (law 5)", setWins),
        Case("A reset during a load gives the result to the waiters and does not keep it (law 5)", resetDuringLoad),
        Case("values(of:) ends when the container closes or is released (law 12)", sequences),
        Case("A closer that is late is named (law 28)", deadline),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<LifetimeCornerTests>) async throws {
        try await stated.run(self)
    }

    @Test("close runs dependents first, every closer, and throws all failures together (law 28)")
    func closing() async throws {
        let c = Container()
        c.handleReports { _ in }
        let trace = c[Trace.self]
        c.onClose { trace.add("-own 1") }
        c.onClose {
            trace.add("-own 2")
            throw Oops()
        }
        _ = try await c[Upper.self]
        let child = c.child { $0[N.self] = 5 }
        child.onClose { trace.add("-child") }
        do {
            try await c.close()
            Issue.record("nothing was thrown")
        } catch let error as CloseError {
            expect(error.failures.map(\.feature), equals: ["Middle", nil])
            expect("\(error)".contains("Middle"))
        }
        expect(
            trace.all,
            equals: [
                "+base", "+middle", "+upper", "-child", "-upper", "-middle", "-base", "-own 2", "-own 1",
            ])
        expect(c[N.self], equals: 1)
        expect(child[N.self], equals: 5)
        #expect(throws: LoadError.self) { try c[Middle.self] }
        #expect(throws: LoadError.self) { try child[Middle.self] }
        await #expect(throws: LoadError.self) { try await child[Base.self] }
        c[Plain.self] = Plain()
        _ = c[Plain.self]
        c.set(Middle.self, to: Middle())
        _ = try c[Middle.self]
        c[N.self] = 7
        expect(c[N.self], equals: 7)
        expect(c.child()[N.self], equals: 7)
        try await c.close()
    }

    func closingChild() async throws {
        let c = Container()
        let trace = c[Trace.self]
        let child = c.child { $0[Gates.self] = Gate() }
        _ = try await child[Base.self]
        try await child.close()
        expect(trace.all, equals: ["+base"])
        expect(c.ifLoaded(Base.self) != nil)
        _ = try await child[Base.self]
        try await c.close()
        expect(trace.all, equals: ["+base", "-base"])
    }

    func failing() async throws {
        let c = Container()
        let trace = c[Trace.self]
        await #expect(throws: Oops.self) { try await c[Failing.self] }
        await #expect(throws: Oops.self) { try await c[Failing.self] }
        c.set(Failing.self, to: Failing())
        _ = try await c[Failing.self]
        try await c.close()
        expect(trace.all, equals: ["closed what failed", "closed what failed"])
    }

    func cycles() async {
        for _ in 0..<50 {
            let c = Container()
            async let one = Result(catching: { try await c[Ping.self] })
            async let two = Result(catching: { try await c.child()[Pong.self] })
            for result in [await one.mapError { $0 }.map { _ in 0 }, await two.map { _ in 0 }] {
                guard case .failure(let error as LoadError) = result else {
                    Issue.record("\(result)")
                    continue
                }
                expect(error.path.contains("Ping"))
                expect(error.path.contains("Pong"))
            }
        }
    }

    func childCycle() {
        do {
            _ = try ThroughChild.family[ThroughChild.self]
            Issue.record("nothing was thrown")
        } catch {
            expect((error as? LoadError)?.path, equals: ["ThroughChild", "ThroughChild"])
        }
    }

    func storm() async throws {
        let c = Container()
        let gate = c[Gates.self]
        let staying = Task { try await c[Waiting.self].n }
        let leaving = (0..<200).map { _ in Task { try await c[Waiting.self].n } }
        while c[Trace.self].count == 0 { await Task.yield() }
        leaving.forEach { $0.cancel() }
        for task in leaving {
            let result = await task.result
            guard case .failure(let error) = result else { continue }
            expect(error is CancellationError)
        }
        gate.open()
        try await expect(staying.value, equals: 1)
        expect(c[Trace.self].all, equals: ["begin"])
    }

    func lastLeaves() async throws {
        let c = Container()
        let gate = c[Gates.self]
        let task = Task { try await c[Waiting.self].n }
        while c[Trace.self].count == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let next = Task { try await c[Waiting.self].n }
        while c[Trace.self].count < 2 { await Task.yield() }
        gate.open()
        try await expect(next.value, equals: 1)
        expect(c[Trace.self].all.filter { $0 == "begin" }.count, equals: 2)
    }

    func setWins() async throws {
        let c = Container()
        let tasks = (0..<8).map { _ in Task { try await c[Waiting.self].n } }
        while c[Trace.self].count == 0 { await Task.yield() }
        c.set(Waiting.self, to: Waiting(n: 77))
        c[Gates.self].open()
        for task in tasks { try await expect(task.value, equals: 77) }
        try await expect(c[Waiting.self].n, equals: 77)
    }

    func resetDuringLoad() async throws {
        let c = Container()
        let task = Task { try await c[Waiting.self].n }
        while c[Trace.self].count == 0 { await Task.yield() }
        c.reset(Waiting.self)
        c[Gates.self].open()
        try await expect(task.value, equals: 1)
        expect(c.ifLoaded(Waiting.self) == nil)
        c[N.self] = 3
        try await expect(c[Waiting.self].n, equals: 3)
    }

    @Test("A handle of a container that is gone throws, reports and gives defaults (law 8)")
    func gone() async throws {
        let reports = Log<String>()
        var c: Container? = Container()
        c!.handleReports { reports.add($0) }
        c![N.self] = 5
        let handle = c![Keeper.self].container
        expect(handle[N.self], equals: 5)
        c = nil
        expect(handle[N.self], equals: 1)
        expect(reports.count, equals: 1)
        #expect(throws: LoadError.self) { try handle[PlainThrowing.self] }
        await #expect(throws: LoadError.self) { try await handle[Base.self] }
        handle[N.self] = 6
        expect(handle[N.self], equals: 1)
        handle.onClose {}
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var c: Container? = Container()
            let handle = c![Keeper.self].container
            c = nil
            _ = handle[Plain.self]
        }
        expectMessage(of: result, "Plain was read after its container was released")
    }

    func sequences() async throws {
        let c = Container()
        let values = c.values(of: N.self)
        let failing = c.values(of: Failing.self)
        let task = Task {
            var all: [Int] = []
            for await value in values { all.append(value) }
            return all
        }
        let other = Task { for await _ in failing { Issue.record("a failure was yielded") } }
        try await c.close()
        await expect(task.value.last, equals: 1)
        await other.value
        var gone: Container? = Container()
        let rest = gone!.values(of: N.self)
        gone = nil
        for await value in rest { expect(value, equals: 1) }
    }

    func deadline() async throws {
        let c = Container()
        let gate = Gate()
        c.onClose { await gate.opened() }
        do {
            try await c.close(deadline: .milliseconds(20))
            Issue.record("nothing was thrown")
        } catch let error as CloseError {
            expect(error.failures.count, equals: 1)
            expect("\(error)".contains("the container itself"))
            expect("\(error)".contains("0.02"))
        }
        gate.open()
    }

    @Test("A warm-up throws every failure with its path (law 27)")
    func warmUp() async throws {
        struct OverFailing: AsyncFeature {
            static func load(in c: any FeatureContainer) async throws -> OverFailing {
                _ = try await c[Failing.self]
                return OverFailing()
            }
        }
        let c = Container()
        do {
            try await c.warmUp {
                $0.load(OverFailing.self)
                $0.load(Base.self)
                $0.load(Failing.self)
                $0.load(Plain.self)
            }
            Issue.record("nothing was thrown")
        } catch let error as WarmUpError {
            expect(error.failures.map(\.path), equals: [["OverFailing", "Failing"], ["Failing"]])
        }
        expect(c.ifLoaded(Base.self) != nil)
        expect(c.ifLoaded(Plain.self) != nil)
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
