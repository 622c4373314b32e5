#if DEBUG
import FuguScopes
import Support
import Testing

@testable import Fugu

/// What debug builds report, each from a fact: laws 11, 12, and 18.
@Suite struct ReportsTests {
    struct Tenant: Property { static var defaultValue: String { "nobody" } }
    struct Limit: Property { static var defaultValue: Int { 1 } }

    /// Opened for each tenant, and closed with its container.
    private static let pool = FeatureKey<Log<Int>>(home: .with(Tenant.self), id: UniqueID()) { container in
        container.onClose {}
        _ = container[Tenant.self]
        return Log()
    }

    private let root = Container.program()
    private let reports: Log<String>

    init() { reports = root.logReports() }
}

extension ReportsTests {
    @Test("A resource that's opened again for one child after another with an equal value is reported, once (law 11)")
    func openedAgain() async throws {
        for _ in 1...3 {
            try await root.withChild {
                $0[Tenant.self] = "acme"
            } operation: { container in
                _ = container[Self.pool]
            }
        }
        expect(reports.count, equals: 1, "\(reports.all)")
        let text = reports.all.first ?? ""
        expect(
            text.contains("lives where Tenant is set, and one container after the other sets that to an equal value"))
        expect(text.contains("→ Tenant\nFix: set Tenant once, in a container that these have in common"), text)
    }

    @Test("What is opened again on purpose, or for each of several values, is not reported (law 11)")
    func openedOnPurpose() async throws {
        // What reloads or is reset in one child, or lives with children by key or path, isn't opened again by mistake.
        do {
            let tenant = root.child { $0[Tenant.self] = "acme" }
            for _ in 1...3 {
                _ = tenant[Self.pool]
                tenant.reset { _ in Self.pool }
            }
            let keyed = FeatureKey<Log<Int>>(home: .with(\.reportLimit), id: UniqueID()) { container in
                container.onClose {}
                _ = container.reportLimit
                return Log()
            }
            let children = root.children(by: \.reportLimit)
            for _ in 1...2 {
                await children.withChild(for: 1) { _ = $0[keyed] }
                await children.evictAll()
            }
            root.configureScopes { $0.reportLimit = 1 }
            for _ in 1...2 {
                let scope = root.scope("/a")
                _ = scope[keyed]
                try await scope.close()
            }
            expect(reports.all, equals: [])
            try await tenant.close()
        }
        // A resource for each of several values isn't reported, nor one that a child shares.
        do {
            let fresh = Self()
            let (root, reports) = (fresh.root, fresh.reports)
            for name in ["a", "b", "c"] {
                try await root.withChild {
                    $0[Tenant.self] = name
                } operation: { tenant in
                    _ = tenant[Self.pool]
                    try await tenant.withChild { child in _ = child[Self.pool] }
                }
            }
            expect(reports.all, equals: [])
        }
    }

    @Test("A child by key or path is named without a place, since no code of the program made it (law 11)")
    func namedWithoutPlace() async {
        let reader = FeatureKey<Int>(id: UniqueID()) { $0.reportLimit + $0[Limit.self] }
        await root.children(by: \.reportLimit).withChild(for: 2) { child in
            _ = child[reader]
            root[Limit.self] = 3
            _ = child[reader]
        }
        root.configureScopes { $0.reportLimit = 1 }
        let (scope, other) = (root.scope("/a"), FeatureKey<Int>(id: UniqueID()) { $0.reportLimit + $0[Limit.self] })
        _ = scope[other]
        root[Limit.self] = 4
        _ = scope[other]
        expect(reports.count, equals: 2, "\(reports.all)")
        for (report, name) in zip(reports.all, ["container 1", "/a"]) {
            expect(report.contains("Limit was set, and") && report.contains("was loaded in \(name) before"), report)
        }
    }

    @Test("A container that's released unclosed is named, with what to call in place of what made it (law 18)")
    func unclosed() async throws {
        let session = FeatureKey<Int>(id: UniqueID()) { container in
            container.onClose {}
            return container[Limit.self] + container.reportLimit
        }
        let made = #line + 1
        _ = root.child { $0[Limit.self] = 2 }[session]
        Container.with(root) {
            Container.with {
                $0[Limit.self] = 3
            } operation: {
                _ = Container.current[session]
            }
        }
        do {
            let children = root.children(by: \.reportLimit)
            await children.withChild(for: 4) { _ = $0[session] }
        }
        let texts = reports.all.filter { $0.contains("without close()") }
        let file = "FuguFamilyTests/ReportsTests.swift"
        expect(texts.count, equals: 3, "\(reports.all)")
        expect(texts[0].hasPrefix("Fugu: container 1 (made at \(file):\(made)) was released without close()"), texts[0])
        expect(texts[0].hasSuffix("Fix: call close() before you release the container."))
        expect(texts[1].hasPrefix("Fugu: container 2 (made at \(file):\(made + 2)) was released"), texts[1])
        expect(texts[1].contains("Fix: call withChild in place of with"))
        expect(texts[2].hasPrefix("Fugu: container 3 was released"), texts[2])
        expect(texts[2].contains("Fix: call evictAll() before you release the children by key"))
    }

    @Test(
        "What resetAll uncovers of a feature counts as another instance, and what keeps the former one is reported (law 12)"
    )
    func resetAllUncovers() {
        final class Name: Sendable {}
        let name = FeatureKey(id: UniqueID()) { _ in Name() }
        let reader = FeatureKey(id: UniqueID()) { "\($0[name]) \($0.reportLimit)" }
        root[name] = Name()
        let child = root.child { $0[name] = Name() }
        let below = child.child { $0.reportLimit = 1 }
        let made = below[reader]
        child.resetAll()
        expect(below[reader], equals: made)
        expect(reports.all.count { $0.contains("keeps the old value") }, equals: 1, "\(reports.all)")
    }

    @Test("A default that needs itself is told so, and nothing of load(in:) (law 5)")
    func defaultOfItself() {
        let error = LoadError.cycle([Key(raw: Limit._key.raw), Key(raw: Limit._key.raw)])
        expect(error.description.hasSuffix("Fix: let the default of Limit read nothing that reads Limit."))
    }
}

extension ContainerKeys {
    fileprivate var reportLimit: PropertyKey<Int> { .init(defaultValue: 0) }
}
#endif
