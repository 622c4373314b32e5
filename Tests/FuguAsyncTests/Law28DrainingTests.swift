import Fugu
import Support
import Testing

@Suite("close() drains and then refuses (law 28)", .timeLimit(.minutes(5))) struct Law28DrainingTests {
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

    @Test("Loads begun before, and what they need, finish first; other loads are refused meanwhile (law 28)")
    func drains() async throws {
        let container = Container()
        let stage = container.stage
        let job = Task { try await container[Job.self] }
        await stage.gate("Job begun").opened()
        let closing = Task { try await container.close() }
        await container.untilClosing()
        let late = await #expect(throws: LoadError.self) { try await container[Late.self] }
        let lateThrowing = #expect(throws: LoadError.self) { try container[LateThrowing.self] }
        #expect(late?.code == .containerClosed && lateThrowing?.code == .containerClosed)
        stage.gate("Job").open()
        #expect(try await job.value.parts.map(\.name) == ["PlainNeed", "Need"])
        try await closing.value
        #expect(stage.log.all == ["load PlainNeed", "load Need", "close Job", "close Need", "close PlainNeed"])
    }

    @Test("A child's loads finish first when the parent closes; what they need of the parent loads (law 28)")
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
        #expect(try await job.value.name == "Job")
        try await closing.value
        #expect(stage.log.all.suffix(3) == ["close Job", "close Need", "close PlainNeed"])
    }

    @Test("A waiter for a load that was begun before gets its result (law 28)")
    func waitersGetTheResult() async throws {
        let container = Container()
        let readers = (0..<8).map { _ in Task { try await container[Job.self] } }
        await container.untilWaiting(for: Job.self, 8)
        let closing = Task { try await container.close() }
        await container.untilClosing()
        container.stage.gate("Job").open()
        for reader in readers { #expect(try await reader.value.name == "Job") }
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

    @Test("A read begun before, whose load turns out to be another's, still loads its own (law 28)")
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
        #expect(try await one.value.name == "first")
        #expect(try await two.value.name == "second")
        try await closing.value
        #expect(stage.log.all.sorted() == ["close first", "close second"])
    }

    @Test("After closing, loads are refused with the place of the read and a fix; properties keep answering (law 28)")
    func refuses() async throws {
        let root = Container()
        let child = root.child()
        child[Tenant.self] = "child"
        try await root.close()
        for container in [root, child, root.child()] {
            let line: UInt = #line + 1
            let error = try #require(await #expect(throws: LoadError.self) { try await container[Late.self] })
            #expect(error.path == ["Late"])
            let place = "refuses() at FuguAsyncTests/Law28DrainingTests.swift:\(line)"
            #expect(
                error.description.hasPrefix(
                    "Fugu: Late can't be loaded: the container is closed.\nPath: Late, in \(place)\nFix: load it"))
            #expect(throws: LoadError.self) { try container[LateThrowing.self] }
            #expect(container[Fresh.self] == 7)
        }
        #expect(root[Tenant.self] == "root")
        #expect(child[Tenant.self] == "child")
        root[Tenant.self] = "changed"
        #expect(root[Tenant.self] == "changed")
    }

    enum Fresh: Property {
        static var defaultValue: Int { 7 }
    }

    @Test("Instances are released after the last closer has run (law 28)")
    func releases() async throws {
        let container = Container()
        let log = container.stage.log
        container[EndProperty.self] = { log.add("released \($0)") }
        _ = try await container[Upper.self]
        container.onClose { log.add("container") }
        try await container.close()
        #expect(log.all.prefix(3) == ["close Upper", "close Lower", "container"])
        #expect(Set(log.all.suffix(2)) == ["released Upper", "released Lower"])
        #expect(container.ifLoaded(Upper.self) == nil)
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

    @Test("Closers of a draining server read properties and what is there, and load nothing new (law 28)")
    func closersRead() async throws {
        let container = Container()
        let log = container.stage.log
        let need = try await container[Need.self]
        container.onClose { [unowned container] in
            #expect(try await container[Need.self] === need)
            log.add(container[Tenant.self])
            _ = try await container[Late.self]
        }
        let error = try #require(await #expect(throws: CloseError.self) { try await container.close() })
        #expect(error.failures.count == 1)
        #expect(error.failures.first?.error is LoadError)
        #expect(log.all.last == "root")
    }

    @Test("A closer that is registered through a handle after its load belongs to the container (law 28)")
    func registeredLate() async throws {
        let container = Container()
        let log = container.stage.log
        let handle = try await container[Keeper.self].handle
        _ = try await container[Need.self]
        handle.onClose { log.add("late") }
        try await container.close()
        #expect(log.all == ["load Need", "close Need", "close Keeper", "late"])
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

    @Test("A container dropped without close() runs no closers; debug builds report it once (law 28)")
    func dropped() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        let log = container!.stage.log
        _ = try await container![Need.self]
        container!.onClose { log.add("container") }
        container = nil
        await giveOthersTime()
        #expect(log.all == ["load Need"])
        #if DEBUG
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains("Need") == true)
        #expect(reports.all.first?.contains("the container itself") == true)
        #endif
    }

    @Test("A container that was closed is dropped without a report (law 28)")
    func droppedAfterClose() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        _ = try await container![Need.self]
        try await container!.close()
        container = nil
        #expect(reports.all == [])
    }
}
