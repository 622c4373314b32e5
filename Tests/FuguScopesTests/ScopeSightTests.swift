import Fugu
import FuguConfiguration
import FuguScopes
import Support
import Testing

@Suite("What a rule sees, and what a reset leaves of it (laws 20, 21, and 23)") struct ScopeSightTests {}

extension ContainerKeys {
    fileprivate var sightLimit: PropertyKey<Int> { .init("law21.limit", defaultValue: 1) }
    fileprivate var sightTotal: PropertyKey<Int> { .init("law21.total", defaultValue: 0) }
}

extension ScopeSightTests {
    @Test(
        "A rule sees what earlier rules set or the scope's parent has, whatever code or a source sets in the scope (law 21)"
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

    @Test("A reset in a scope uncovers what a rule set, and leaves it (laws 20 and 23)")
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
