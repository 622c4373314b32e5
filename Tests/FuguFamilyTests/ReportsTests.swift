#if DEBUG
import FuguScopes
import Support
import Testing

@testable import Fugu

/// What debug builds report, each from a fact: laws 15, 19, and 28.
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
    @Test("A resource that's opened again for one child after another with an equal value is reported, once (law 15)")
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

    @Test(
        "What reloads or is reset in one child, or lives with children by key or path, isn't opened again by mistake (law 15)"
    )
    func openedOnPurpose() async throws {
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

    @Test("A child by key or path is named without a place, since no code of the program made it (law 15)")
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
            expect(report.contains("was loaded in \(name) before Limit was set"), report)
        }
    }

    @Test("A resource for each of several values isn't reported, nor one that a child shares (law 15)")
    func openedForEach() async throws {
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

    @Test("A load's read from a captured container is reported, whether the value is there or not (law 15)")
    func captured() {
        let root = root
        root[Limit.self] = 5
        let reader = FeatureKey<Int>(id: UniqueID()) { _ in root[Limit.self] + root[Tenant.self].count }
        for _ in 1...2 {
            expect(root[reader], equals: 11)
            root.reset { _ in reader }
        }
        expect(reports.count, equals: 2, "\(reports.all)")
        for (report, name) in zip(reports.all, ["Limit", "Tenant"]) {
            expect(report.contains("reads \(name) while it loads from a container that it captured"), report)
        }
    }

    @Test("An input that changes while its reader loads makes the instance outdated (law 19)")
    func changedMeanwhile() {
        let root = root
        let reader = FeatureKey<Int>(id: UniqueID()) { container in
            let limit = container[Limit.self]
            root[Limit.self] = limit + 1
            return limit
        }
        expect(root[reader], equals: 1)
        expect(root[reader], equals: 1)
        expect(reports.all.filter { $0.contains("was loaded before Limit was set") }.count, equals: 1, "\(reports.all)")
    }

    @Test("A container that's released unclosed is named, with what to call in place of what made it (law 28)")
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

    @Test("Code that outlives its operation is reported once, however much it reads and loads (law 28)")
    func outlives() async throws {
        let session = FeatureKey<Int>(id: UniqueID()) { container in
            container.onClose {}
            return container[Limit.self]
        }
        var kept: Container? = try await root.withChild {
            $0[Limit.self] = 2; $0[Tenant.self] = "a"
        } operation: {
            $0
        }
        try await root.withChild {
            $0[Limit.self] = 3; $0[Tenant.self] = "b"
        } operation: { _ in
            expect(kept?[Limit.self] == 2 && kept?[Tenant.self] == "a" && kept?[session] == 2)
        }
        kept = nil
        let texts = reports.all
        expect(texts.count, equals: 2, "\(texts)")
        expect(texts.first?.contains("Limit was read from container 1") == true)
        expect(texts.last?.contains("was loaded through a container after close()") == true)
    }

    @Test("An equal value beside isn't another one (laws 15 and 28)")
    func equalBeside() async throws {
        struct Model { @Injected(Tenant.self) var tenant }
        let kept = try await root.withChild {
            $0[Tenant.self] = "a"
        } operation: {
            ($0, Model())
        }
        try await root.withChild {
            $0[Tenant.self] = "a"
        } operation: { _ in
            expect(kept.0[Tenant.self] == "a" && kept.1.tenant == "a")
        }
        expect(reports.all, equals: [])
    }

    @Test("A default that needs itself is told so, and nothing of load(in:) (law 6)")
    func defaultOfItself() {
        let error = LoadError.cycle([Key(raw: Limit._key.raw), Key(raw: Limit._key.raw)])
        expect(error.description.hasSuffix("Fix: let the default of Limit read nothing that reads Limit."))
    }
}

extension ContainerKeys {
    fileprivate var reportLimit: PropertyKey<Int> { .init(defaultValue: 0) }
}
#endif
