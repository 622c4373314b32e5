import Fugu
import Support
import Testing

private enum A: Property { static var defaultValue: Int { 1 } }
private enum B: Property { static var defaultValue: Int { 10 } }

extension FeatureContainer {
    fileprivate var a: Int { self[A.self] }
    fileprivate var sum: Sum { self[Sum.self] }
}
private struct Sum: Feature {
    let n: Int
    static func load(in c: any FeatureContainer) -> Sum { Sum(n: c[A.self] + c[B.self]) }
}
private struct Service: Feature {
    @Injected(\.a) var a
    @Injected(\.sum) var sum
    let atLoad: Int
    static func load(in c: any FeatureContainer) -> Service { Service(atLoad: Container.current[B.self]) }
}
/// Runs code that sets something for itself while it is loaded.
private struct Nested: Feature {
    let n: Int
    static func load(in c: any FeatureContainer) -> Nested {
        Nested(
            n: Container.with {
                $0[A.self] = 100
            } operation: {
                Container.current[Sum.self].n
            })
    }
}
private struct NestedAsync: AsyncFeature {
    let n: Int
    static func load(in c: any FeatureContainer) async throws -> NestedAsync {
        let n = await Container.with {
            $0[A.self] = 100
        } operation: { () async -> Int in
            await Task.yield()
            return Container.current[Sum.self].n
        }
        return NestedAsync(n: n)
    }
}
private struct Later: Feature {
    let task: Task<Int, Never>
    static func load(in c: any FeatureContainer) -> Later {
        let gate = c[Gates.self]
        return Later(
            task: Task {
                await gate.opened()
                return Container.current[A.self] + c[B.self]
            })
    }
}
private enum Gates: Property { static var defaultValue: Gate { Gate() } }
private struct Parsed: ThrowingFeature {
    static func load(in c: any FeatureContainer) throws -> Parsed { Parsed() }
}

@Suite("Corner cases of the current container") struct CurrentCornerTests {}

extension CurrentCornerTests {
    static let cases: [Case<CurrentCornerTests>] = [
        Case(
            "Reads of @Injected and Container.current during a load are its inputs; later reads see the home (law 15)",
            injected),
        Case("A load may run code in its own child; what is read beyond that child is its input (law 15)", withInLoad),
        Case("A task that a load began reads from the home after its end (law 15)", tasks),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<CurrentCornerTests>) async throws {
        try await stated.run(self)
    }

    func injected() {
        let c = Container()
        let child = c.child { $0[B.self] = 20 }
        let service = child[Service.self]
        expect(service.atLoad, equals: 20)
        expect(service.a, equals: 1)
        expect(c.ifLoaded(Service.self) == nil)
        expect(c[Service.self].atLoad, equals: 10)
        child[A.self] = 5
        expect(service.a, equals: 5)
        expect(service.sum.n, equals: 25)
        c[A.self] = 7
        expect(c[Service.self].a, equals: 7)
        expect(c[Service.self].sum.n, equals: 17)
    }

    func withInLoad() async throws {
        let c = Container()
        let reports = Log<String>()
        c.handleReports { reports.add($0) }
        expect(c[Nested.self].n, equals: 110)
        try await expect(c[NestedAsync.self].n, equals: 110)
        expect(c[A.self], equals: 1)
        let child = c.child { $0[B.self] = 20 }
        expect(child[Nested.self].n, equals: 120)
        expect(c[Nested.self].n, equals: 110)
        try await expect(child[NestedAsync.self].n, equals: 120)
        expect(reports.all, equals: [])
    }

    func tasks() async {
        let c = Container()
        let later = c[Later.self]
        c[A.self] = 3
        c[B.self] = 30
        c[Gates.self].open()
        await expect(later.task.value, equals: 33)
    }

    @Test("A copy of a closed container is open, and a closed one still calls its observers (laws 18, 28)")
    func closed() async throws {
        let c = Container()
        c[A.self] = 4
        try await c.close()
        let copy = Container(copying: c)
        expect(copy[Sum.self].n, equals: 14)
        let heard = Log<Int>()
        c.observe(A.self) { heard.add($0) }
        c[A.self] = 5
        expect(heard.all, equals: [5])
        var values: [Int] = []
        for await value in c.values(of: A.self) { values.append(value) }
        for await value in c.child().values(of: A.self) { values.append(value) }
        expect(values, equals: [5, 5])
        var parsed = 0
        for await _ in c.values(of: Parsed.self) { parsed += 1 }
        expect(parsed, equals: 0)
        let child = c.child()
        #expect(throws: LoadError.self) { try child[Parsed.self] }
        c.update { $0[B.self] = 1 }
        expect(c[B.self], equals: 1)
        c.modify(B.self) { $0 += 1 }
        expect(child[B.self], equals: 2)
        c.configureScopes { $0[B.self] = 9 }
        expect(c.scope("/x")[B.self], equals: 9)
    }
}
