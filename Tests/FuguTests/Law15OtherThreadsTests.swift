import Fugu
import FuguInspection
import Support
import Testing

// Law 15: what load(in:) reads is recorded, and nothing else. @Injected asks `Container.current` if the wrapper was made
// where nothing was bound, or if that is the container it was made in or a descendant; else the one it was made in.
@Suite("Law 15: whose reads are recorded", .timeLimit(.minutes(1))) struct Law15OtherThreadsTests {
    static let cases: [Case<Law15OtherThreadsTests>] = [
        Case(
            "Later reads by a scope that a load took aren't inputs either, and its rules apply (laws 15 and 21)",
            scopeAfterTheLoad),
        Case(
            "A wrapper made where Container.shared is bound asks that one, or a descendant that is current (law 15)",
            injectedWhereSharedIsBound),
        Case("Made where nothing is bound, it asks whoever is current (law 15)", injectedWhereNothingIsBound),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law15OtherThreadsTests>) async throws {
        try await stated.run(self)
    }

    struct Number: Property { static var defaultValue: Int { 0 } }

    @Test("Other threads' reads through a scope that a load was the first to take aren't inputs of the load (law 15)")
    func scopeInALoad() async throws {
        for rules in [false, true] {
            let (taken, goesOn) = (Gate(), Gate())
            let root = Container()
            root[Number.self] = 1
            if rules { root.configureScopes { _ in } }
            let key = FeatureKey(reloadsWhenInputsChange: true, id: "takes a scope, \(rules)") { _ in
                let scope = Container.current.scope("/a")
                taken.open()
                goesOn.wait()
                return scope
            }
            try await finishing {
                let loading = startThread { _ = root[key] }
                taken.wait()
                expect(root.scope("/a")[Number.self], equals: 1)
                goesOn.open()
                loading.wait()
            }
            let scope = try #require(root.ifLoaded(key))
            root[Number.self] = 2
            expect(root.ifLoaded(key), is: scope)
            expect(root.graph.entries.first { $0.name.contains("takes a scope") }?.isStale != true)
        }
    }

    func scopeAfterTheLoad() {
        let root = Container()
        root.configureScopes("/a") { $0[Number.self] = 10 }
        let key = FeatureKey(reloadsWhenInputsChange: true) { _ in Container.current.scope("/a") }
        let scope = root[key]
        expect(scope[Number.self], equals: 10)
        root[Number.self] = 5
        expect(root.ifLoaded(key), is: scope)
        expect(root.scope("/a")[Number.self], equals: 10)
    }

    private struct Reader {
        @Injected(Number.self) var number
    }

    func injectedWhereSharedIsBound() {
        let other = Container()
        other[Number.self] = 5
        let reader = Container.with(.shared) { Reader() }
        let expected = Container.shared[Number.self]
        expect(Container.with(other) { reader.number }, equals: expected)
        let below = Container.shared.child { $0[Number.self] = 7 }
        expect(Container.with(below) { reader.number }, equals: 7)
        let madeBelow = Container.with(below) { Reader() }
        expect(Container.with(other) { madeBelow.number }, equals: 7)
        expect(Container.with(.shared) { madeBelow.number }, equals: 7)
    }

    func injectedWhereNothingIsBound() async {
        let reader = await Task.detached { Reader() }.value
        let other = Container()
        other[Number.self] = 5
        expect(Container.with(other) { reader.number }, equals: 5)
    }
}
