import Fugu
import FuguInspection
import Support
import Testing

// Law 15: what load(in:) reads is recorded, and nothing else. @Injected asks `Container.current` if the wrapper was made
// where nothing was bound, or if that is the container it was made in or a descendant; else the one it was made in.
@Suite("Law 15: whose reads are recorded", .timeLimit(.minutes(1))) struct Law15OtherThreadsTests {
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
                #expect(root.scope("/a")[Number.self] == 1)
                goesOn.open()
                loading.wait()
            }
            let scope = try #require(root.ifLoaded(\.[key]))
            root[Number.self] = 2
            #expect(root.ifLoaded(\.[key]) === scope)
            #expect(root.graph.entries.first { $0.name.contains("takes a scope") }?.isStale != true)
        }
    }

    @Test("Later reads by a scope that a load took aren't inputs either, and its rules apply (laws 15 and 21)")
    func scopeAfterTheLoad() {
        let root = Container()
        root.configureScopes("/a") { $0[Number.self] = 10 }
        let key = FeatureKey(reloadsWhenInputsChange: true) { _ in Container.current.scope("/a") }
        let scope = root[key]
        #expect(scope[Number.self] == 10)
        root[Number.self] = 5
        #expect(root.ifLoaded(\.[key]) === scope)
        #expect(root.scope("/a")[Number.self] == 10)
    }

    private struct Reader {
        @Injected(Number.self) var number
    }

    @Test("A wrapper made where Container.shared is bound asks that one, or a descendant that is current (law 15)")
    func injectedWhereSharedIsBound() {
        let other = Container()
        other[Number.self] = 5
        let reader = Container.with(.shared) { Reader() }
        let expected = Container.shared[Number.self]
        #expect(Container.with(other) { reader.number } == expected)
        let below = Container.shared.child { $0[Number.self] = 7 }
        #expect(Container.with(below) { reader.number } == 7)
        let madeBelow = Container.with(below) { Reader() }
        #expect(Container.with(other) { madeBelow.number } == 7)
        #expect(Container.with(.shared) { madeBelow.number } == 7)
    }

    @Test("Made where nothing is bound, it asks whoever is current (law 15)")
    func injectedWhereNothingIsBound() async {
        let reader = await Task.detached { Reader() }.value
        let other = Container()
        other[Number.self] = 5
        #expect(Container.with(other) { reader.number } == 5)
    }
}
