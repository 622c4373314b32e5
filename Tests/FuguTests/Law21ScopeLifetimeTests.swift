import Fugu
import Support
import Testing

// Laws 20, 21 and 28: a scope is a child. What is made from what its rules set lives in the scope: it is reset, closed and
// released with it, like what is made from what a child sets.
@Suite("Instances made from a rule's value belong to the scope (laws 20, 21 and 28)", .timeLimit(.minutes(1)))
struct Law21ScopeLifetimeTests {
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

    @Test("Closing the scope runs its closers, once, and releases it (laws 21 and 28)", arguments: Origin.allCases)
    func closing(_ origin: Origin) async throws {
        let (root, log) = (Container(), Log<String>())
        let scope = origin.scope(of: root)
        let key = Self.made(log)
        _ = scope[key]
        let number = scope[Number.self]
        try await finishing { try await scope.close() }
        expect(log.all, equals: ["closed \(number)", "released \(number)"])
        expect(scope.ifLoaded(key) == nil)
        try await finishing { try await root.close() }
        expect(log.count, equals: 2)
    }

    @Test("Closing the root closes it with the scope (laws 21 and 28)", arguments: Origin.allCases)
    func closingTheRoot(_ origin: Origin) async throws {
        let (root, log) = (Container(), Log<String>())
        let scope = origin.scope(of: root)
        _ = scope[Self.made(log)]
        root.onClose { log.add("root") }
        scope.onClose { log.add("scope") }
        try await finishing { try await root.close() }
        let number = scope[Number.self]
        expect(log.all.filter { !$0.hasPrefix("released") }, equals: ["closed \(number)", "scope", "root"])
    }

    @Test("reset and resetAll let it load again (laws 20 and 21)", arguments: Origin.allCases)
    func resetting(_ origin: Origin) throws {
        let (root, log) = (Container(), Log<String>())
        root.handleReports { _ in }
        let scope = origin.scope(of: root)
        let key = Self.made(log)
        let first = ObjectIdentifier(scope[key])
        let second = Log<Witness>()
        scope.reset(key)
        expect(scope.ifLoaded(key) == nil)
        second.add(scope[key])
        expect(ObjectIdentifier(second.all[0]) != first || log.count > 0)
        let number = scope[Number.self]
        scope.resetAll()
        expect(scope.ifLoaded(key) == nil)
        expect(scope[key] !== second.all[0])
        expect(scope[Number.self], equals: (origin == .both ? 1 : number == 2 ? 0 : 1))
    }

    @Test(
        "When the scope goes it is released, and debug builds report its closers (laws 8, 21 and 28)",
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

    @Test("withChild in a scope closes what the child makes, and leaves what is the scope's (laws 21 and 28)")
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
        expect(scope.ifLoaded(key) != nil)
        try await finishing { try await scope.close() }
        expect(log.count, equals: 4)
    }

    @Test("An instance made from nothing that the scope has lives in the root and stays (laws 15 and 21)")
    func rootsOwn() async throws {
        let (root, log) = (Container(), Log<String>())
        root.configureScopes("/a") { $0[PropertyKey(defaultValue: 0, id: "another")] = 1 }
        let scope = root.scope("/a")
        let key = Self.made(log)
        let shared = scope[key]
        try await finishing { try await scope.close() }
        expect(log.all, equals: [])
        expect(root[key], is: shared)
    }
}
