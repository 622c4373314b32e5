import Fugu
import Support
import Testing

@Suite("close() drains and then refuses (law 28)", .timeLimit(.minutes(5))) struct Law28DrainingTests {
    static let cases: [Case<Law28DrainingTests>] = [
        Case(
            "Loads begun before, and what they need, finish first; other loads are refused meanwhile (law 28)", drains),
        Case(
            "A child's loads finish first when the parent closes; what they need of the parent loads (law 28)",
            drainsChildren),
        Case("A waiter for a load that was begun before gets its result (law 28)", waitersGetTheResult),
        Case(
            "A read begun before, whose load turns out to be another's, still loads its own (law 28)",
            waitersLoadTheirOwn),
        Case(
            "After closing, loads are refused with the place of the read and a fix; properties keep answering (law 28)",
            refuses),
        Case("Instances are released after the last closer has run (law 28)", releases),
        Case(
            "Closers of a draining server read properties and what is there, and load nothing new (law 28)", closersRead
        ),
        Case(
            "A closer that is registered through a handle after its load belongs to the container (law 28)",
            registeredLate),
        Case("A container dropped without close() runs no closers; debug builds report it once (law 28)", dropped),
        Case("A container that was closed is dropped without a report (law 28)", droppedAfterClose),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28DrainingTests>) async throws {
        try await stated.run(self)
    }

    struct Need: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let log = container.stage.log
            log.add("load Need")
            container.onClose { log.add("close Need") }
            return Thing("Need")
        }
    }
    struct PlainNeed: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let log = container.stage.log
            log.add("load PlainNeed")
            container.onClose { log.add("close PlainNeed") }
            return Thing("PlainNeed")
        }
    }
    struct Job: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("close Job") }
            stage.gate("Job begun").open()
            await stage.gate("Job").opened()
            return Thing("Job", parts: [container[PlainNeed.self], try await container[Need.self]])
        }
    }
    struct Late: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { Thing("Late") }
    }
    struct LateThrowing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { Thing("LateThrowing") }
    }

    func drains() async throws {
        let container = Container()
        let stage = container.stage
        let job = Task { try await container[Job.self] }
        await stage.gate("Job begun").opened()
        let closing = Task { try await container.close() }
        await container.untilClosing()
        let late = await #expect(throws: LoadError.self) { try await container[Late.self] }
        let lateThrowing = #expect(throws: LoadError.self) { try container[LateThrowing.self] }
        expect(late?.code, equals: .containerClosed)
        expect(lateThrowing?.code, equals: .containerClosed)
        stage.gate("Job").open()
        try await expect(job.value.parts.map(\.name), equals: ["PlainNeed", "Need"])
        try await closing.value
        expect(stage.log.all, equals: ["load PlainNeed", "load Need", "close Job", "close Need", "close PlainNeed"])
    }

    func drainsChildren() async throws {
        let root = Container()
        let stage = root.stage
        let child = root.child()
        let job = Task { try await child[Job.self] }
        await stage.gate("Job begun").opened()
        let closing = Task { try await root.close() }
        await root.untilClosing()
        await #expect(throws: LoadError.self) { try await child[Late.self] }
        stage.gate("Job").open()
        try await expect(job.value.name, equals: "Job")
        try await closing.value
        expect(stage.log.all.suffix(3), equals: ["close Job", "close Need", "close PlainNeed"])
    }

    func waitersGetTheResult() async throws {
        let container = Container()
        let readers = (0..<8).map { _ in Task { try await container[Job.self] } }
        await container.untilWaiting(for: Job.self, 8)
        let closing = Task { try await container.close() }
        await container.untilClosing()
        container.stage.gate("Job").open()
        for reader in readers { try await expect(reader.value.name, equals: "Job") }
        try await closing.value
    }

    struct Tenanted: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            stage.gate("Tenanted begun").open()
            container.onClose { stage.log.add("close \(tenant)") }
            await stage.gate("Tenanted").opened()
            return Thing(tenant)
        }
    }

    func waitersLoadTheirOwn() async throws {
        let root = Container()
        let stage = root.stage
        let first = root.child { $0[Tenant.self] = "first" }
        let second = root.child { $0[Tenant.self] = "second" }
        let one = Task { try await first[Tenanted.self] }
        await stage.gate("Tenanted begun").opened()
        let two = Task { try await second[Tenanted.self] }
        await root.untilWaiting(for: Tenanted.self, 2)
        let closing = Task { try await root.close() }
        await root.untilClosing()
        stage.gate("Tenanted").open()
        try await expect(one.value.name, equals: "first")
        try await expect(two.value.name, equals: "second")
        try await closing.value
        expect(stage.log.all.sorted(), equals: ["close first", "close second"])
    }

    func refuses() async throws {
        let root = Container()
        let child = root.child()
        child[Tenant.self] = "child"
        try await root.close()
        for container in [root, child, root.child()] {
            let line: UInt = #line + 1
            let error = try #require(await #expect(throws: LoadError.self) { try await container[Late.self] })
            expect(error.path, equals: ["Late"])
            let place = "refuses() at FuguAsyncTests/Law28DrainingTests.swift:\(line)"
            expect(
                error.description.hasPrefix(
                    "Fugu: Late can't be loaded: the container is closed.\nPath: Late, in \(place)\nFix: load it"))
            #expect(throws: LoadError.self) { try container[LateThrowing.self] }
            expect(container[Fresh.self], equals: 7)
        }
        expect(root[Tenant.self], equals: "root")
        expect(child[Tenant.self], equals: "child")
        root[Tenant.self] = "changed"
        expect(root[Tenant.self], equals: "changed")
    }

    enum Fresh: Property {
        static var defaultValue: Int { 7 }
    }

    func releases() async throws {
        let container = Container()
        let log = container.stage.log
        container[EndProperty.self] = { log.add("released \($0)") }
        _ = try await container[Upper.self]
        container.onClose { log.add("container") }
        try await container.close()
        expect(log.all.prefix(3), equals: ["close Upper", "close Lower", "container"])
        expect(Set(log.all.suffix(2)), equals: ["released Upper", "released Lower"])
        expect(container.ifLoaded(Upper.self) == nil)
    }

    enum EndProperty: Property {
        static var defaultValue: @Sendable (String) -> Void { { _ in } }
    }
    struct Lower: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing {
            let (log, end) = (container.stage.log, container[EndProperty.self])
            container.onClose { log.add("close Lower") }
            return Thing("Lower") { end("Lower") }
        }
    }
    struct Upper: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (log, end) = (container.stage.log, container[EndProperty.self])
            let lower = try container[Lower.self]
            container.onClose { log.add("close Upper") }
            return Thing("Upper", parts: [lower]) { end("Upper") }
        }
    }

    func closersRead() async throws {
        let container = Container()
        let log = container.stage.log
        let need = try await container[Need.self]
        container.onClose { [unowned container] in
            try await expect(container[Need.self], is: need)
            log.add(container[Tenant.self])
            _ = try await container[Late.self]
        }
        let error = try #require(await #expect(throws: CloseError.self) { try await container.close() })
        expect(error.failures.count, equals: 1)
        expect(error.failures.first?.error is LoadError)
        expect(log.all.last, equals: "root")
    }

    func registeredLate() async throws {
        let container = Container()
        let log = container.stage.log
        let handle = try await container[Keeper.self].handle
        _ = try await container[Need.self]
        handle.onClose { log.add("late") }
        try await container.close()
        expect(log.all, equals: ["load Need", "close Need", "close Keeper", "late"])
    }

    struct Keeper: AsyncFeature {
        final class Instance: Sendable {
            let handle: any FeatureContainer
            init(_ handle: any FeatureContainer) { self.handle = handle }
        }
        static func load(in container: any FeatureContainer) async throws -> Instance {
            let log = container.stage.log
            container.onClose { log.add("close Keeper") }
            return Instance(container)
        }
    }

    func dropped() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        let log = container!.stage.log
        _ = try await container![Need.self]
        container!.onClose { log.add("container") }
        container = nil
        await giveOthersTime()
        expect(log.all, equals: ["load Need"])
        #if DEBUG
        expect(reports.all.count, equals: 1)
        expect(reports.all.first?.contains("Need"), equals: true)
        expect(reports.all.first?.contains("the container itself"), equals: true)
        #endif
    }

    func droppedAfterClose() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        _ = try await container![Need.self]
        try await container!.close()
        container = nil
        expect(reports.all, equals: [])
    }
}
