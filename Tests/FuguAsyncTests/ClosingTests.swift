import Dispatch
import FuguLoadStates
import Support
import Testing

@testable import Fugu

@Suite("close() ends everything in order (law 18)", .timeLimit(.minutes(5))) struct ClosingTests {}

extension ClosingTests {
    struct Files: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let log = container.stage.log
            container.onClose { log.add("Files") }
            return Thing("Files")
        }
    }
    struct Index: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing {
            let stage = container.stage
            let files = container[Files.self]
            container.onClose {
                stage.log.add("Index, registered first")
                try stage.mayFail("Index")
            }
            container.onClose {
                await Task.yield()
                stage.log.add("Index, registered last")
            }
            return Thing("Index", parts: [files])
        }
    }
    /// Has no closer, but stands between two that have.
    struct Between: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing("Between", parts: [try container[Index.self]])
        }
    }
    struct Server: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let between = try await container[Between.self]
            container.onClose {
                stage.log.add("Server")
                try stage.mayFail("Server")
            }
            return Thing("Server", parts: [between])
        }
    }
    struct Metrics: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let log = container.stage.log
            container.onClose { log.add("Metrics") }
            return Thing("Metrics")
        }
    }

    @Test("A child that a load makes while its container waits for that load is closed, too (law 18)")
    func childOfDrainingLoad() async throws {
        struct Own: AsyncFeature {
            static var home: Home { .local }
            static func load(in container: any FeatureContainer) async throws -> Int { 0 }
        }
        struct Outer: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Container { .current }
        }
        let (began, goesOn, log) = (Gate(), Gate(), Log<String>())
        let container = Container()
        container.replace(Own.self) { container in
            container.onClose { log.add("closed") }
            return 1
        }
        container.replace(Outer.self) { _ in
            began.open()
            await goesOn.opened()
            let child = Container.current.child()
            _ = try await child[Own.self]
            return child
        }
        let load = Task { try await container[Outer.self] }
        await began.opened()
        let closing = Task { try await container.close() }
        while !container.node.isRefusing { await Task.yield() }
        goesOn.open()
        let child = try await load.value
        try await closing.value
        expect(log.all, equals: ["closed"])
        expect(child.node.isClosed)
    }

    @Test(
        "A closer can wait for a task that reads a sequence of the container (laws 9 and 18)",
        .timeLimit(.minutes(5)))
    func closerAwaitsReader() async throws {
        struct Number: Property { static var defaultValue: Int { 1 } }
        let log = Log<String>()
        try await finishing(task: {
            let container = Container()
            try await container.withChild { child in
                let began = Gate()
                let reader = Task { for await _ in child.values(of: Number.self) { began.open() } }
                let states = child.states(of: Between.self)
                let watcher = Task { for await _ in states {} }
                child.onClose {
                    await reader.value
                    await watcher.value
                    // One that begins now ends at once.
                    for await _ in child.values(of: Number.self) {}
                    log.add("closed")
                }
                await began.opened()
            }
            // The watcher may have loaded features that live here.
            try await container.close()
        })
        expect(log.all, equals: ["closed"])
    }

    @Test("Dependents close before what they depend on, and else what was made last closes first (law 18)")
    func order() async throws {
        // Dependents close before what they depend on, also through others, each last registered first.
        do {
            let container = Container()
            let log = container.stage.log
            container.onClose { log.add("container, registered first") }
            container.onClose { log.add("container, registered last") }
            _ = container[Files.self]
            _ = try await container[Server.self]
            try await container.close()
            expect(
                log.all,
                equals: [
                    "Server", "Index, registered last", "Index, registered first", "Files",
                    "container, registered last",
                    "container, registered first",
                ])
        }
        // Among equals, what was made last closes first.
        do {
            for metricsFirst in [true, false] {
                let container = Container()
                let log = container.stage.log
                if metricsFirst { _ = try await container[Metrics.self] }
                _ = container[Files.self]
                if !metricsFirst { _ = try await container[Metrics.self] }
                try await container.close()
                expect(log.all, equals: (metricsFirst ? ["Files", "Metrics"] : ["Metrics", "Files"]))
            }
        }
    }

    @Test("Every closer runs though others throw, and all failures come together, named and in order (law 18)")
    func failures() async throws {
        let container = Container()
        let stage = container.stage
        _ = try await container[Server.self]
        stage.fail("Server")
        stage.fail("Index")
        container.onClose { throw Boom("own") }
        let child = container.child()
        child.onClose { throw Boom("child") }
        let error = try #require(await #expect(throws: CloseError.self) { try await container.close() })
        expect(error.failures.map(\.feature), equals: [nil, "Server", "Index", nil])
        expect(
            error.failures.map { $0.error as? Boom },
            equals: [Boom("child"), Boom("Server"), Boom("Index"), Boom("own")])
        expect(stage.log.all, equals: ["Server", "Index, registered last", "Index, registered first", "Files"])
        expect(error.description.contains("Server: Server"))
        expect(error.description.contains("Index: Index"))
        expect(error.description.contains("the container itself: own"))
        expect(error.description.contains("container 1: child"))
    }

    struct Session: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            let metrics = try await container[Metrics.self]
            container.onClose {
                stage.log.add("Session of \(tenant)")
                await stage.gate("close \(tenant)").opened()
                stage.log.add("Session of \(tenant) is closed")
            }
            return Thing(tenant, parts: [metrics])
        }
    }

    @Test("A child closes what lives in it and nothing else, and before its parent, whoever was loaded last (law 18)")
    func childClosesItsOwn() async throws {
        // A child closes what lives in it and nothing else.
        do {
            let root = Container()
            let child = root.child { $0[Tenant.self] = "child" }
            root.stage.gate("close child").open()
            _ = try await child[Session.self]
            try await child.close()
            expect(root.stage.log.all, equals: ["Session of child", "Session of child is closed"])
            try await expect(root[Metrics.self], is: root.ifLoaded(Metrics.self))
            await #expect(throws: LoadError.self) { try await child[Server.self] }
            _ = try await root[Server.self]
            try await root.close()
            expect(root.stage.log.all.last, equals: "Metrics")
            expect(root.stage.log.all.count, equals: 7)
        }
        // Children close first, whoever was loaded last.
        do {
            let root = Container()
            let log = root.stage.log
            let child = root.child { $0[Tenant.self] = "child" }
            let grandchild = child.child { $0[Tenant.self] = "grandchild" }
            for name in ["root", "child", "grandchild"] { root.stage.gate("close \(name)").open() }
            grandchild.onClose { log.add("grandchild itself") }
            child.onClose { log.add("child itself") }
            for container in [grandchild, child, root] { _ = try await container[Session.self] }
            try await root.close()
            let begun = log.all.filter { !$0.hasSuffix("is closed") }
            expect(
                begun,
                equals: [
                    "Session of grandchild", "grandchild itself", "Session of child", "child itself", "Session of root",
                    "Metrics",
                ])
            for container in [grandchild, child, root] {
                await #expect(throws: LoadError.self) { try await container[Server.self] }
            }
        }
    }

    @Test("A child that is closing already, or begins to meanwhile, is closed once, before what it depends on (law 18)")
    func closingChildIsWaitedFor() async throws {
        // A child that is closing already is waited for before what it depends on closes.
        do {
            let root = Container()
            let stage = root.stage
            let child = root.child { $0[Tenant.self] = "child" }
            _ = try await child[Session.self]
            let first = Task { try await child.close() }
            await expect(stage.log.first(1), equals: ["Session of child"])
            let second = Task { try await root.close() }
            await root.untilClosing()
            await giveOthersTime()
            expect(stage.log.all, equals: ["Session of child"])
            stage.gate("close child").open()
            try await first.value
            try await second.value
            expect(stage.log.all, equals: ["Session of child", "Session of child is closed", "Metrics"])
        }
        // A child that closes while its parent closes it is closed once, and both wait for that.
        do {
            let root = Container()
            let stage = root.stage
            let child = root.child { $0[Tenant.self] = "child" }
            _ = try await child[Session.self]
            // Closes before the session, which was made earlier.
            _ = try await child[Blocking.self]
            let first = Task { try await root.close() }
            await stage.gate("Blocking").opened()
            let second = Task { try await child.close() }
            await child.untilClosersWait(1)
            expect(stage.log.all, equals: [])
            stage.gate("Blocking may end").open()
            await expect(stage.log.first(1), equals: ["Session of child"])
            await giveOthersTime()
            expect(stage.log.all, equals: ["Session of child"])
            stage.gate("close child").open()
            try await first.value
            try await second.value
            expect(stage.log.all, equals: ["Session of child", "Session of child is closed", "Metrics"])
        }
    }

    struct Blocking: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            container.onClose {
                stage.gate("Blocking").open()
                await stage.gate("Blocking may end").opened()
            }
            return Thing(tenant)
        }
    }

    @Test("Closing twice runs every closer once; a second call waits for the first (law 18)")
    func twice() async throws {
        let container = Container()
        let stage = container.stage
        container.onClose {
            stage.log.add("begin")
            await stage.gate("close").opened()
            stage.log.add("end")
            throw Boom()
        }
        let first = Task { try await container.close() }
        _ = await stage.log.first(1)
        let second = Task {
            try await container.close()
            stage.log.add("second returned")
        }
        await container.untilClosersWait(1)
        expect(stage.log.all, equals: ["begin"])
        stage.gate("close").open()
        await #expect(throws: CloseError.self) { try await first.value }
        try await second.value
        try await container.close()
        expect(stage.log.all, equals: ["begin", "end", "second returned"])
    }

    @Test("Cancelling the caller does not cancel the closing (law 18)")
    func callerIsCancelled() async throws {
        let container = Container()
        let stage = container.stage
        container.onClose {
            stage.log.add("begin")
            await stage.gate("close").opened()
            stage.log.add(Task.isCancelled ? "cancelled" : "end")
        }
        let caller = Task { try await container.close() }
        _ = await stage.log.first(1)
        caller.cancel()
        stage.gate("close").open()
        try await caller.value
        expect(stage.log.all, equals: ["begin", "end"])
    }
}

@Suite("An instance is closed when nothing loaded from it remains (law 18)", .timeLimit(.minutes(5)))
struct ClosingDependentsTests {}

extension ClosingDependentsTests {
    private typealias Source = ClosingLeaversTests.Source
    private typealias Reader = ClosingLeaversTests.Reader

    @Test("What left early is closed once nothing that was loaded from it remains, by close() at the latest (law 18)")
    func waitsForDependents() async throws {
        // It waits until nothing that was loaded from it remains.
        do {
            let container = Container().unreported
            let log = container.stage.log
            _ = try await container[Reader.self]
            container.reset(Source.self)
            await container.untilClosersRan()
            expect(log.all, equals: [])
            try await expect(container[Source.self].name, equals: "Source 2")
            container.reset(Reader.self)
            await expect(log.first(2), equals: ["Reader 1", "Source 1"])
            try await container.close()
            expect(log.all, equals: ["Reader 1", "Source 1", "Source 2"])
        }
        // An instance that left early but is still needed is closed by close(), after its dependents.
        do {
            let container = Container().unreported
            let log = container.stage.log
            _ = try await container[Reader.self]
            container.reset(Source.self)
            _ = try await container[Source.self]
            try await container.close()
            expect(log.all.firstIndex(of: "Reader 1")! < log.all.firstIndex(of: "Source 1")!)
            expect(Set(log.all), equals: ["Reader 1", "Source 1", "Source 2"])
            expect(log.all.count, equals: 3)
        }
    }

    struct ReadsTwice: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let first = try await container[Source.self]
            stage.gate("read once").open()
            await stage.gate("read again").opened()
            return Thing("ReadsTwice", parts: [first, try await container[Source.self]])
        }
    }

    @Test("A load that reads an input before and after its reset keeps both instances open until its end (law 18)")
    func readTwice() async throws {
        let container = Container()
        let stage = container.stage
        let reader = Task { try await container[ReadsTwice.self] }
        await stage.gate("read once").opened()
        container.reset(Source.self)
        await container.untilClosersRan()
        expect(stage.log.all, equals: [])
        stage.gate("read again").open()
        try await expect(reader.value.parts.map(\.name), equals: ["Source 1", "Source 2"])
        // It isn't kept, since an input has changed.
        await expect(stage.log.first(1), equals: ["Source 1"])
        container.reset(Source.self)
        await expect(stage.log.first(2), equals: ["Source 1", "Source 2"])
    }

    /// Resumes where the test says, on an actor that the test can hold up.
    @globalActor actor Stall {
        static let shared = Stall()
    }
    struct OnStall: AsyncFeature {
        @Stall static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("OnStall") }
            return Thing("OnStall", parts: [try await container[Gated.self]])
        }
    }
    struct Gated: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Gated").add()
            container.onClose { stage.log.add("Gated \(number)") }
            await stage.gate("Gated \(number)").opened()
            return Thing("Gated \(number)")
        }
    }

    @Test("Reset after its load, before a depending load resumes: what that load got is not closed (law 18)")
    func resetBeforeDependentResumes() async throws {
        let container = Container()
        let stage = container.stage
        stage.gate("Gated 2").open()
        let dependent = Task { try await container[OnStall.self] }
        await container.untilWaiting(for: Gated.self, 1)
        let hold = LoadFailureTests.Hold()
        let stall = Task { @Stall in
            stage.gate("stalled").open()
            hold.wait()
        }
        await stage.gate("stalled").opened()
        stage.gate("Gated 1").open()
        while container.ifLoaded(Gated.self) == nil { await Task.yield() }
        container.reset(Gated.self)
        await container.untilClosersRan()
        expect(stage.log.all, equals: [])
        hold.release()
        await stall.value
        let used = try await dependent.value.parts[0].name
        try await container.close()
        let end = stage.log.all
        expect(end.firstIndex(of: "OnStall")! < end.firstIndex(of: used)!)
        expect(Set(end).count, equals: end.count)
    }
}

@Suite("The closers of a load that fails (law 18)", .timeLimit(.minutes(5))) struct ClosingFailedLoadTests {}

extension ClosingFailedLoadTests {
    struct Failing: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("closed") }
            await stage.gate("Failing").opened()
            throw Boom("load")
        }
    }

    private struct Own: Property { static var defaultValue: Int { 0 } }
    private struct Late: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Late").add()
            container.onClose { stage.log.add("closed \(number)") }
            await stage.gate("Late").opened()
            return Thing("\(container[Own.self])")
        }
    }

    /// Runs on a thread that may be blocked.
    private actor Occupied {
        private let thread = SerialThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        func read(_ container: Container) async throws { _ = try await container[Failing.self] }
        func readLate(_ container: Container) async throws -> Thing { try await container[Late.self] }
        func occupy(_ isOccupied: Gate, until end: Gate) {
            isOccupied.open()
            end.wait()
        }
    }
    private final class SerialThread: SerialExecutor {
        private let queue = DispatchQueue(label: "occupied")
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    @Test("They wait for nobody who is still to be notified of the failure (law 18)")
    func reportedLate() async throws {
        let container = Container()
        let occupied = Occupied()
        let (isOccupied, end) = (Gate(), Gate())
        let first = Task { try await container[Failing.self] }
        let second = Task { try await occupied.read(container) }
        await container.untilWaiting(for: Failing.self, 2)
        let occupying = Task { await occupied.occupy(isOccupied, until: end) }
        await isOccupied.opened()
        container.stage.gate("Failing").open()
        await #expect(throws: Boom("load")) { try await first.value }
        await container.untilClosersRan()
        expect(container.stage.log.all, equals: ["closed"])
        end.open()
        await occupying.value
        await #expect(throws: Boom("load")) { try await second.value }
    }

    @Test("They run if the load's container was closed and released before one who had waited is notified (law 18)")
    func closedInReleased() async throws {
        let root = Container().unreported
        let occupied = Occupied()
        let (isOccupied, end) = (Gate(), Gate())
        var child: Container? = root.child { $0[Own.self] = 1 }
        let untilReleased = child!.untilReleased
        let first = Task { [child] in try await child![Late.self] }
        await root.untilWaiting(for: Late.self, 1)
        let second = Task { try await occupied.readLate(root) }
        await root.untilWaiting(for: Late.self, 2)
        let occupying = Task { await occupied.occupy(isOccupied, until: end) }
        await isOccupied.opened()
        try? await child!.close(deadline: .milliseconds(1))
        expect((try? await first.value) == nil)
        child = nil
        root.stage.gate("Late").open()
        await untilReleased()
        end.open()
        await occupying.value
        expect(try await second.value.name, equals: "0")
        await root.untilClosersRan()
        expect(root.stage.log.all, equals: ["closed 1"])
        try await root.close()
        expect(root.stage.log.all, equals: ["closed 1", "closed 2"])
    }

    @Test("They run, too, if the load gives something after its container's deadline, in an operation (law 18)")
    func overdueInOperation() async throws {
        let root = Container().unreported
        try await root.withChild { request in
            let child = request.child { $0[Own.self] = 1 }
            let reader = Task { try await child[Late.self] }
            await root.untilWaiting(for: Late.self, 1)
            try? await child.close(deadline: .milliseconds(1))
            expect((try? await reader.value) == nil)
            root.stage.gate("Late").open()
            try await finishing { await expect(root.stage.log.first(1), equals: ["closed 1"]) }
            withExtendedLifetime(child) {}
        }
    }
}

// Laws 7 and 18: with close(), features are released, set ones as well as loaded ones; properties keep answering.
@Suite("Closing releases every feature (laws 7 and 18)", .timeLimit(.minutes(5))) struct ClosingReleasesTests {}

extension ClosingReleasesTests {
    struct Plain: Feature {
        static func load(in container: any FeatureContainer) -> Thing { Thing("loaded") }
    }
    struct Failing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { Thing("loaded") }
    }
    struct Suspending: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { Thing("loaded") }
    }
    struct Slot: Property { static var defaultValue: Thing? { nil } }

    @Test(
        "Set instances of every kind are released and refused: throwing kinds throw, and nothing is there (laws 7 and 18)"
    )
    func set() async throws {
        // Set instances of every kind are released, in the container and in its children.
        do {
            let root = Container()
            let child = root.child()
            let key = FeatureKey { _ in Thing("loaded") }
            let ended = Log<String>()
            func thing(_ name: String) -> Thing { Thing(name, onEnd: { ended.add(name) }) }
            for (container, name) in [(root, "root"), (child, "child")] {
                container[Plain.self] = thing("\(name) plain")
                container.set(Failing.self, to: thing("\(name) failing"))
                container.set(Suspending.self, to: thing("\(name) suspending"))
                container[key] = thing("\(name) key")
                container[Slot.self] = thing("\(name) property")
            }
            try await child.close()
            expect(ended.all.sorted(), equals: ["child failing", "child key", "child plain", "child suspending"])
            ended.removeAll()
            try await root.close()
            expect(ended.all.sorted(), equals: ["root failing", "root key", "root plain", "root suspending"])
            expect(root[Slot.self]?.name, equals: "root property")
            expect(child[Slot.self]?.name, equals: "child property")
            withExtendedLifetime(child) {}
        }
        // Closing refuses what was set, too: throwing kinds throw, and nothing is there.
        do {
            let container = Container()
            _ = container.logReports()
            container.set(Failing.self, to: Thing("set"))
            container.set(Suspending.self, to: Thing("set"))
            container[Plain.self] = Thing("set")
            try await container.close()
            expect(container.ifLoaded(Plain.self) == nil)
            expect(container.ifLoaded(Failing.self) == nil)
            #expect(throws: LoadError.self) { try container[Failing.self] }
            await #expect(throws: LoadError.self) { try await container[Suspending.self] }
            // What is set afterwards is given.
            container.set(Failing.self, to: Thing("again"))
            try expect(container[Failing.self].name, equals: "again")
        }
    }
}
