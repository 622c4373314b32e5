import Fugu
import Support
import Testing

@Suite("A container dropped without close() runs no closers (law 28)", .timeLimit(.minutes(5)))
struct Law28DroppedTests {
    static let cases: [Case<Law28DroppedTests>] = [
        Case(
            "Not even those of an instance that left early and is only kept by what was loaded from it (law 28)",
            keptByDependents),
        Case(
            "An instance that left the parent early is closed when the child that kept it is released (law 28)",
            keptByAChild),
        Case(
            "Objects that its closers held are released without a lock: they may read another container of the family (law 4)",
            releasedOutsideTheLock),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28DroppedTests>) async throws { try await stated.run(self) }

    private typealias Source = Law28EarlyLeaversTests.Source
    private typealias Reader = Law28EarlyLeaversTests.Reader

    func keptByDependents() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        let log = container!.stage.log
        _ = try await container![Reader.self]
        container!.reset(Source.self)
        container = nil
        await giveOthersTime()
        expect(log.all, equals: [])
        #if DEBUG
        expect(reports.all.count, equals: 1)
        expect(reports.all.first?.contains("Reader"), equals: true)
        expect(reports.all.first?.contains("Source"), equals: true)
        #endif
    }

    struct Request: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing(container[Tenant.self], parts: [try await container[Source.self]])
        }
    }

    func keptByAChild() async throws {
        let root = Container()
        var child: Container? = root.child { $0[Tenant.self] = "child" }
        _ = try await child![Request.self]
        root.reset(Source.self)
        await root.untilClosersRan()
        expect(root.stage.log.all, equals: [])
        child = nil
        await expect(root.stage.log.first(1), equals: ["Source 1"])
        try await root.close()
        expect(root.stage.log.all, equals: ["Source 1"])
    }

    func releasedOutsideTheLock() async throws {
        let root = Container()
        let released = Log<String>()
        var child: Container? = root.child { $0[Tenant.self] = "child" }
        child![HeldProperty.self] = { [unowned root] in released.add(root[Tenant.self]) }
        _ = try await child![Holder.self]
        child = nil
        expect(released.all, equals: ["root"])
    }

    enum HeldProperty: Property {
        static var defaultValue: @Sendable () -> Void { {} }
    }
    struct Holder: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String {
            let held = Thing(onEnd: container[HeldProperty.self])
            container.onClose { withExtendedLifetime(held) {} }
            return container[Tenant.self]
        }
    }
}
