import Fugu
import FuguInspection
import FuguScopes
import Observation
import Support
import Testing

// Laws 13, 14 and 18: a scope is a child. What is made from what its rules set lives in the scope: it is reset, closed and
// released with it, like what is made from what a child sets.
@Suite("Instances made from a rule's value belong to the scope (laws 13, 14 and 18)", .timeLimit(.minutes(5)))
struct ScopeLifetimeTests {}

extension ScopeLifetimeTests {
    struct Number: Property { static var defaultValue: Int { 0 } }

    /// The origin of the value that the feature is made from.
    enum Origin: CaseIterable {
        case rule, code, both

        func scope(of root: Container) -> Container {
            if self != .code { root.configureScopes("/a") { $0[Number.self] = 1 } }
            let scope = root.scope("/a")
            if self != .rule { scope[Number.self] = 2 }
            return scope
        }
    }

    private static func made(_ log: Log<String>) -> FeatureKey<Witness> {
        FeatureKey(id: UniqueID()) { handle in
            let number = handle[Number.self]
            handle.onClose { log.add("closed \(number)") }
            return Witness { log.add("released \(number)") }
        }
    }

    @Test(
        "Closing a scope or its root runs its closers, once, and releases it (laws 14 and 18)",
        arguments: Origin.allCases)
    func closing(_ origin: Origin) async throws {
        // Closing the scope runs its closers, once, and releases it.
        do {
            let (root, log) = (Container(), Log<String>())
            let scope = origin.scope(of: root)
            let key = Self.made(log)
            _ = scope[key]
            let number = scope[Number.self]
            try await finishing { try await scope.close() }
            expect(log.all, equals: ["closed \(number)", "released \(number)"])
            expect(scope.ifLoaded { _ in key } == nil)
            try await finishing { try await root.close() }
            expect(log.count, equals: 2)
        }
        // Closing the root closes it with the scope.
        do {
            let (root, log) = (Container(), Log<String>())
            let scope = origin.scope(of: root)
            _ = scope[Self.made(log)]
            root.onClose { log.add("root") }
            scope.onClose { log.add("scope") }
            try await finishing { try await root.close() }
            let number = scope[Number.self]
            expect(log.all.filter { !$0.hasPrefix("released") }, equals: ["closed \(number)", "scope", "root"])
        }
    }

    @Test("reset and resetAll let it load again (laws 13 and 14)", arguments: Origin.allCases)
    func resetting(_ origin: Origin) throws {
        let (root, log) = (Container(), Log<String>())
        root.handleReports { _ in }
        let scope = origin.scope(of: root)
        let key = Self.made(log)
        let first = ObjectIdentifier(scope[key])
        let second = Log<Witness>()
        scope.reset { _ in key }
        expect(scope.ifLoaded { _ in key } == nil)
        second.add(scope[key])
        expect(ObjectIdentifier(second.all[0]) != first || log.count > 0)
        let number = scope[Number.self]
        scope.resetAll()
        expect(scope.ifLoaded { _ in key } == nil)
        expect(scope[key] !== second.all[0])
        expect(scope[Number.self], equals: (origin == .both ? 1 : number == 2 ? 0 : 1))
    }

    @Test(
        "When the scope goes it is released, and debug builds report its closers (laws 7, 14 and 18)",
        arguments: Origin.allCases)
    func dropping(_ origin: Origin) {
        let (root, log) = (Container(), Log<String>())
        let reports = root.logReports()
        var scope: Container? = origin.scope(of: root)
        _ = scope![Self.made(log)]
        let number = scope![Number.self]
        scope = nil
        expect(log.all, equals: ["released \(number)"])
        #if DEBUG
        expect(reports.count, equals: 1)
        #endif
        _ = reports
    }

    @Test("withChild in a scope closes what the child makes, and leaves what is the scope's (laws 14 and 18)")
    func withChild() async throws {
        let (root, log) = (Container(), Log<String>())
        let scope = Origin.rule.scope(of: root)
        let key = Self.made(log)
        try await finishing {
            _ = scope[key]
            try await scope.withChild {
                $0[Number.self] = 5
            } operation: {
                _ = $0[key]
            }
        }
        expect(log.all, equals: ["closed 5", "released 5"])
        expect(scope.ifLoaded { _ in key } != nil)
        try await finishing { try await scope.close() }
        expect(log.count, equals: 4)
    }

    @Test("An instance made from nothing that the scope has lives in the root and stays (laws 11 and 14)")
    func rootsOwn() async throws {
        let (root, log) = (Container().unreported, Log<String>())
        root.configureScopes("/a") { $0[PropertyKey(defaultValue: 0, id: "another")] = 1 }
        let scope = root.scope("/a")
        let key = Self.made(log)
        let shared = scope[key]
        try await finishing { try await scope.close() }
        expect(log.all, equals: [])
        expect(root[key], is: shared)
    }
}

/// Features follow the rules of their scope (laws 10, 12 and 14).
struct ScopeFeaturesTests {
    let outside = Locked<Int?>(1)
}

extension ScopeFeaturesTests {
    typealias Timeout = ScopeRulesTests.Timeout
    typealias Label = ScopeRulesTests.Label

    final class Client: Feature, Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        static func load(in container: any FeatureContainer) -> Client {
            Client("\(container[Timeout.self]) \(container[Label.self])")
        }
    }

    final class Live: Feature, Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Live {
            Live("\(container[Timeout.self]) \(container[Label.self])")
        }
    }

    private func scope() -> (container: Container, scope: Container) {
        let container = Container()
        container.configureScopes { [outside] handle in
            if let timeout = outside.withLock({ $0 }) { handle[Timeout.self] = timeout }
        }
        return (container, container.scope("/a"))
    }

    private func change(_ container: Container, to timeout: Int?) {
        outside.withLock { $0 = timeout }
        container.invalidateScopes()
    }

    @Test(
        "A feature made from a rule's value stays and is stale when that changes, and goes when the rule sets nothing (laws 10, 12 and 14)"
    )
    func stays() {
        // A feature made from a rule's value stays when the value changes, and is stale.
        do {
            let (container, scope) = scope()
            container.handleReports { _ in }
            let client = scope[Client.self]
            change(container, to: 2)
            expect(scope[Client.self], is: client)
            expect(scope[Timeout.self], equals: 2)
            expect(scope.graph.entries.first { $0.name == "Client" }?.isStale, equals: true)
        }
        // When the rule sets nothing any more, the scope shares the parent's instance again.
        do {
            let (container, scope) = scope()
            let shared = container[Client.self]
            expect(scope[Client.self] !== shared)
            change(container, to: nil)
            expect(scope[Client.self], is: shared)
            change(container, to: 3)
            expect(scope[Client.self].text, equals: "3 ")
        }
    }

    @Test("A feature that reloads does so with the next read, in the scope and in a child of it (laws 12 and 14)")
    func reloads() {
        let (container, scope) = scope()
        scope[Label.self] = "scope"
        let child = scope.child { $0[Label.self] = "child" }
        expect((scope[Live.self].text, child[Live.self].text) == ("1 scope", "1 child"))
        change(container, to: 2)
        expect(scope[Live.self].text, equals: "2 scope")
        change(container, to: 3)
        expect(child[Live.self].text, equals: "3 child")
        expect(scope[Live.self].text, equals: "3 scope")
        let (one, other) = (scope[Live.self], child[Live.self])
        change(container, to: 3)
        expect(scope[Live.self], is: one)
        expect(child[Live.self], is: other)
    }
}

/// Scopes are computed again when rules change (law 14).
struct ScopeInvalidationTests {
    /// A dependency of rules that the container doesn't know of.
    let outside = Locked(1)
}

extension ScopeInvalidationTests {
    typealias Timeout = ScopeRulesTests.Timeout
    typealias Label = ScopeRulesTests.Label
    typealias Trail = ScopeRulesTests.Trail

    private func ruled() -> Container {
        let container = Container()
        container.configureScopes { [outside] in $0[Timeout.self] = outside.withLock { $0 } }
        return container
    }

    @Test(
        "A rule added later, and invalidateScopes, reach scopes that were read already, here and in descendants (law 14)"
    )
    func addedLater() {
        // A rule added later applies to scopes that were read already, here and in descendants.
        do {
            let root = Container()
            let child = root.child()
            let (scope, lower) = (root.scope("/a"), child.scope("/a"))
            expect((scope[Timeout.self], lower[Timeout.self]) == (30, 30))
            root.configureScopes("/a") { $0[Timeout.self] = 5 }
            expect((scope[Timeout.self], lower[Timeout.self]) == (5, 5))
            child.configureScopes { $0[Timeout.self] += 1 }
            expect((scope[Timeout.self], lower[Timeout.self]) == (5, 6))
        }
        // invalidateScopes reaches scopes here and in descendants, no others.
        do {
            let fresh = Self()
            let (root, outside) = (fresh.ruled(), fresh.outside)
            let (left, right) = (root.child(), root.child())
            let scopes = [root.scope("/a"), left.scope("/a"), left.scope("/a").scope("/b"), right.scope("/a")]
            expect(scopes.map { $0[Timeout.self] }, equals: [1, 1, 1, 1])
            outside.withLock { $0 = 2 }
            left.invalidateScopes()
            expect(scopes.map { $0[Timeout.self] }, equals: [1, 2, 2, 1])
            root.invalidateScopes()
            expect(scopes.map { $0[Timeout.self] }, equals: [2, 2, 2, 2])
        }
    }

    @Test("invalidateScopes runs the rules once more before it returns, and reads run none (law 14)")
    func invalidate() {
        let runs = Counter()
        let container = Container()
        container.configureScopes { [outside] handle in
            runs.add()
            handle[Timeout.self] = outside.withLock { $0 }
        }
        let scope = container.scope("/a")
        expect(runs.value, equals: 1)
        expect(scope[Timeout.self], equals: 1)
        outside.withLock { $0 = 2 }
        expect(scope[Timeout.self], equals: 1)
        container.invalidateScopes()
        expect(runs.value, equals: 2)
        container.invalidateScopes()
        expect(runs.value, equals: 3)
        expect(scope[Timeout.self], equals: 2)
        expect(runs.value, equals: 3)
    }

    @Test("A rule's value is replaced, goes when no rule sets it any more, and is appended to anew each time (law 14)")
    func replaced() {
        // A rule's value is replaced, and goes when no rule sets it any more.
        do {
            let container = Container()
            container.configureScopes { [outside] handle in
                if outside.withLock({ $0 }) == 1 { handle[Timeout.self] = 5 } else { handle[Label.self] = "now" }
            }
            let scope = container.scope("/a")
            expect((scope[Timeout.self], scope[Label.self]) == (5, ""))
            outside.withLock { $0 = 2 }
            container.invalidateScopes()
            expect((scope[Timeout.self], scope[Label.self]) == (30, "now"))
            outside.withLock { $0 = 1 }
            container.invalidateScopes()
            expect((scope[Timeout.self], scope[Label.self]) == (5, ""))
        }
        // A rule that appends begins anew each time.
        do {
            let container = Container()
            container.configureScopes { $0[Trail.self].append("rule") }
            let scope = container.scope("/a")
            for _ in 0..<3 {
                expect(scope[Trail.self], equals: ["rule"])
                container.invalidateScopes()
            }
        }
    }

    @Test(
        "A value that code set in a scope wins and hides a rule's changes, until its reset uncovers the rule's (laws 10, 14 and 15)"
    )
    func codeWins() {
        // A value that code set in a scope stays and wins, and its reset uncovers the rule's.
        do {
            let container = ruled()
            let scope = container.scope("/a")
            scope[Timeout.self] = 100
            scope[Label.self] = "code"
            expect(scope[Timeout.self], equals: 100)
            outside.withLock { $0 = 2 }
            container.invalidateScopes()
            expect((scope[Timeout.self], scope[Label.self]) == (100, "code"))
            scope.reset(Timeout.self)
            expect(scope[Timeout.self], equals: 2)
            scope[Timeout.self] = 101
            scope.resetAll()
            expect((scope[Timeout.self], scope[Label.self]) == (2, ""))
        }
        // A value that code set in a scope hides a rule's change from observers.
        do {
            let fresh = Self()
            let (container, outside) = (fresh.ruled(), fresh.outside)
            let scope = container.scope("/a")
            scope[Timeout.self] = 100
            let heard = Log<Int>()
            scope.observe(Timeout.self) { heard.add($0) }
            outside.withLock { $0 = 2 }
            container.invalidateScopes()
            expect(heard.all, equals: [])
            scope.reset(Timeout.self)
            expect(heard.all, equals: [2])
        }
    }

    @Test("A parent's change is seen at once where no rule sets the key, and by rules when they run again (law 14)")
    func parentChanges() {
        let container = Container()
        container.configureScopes { $0[Label.self] += "!" }
        let scope = container.scope("/a")
        expect((scope[Label.self], scope[Timeout.self]) == ("!", 30))
        container[Label.self] = "parent"
        container[Timeout.self] = 5
        expect((scope[Label.self], scope[Timeout.self]) == ("!", 5))
        container.invalidateScopes()
        expect(scope[Label.self], equals: "parent!")
    }

    @Test("Each key of a scope that is configured again is heard once, and all is published together (law 14)")
    func observed() {
        let container = Container()
        container.configureScopes { [outside] handle in
            handle[Timeout.self] = 0
            handle[Timeout.self] = outside.withLock { $0 }
            handle[Label.self] = "\(outside.withLock { $0 })"
        }
        let scope = container.scope("/a")
        expect(scope[Timeout.self], equals: 1)
        let heard = Log<String>()
        scope.observe(Timeout.self) { heard.add("timeout \($0), label \(scope[Label.self])") }
        scope.child().observe(Timeout.self) { _ in heard.add("the child is gone") }
        scope.observe(Label.self) { heard.add("label \($0), timeout \(scope[Timeout.self])") }
        outside.withLock { $0 = 2 }
        container.invalidateScopes()
        expect(heard.all.sorted(), equals: ["label 2, timeout 2", "timeout 2, label 2"])
        container.invalidateScopes()
        expect(heard.count, equals: 2, "nothing changed")
    }

    @Test(
        "Observers hear of a scope's rules in it and below, also before it was ever read, and not in its parent (law 14)"
    )
    func observedUnread() {
        // A scope that is observed before it was ever read hears of a rule added later.
        do {
            let container = Container()
            let scope = container.scope("/a")
            let heard = Log<Int>()
            scope.observe(Timeout.self) { heard.add($0) }
            container.configureScopes { $0[Timeout.self] = 5 }
            expect(heard.all, equals: [5])
        }
        // A descendant's observers hear of a scope's rules; an observer of the parent does not.
        do {
            let container = Container()
            let child = container.scope("/a").child()
            let heard = Log<String>()
            container.observe(Timeout.self) { heard.add("container \($0)") }
            child.observe(Timeout.self) { heard.add("child \($0)") }
            container.configureScopes { $0[Timeout.self] = 5 }
            expect(heard.all, equals: ["child 5"])
            withExtendedLifetime(child) {}
        }
    }

    @Test(
        "values(of:) begins with the rule's value, and the Observation framework is notified of its changes (laws 9 and 14)",
        .timeLimit(.minutes(5)))
    func values() async {
        // values(of:) begins with the rule's value and goes on with later ones.
        do {
            let container = ruled()
            let scope = container.scope("/a")
            var values = scope.values(of: Timeout.self).makeAsyncIterator()
            await expect(values.next(isolation: nil), equals: 1)
            outside.withLock { $0 = 2 }
            container.invalidateScopes()
            await expect(values.next(isolation: nil), equals: 2)
        }
        // The Observation framework is notified of a rule's change at once.
        do {
            let fresh = Self()
            let (container, outside) = (fresh.ruled(), fresh.outside)
            let scope = container.scope("/a")
            let changes = Counter()
            withObservationTracking {
                expect(scope.observable[Timeout.self], equals: 1)
            } onChange: {
                changes.add()
            }
            container.invalidateScopes()
            expect(changes.value, equals: 0)
            outside.withLock { $0 = 2 }
            container.invalidateScopes()
            expect(changes.value, equals: 1)
        }
    }

    @Test("Observed or not, read or not, a scope is configured before configureScopes returns (law 14)")
    func beforeReturning() {
        let runs = Log<String>()
        let container = Container()
        container.configureScopes { _ in runs.add("first") }
        let (observed, read, untouched) = (container.scope("/a"), container.scope("/b"), container.scope("/c"))
        observed.observe(Timeout.self) { _ in }
        _ = read[Timeout.self]
        expect(runs.removeAll().count, equals: 3)
        container.configureScopes("/c") { _ in runs.add("second") }
        expect(runs.all.filter { $0 == "second" }, equals: ["second"])
        runs.removeAll()
        _ = (observed[Timeout.self], read[Timeout.self], untouched[Timeout.self])
        expect(runs.all, equals: [])
    }

    @Test("A read in the middle of a load or an update runs no rules either (laws 6 and 14)")
    func neverInTheMiddle() {
        let runs = Counter()
        let container = Container().unreported
        container.configureScopes { handle in handle[Timeout.self] = runs.add() }
        let scope = container.scope("/a")
        let key = FeatureKey { handle in
            let before = runs.value
            return (before, handle[Timeout.self], runs.value)
        }
        expect(scope[key] == (1, 1, 1))
        scope.update { changes in
            changes[Label.self] = "set"
            expect(changes[Timeout.self], equals: 1)
        }
        container.invalidateScopes()
        expect(runs.value, equals: 2)
        scope.reset { _ in key }
        expect(scope[key] == (2, 2, 2))
    }
}
