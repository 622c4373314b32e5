import Fugu
import FuguConfiguration
import FuguScopes
import Support
import Testing

/// What a rule sees, and what a reset leaves of it (laws 13, 14, and 15).
struct ScopeSightTests {}

extension ContainerKeys {
    fileprivate var sightLimit: PropertyKey<Int> { .init("law21.limit", defaultValue: 1) }
    fileprivate var sightTotal: PropertyKey<Int> { .init("law21.total", defaultValue: 0) }
}

extension ScopeSightTests {
    @Test(
        "A rule sees what earlier rules set or the scope's parent has, whatever code or a source sets in the scope (law 14)"
    )
    func rule() throws {
        let container = Container()
        container.configureScopes { $0.sightTotal = $0.sightLimit * 10 }
        let scope = container.scope("/a")
        expect(scope.sightTotal, equals: 10)
        scope.sightLimit = 5
        container.invalidateScopes()
        expect(scope.sightTotal, equals: 10)
        scope.reset(\.sightLimit)
        try scope.apply(MutableSource(["law21.limit": 7], name: "own"))
        expect(scope.sightLimit, equals: 7)
        container.invalidateScopes()
        expect(scope.sightTotal, equals: 10)
        container.sightLimit = 2
        container.invalidateScopes()
        expect(scope.sightTotal, equals: 20)
        container.configureScopes { $0.sightLimit = 3 }
        container.configureScopes { $0.sightTotal = $0.sightLimit + 1 }
        expect(scope.sightTotal, equals: 4)
    }

    @Test("A reset in a scope uncovers what a rule set, and leaves it (laws 13 and 15)")
    func reset() throws {
        let container = Container()
        container.configureScopes { $0.sightLimit = 3 }
        let scope = container.scope("/a")
        try scope.apply(MutableSource(["law21.limit": 7], name: "own"))
        scope.sightLimit = 5
        scope.reset(\.sightLimit)
        expect(scope.sightLimit, equals: 3)
        scope.reset(\.sightLimit)
        expect(scope.sightLimit, equals: 3)
        scope.resetAll()
        expect(scope.sightLimit, equals: 3)
    }
}

// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
// Laws 13, 14, 15 and 18: a source's value counts as held by its container, a scope as much as any other: what is made
// from it lives there, and is reset and closed with it.
@Suite("What is made from a scope's source belongs to the scope (laws 13, 14, 15, 18)", .timeLimit(.minutes(5)))
struct ScopeSourcesTests {
    private let key = PropertyKey("law21.number", defaultValue: 0)
}

extension ScopeSourcesTests {
    private func made(_ log: Log<String>) -> FeatureKey<Witness> {
        FeatureKey(id: UniqueID()) { [key] handle in
            let number = handle[key]
            handle.onClose { log.add("closed \(number)") }
            return Witness { log.add("released \(number)") }
        }
    }

    private func scope() throws -> (root: Container, scope: Container) {
        let root = Container()
        let scope = root.scope("/a")
        try scope.apply(DictionarySource(["law21.number": 3], name: "scope's"))
        return (root, scope)
    }

    @Test("reset and resetAll let it load again (laws 13 and 15)")
    func resetting() throws {
        let (root, scope) = try scope()
        root.handleReports { _ in }
        let log = Log<String>()
        let key = made(log)
        let first = scope[key]
        scope.reset { _ in key }
        expect(scope.ifLoaded { _ in key } == nil)
        let second = scope[key]
        expect(second !== first)
        scope.resetAll()
        expect(scope.ifLoaded { _ in key } == nil)
        expect(scope[key] !== second)
        expect(scope[self.key], equals: 3)
    }

    @Test(
        "When a scope is closed or goes, so does what it holds, whose closers run at the closing alone (laws 7, 15 and 18)"
    )
    func closing() async throws {
        // Closing the scope runs its closers, and none runs later.
        do {
            let (root, scope) = try scope()
            let log = Log<String>()
            let key = made(log)
            _ = scope[key]
            try await finishing { try await scope.close() }
            expect(log.all, equals: ["closed 3", "released 3"])
            expect(scope.ifLoaded { _ in key } == nil)
            try await finishing { try await root.close() }
            expect(log.count, equals: 2)
        }
        // When the scope goes, it goes.
        do {
            let log = Log<String>()
            let root = Container()
            root.handleReports { _ in }
            do {
                let scope = root.scope("/a")
                try scope.apply(DictionarySource(["law21.number": 3], name: "scope's"))
                _ = scope[made(log)]
            }
            expect(log.all, equals: ["released 3"])
        }
    }

    @Test("A source that changes makes what reloads from it load again in the scope alone (laws 12 and 15)")
    func changing() throws {
        let root = Container()
        let scope = root.scope("/a")
        let source = MutableSource(["law21.number": 3], name: "scope's")
        try scope.apply(source)
        let key = FeatureKey(reloadsWhenInputsChange: true) { [key] in "\($0[key])" }
        expect(scope[key], equals: "3")
        expect(root[key], equals: "0")
        source["law21.number"] = 4
        expect(scope[key], equals: "4")
        expect(root[key], equals: "0")
    }
}
#endif
