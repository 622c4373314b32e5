import Fugu
import FuguScopes
import Support
import Testing

@Suite("close() drains and then refuses (law 18)", .timeLimit(.minutes(5))) struct ClosingDrainsTests {}

extension ClosingDrainsTests {
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

    @Test("They are closed before what they need, also if others have loaded that since close() began (law 18)")
    func drainsLate() async throws {
        let container = Container().unreported
        let stage = container.stage
        let job = Task { try await container[Job.self] }
        await stage.gate("Job begun").opened()
        let closing = Task { try await container.close() }
        await container.untilClosing()
        _ = container[PlainNeed.self]
        stage.gate("Job").open()
        try await finishing {
            _ = try await job.value
            try await closing.value
        }
        expect(stage.log.all, equals: ["load PlainNeed", "load Need", "close Job", "close Need", "close PlainNeed"])
    }

    @Test("Loads begun before, also a child's, and what they need, finish first; others are refused (law 18)")
    func drains() async throws {
        // Loads begun before, and what they need, finish first; other loads are refused meanwhile.
        do {
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
            expect(
                stage.log.all, equals: ["load PlainNeed", "load Need", "close Job", "close Need", "close PlainNeed"])
        }
        // A child's loads finish first when the parent closes; what they need of the parent loads.
        do {
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
    }

    @Test("A waiter for a load that was begun before gets its result, or loads nothing if that is another's (law 18)")
    func waitersGetTheResult() async throws {
        // A waiter for a load that was begun before gets its result.
        do {
            let container = Container()
            let readers = (0..<8).map { _ in Task { try await container[Job.self] } }
            await container.untilWaiting(for: Job.self, 8)
            let closing = Task { try await container.close() }
            await container.untilClosing()
            container.stage.gate("Job").open()
            for reader in readers { try await expect(reader.value.name, equals: "Job") }
            try await closing.value
        }
        // A read begun before, whose load turns out to be another's, loads no more.
        do {
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
            let error = await #expect(throws: LoadError.self) { try await two.value }
            expect(error?.code, equals: .containerClosed)
            try await closing.value
            expect(stage.log.all, equals: ["close first"])
        }
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

    @Test("After closing, loads are refused with the place of the read and a fix; properties keep answering (law 18)")
    func refuses() async throws {
        let root = Container()
        let child = root.child()
        child[Tenant.self] = "child"
        try await root.close()
        for container in [root, child, root.child()] {
            let line: UInt = #line + 1
            let error = try #require(await #expect(throws: LoadError.self) { try await container[Late.self] })
            expect(error.path, equals: ["Late"])
            let place = "refuses() at FuguAsyncTests/ClosingDrainsTests.swift:\(line)"
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

    @Test("Instances are released after the last closer has run (law 18)")
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

    @Test("Closers of a draining server read properties and what is there, and load nothing new (law 18)")
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

    @Test("A closer that is registered through a handle after its load belongs to the container (law 18)")
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

    @Test("A container dropped without close() runs no closers, which debug builds report once (law 18)")
    func dropped() async throws {
        // A container dropped without close() runs no closers; debug builds report it once.
        do {
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
        // A container that was closed is dropped without a report.
        do {
            var container: Container? = Container()
            let reports = container!.logReports()
            _ = try await container![Need.self]
            try await container!.close()
            container = nil
            expect(reports.all, equals: [])
        }
    }

    @Test("What is added through a kept handle after the container's release is reported and not kept (law 18)")
    func addedAfterRelease() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        let handle = try await container![Keeper.self].handle
        try await container!.close()
        container = nil
        let gone = Counter()
        func add(_ kept: Witness) {
            handle.onClose { _ = kept }
            handle._container.configureScopes { _ in _ = kept }
        }
        add(Witness { gone.add() })
        expect(gone.value, equals: 1)
        let words = ["a teardown closure was added", "a rule for scopes was added"]
        expect(
            reports.all,
            equals: words.map {
                "Fugu: \($0) after its container was released; nothing happens.\nFix: keep the Container as long as features "
                    + "that captured it are used."
            })
    }
}

@Suite("A container dropped without close() runs no closers (law 18)", .timeLimit(.minutes(5)))
struct ClosingForgottenTests {}

extension ClosingForgottenTests {
    private typealias Source = ClosingLeaversTests.Source
    private typealias Reader = ClosingLeaversTests.Reader

    @Test("Not even those of an instance that left early and is only kept by what was loaded from it (law 18)")
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
        expect(reports.all.count, equals: 2)
        expect(reports.all.last?.contains("Reader"), equals: true)
        expect(reports.all.last?.contains("Source"), equals: true)
        #endif
    }

    @Test("Nor those of one that waits for the closers of what was loaded from it (law 18)")
    func keptByLeavers() async throws {
        var container: Container? = Container()
        let reports = container!.logReports()
        let (began, goesOn, log) = (Gate(), Gate(), Log<String>())
        let input = FeatureKey(id: "input") { handle in
            handle.onClose { log.add("input") }
            return 1
        }
        let dependent = FeatureKey(id: "dependent") { handle in
            _ = handle[input]
            handle.onClose {
                began.open()
                await goesOn.opened()
                log.add("dependent")
            }
            return 1
        }
        _ = container![dependent]
        container!.update {
            $0.reset { _ in input }
            $0.reset { _ in dependent }
        }
        await began.opened()
        container = nil
        goesOn.open()
        await expect(log.first(1), equals: ["dependent"])
        await giveOthersTime()
        expect(log.all, equals: ["dependent"])
        #if DEBUG
        expect(reports.all.count, equals: 1)
        #endif
    }

    struct Request: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing(container[Tenant.self], parts: [try await container[Source.self]])
        }
    }

    @Test("An instance that left the parent early is closed when the child that kept it is released (law 18)")
    func keptByAChild() async throws {
        let root = Container().unreported
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

    @Test(
        "Objects that its closers held are released without a lock: they may read another container of the family (law 3)"
    )
    func releasedOutsideTheLock() async throws {
        let root = Container().unreported
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

// Law 18: close() runs every closer. Outside a load, a closer belongs to the container and runs last.
@Suite("No closer is dropped (law 18)", .timeLimit(.minutes(5))) struct ClosingLateClosersTests {}

extension ClosingLateClosersTests {
    @Test(
        "What a closer registers with the container, by itself or in an instance, runs before close() returns (law 18)")
    func registeredByTheContainers() async throws {
        // A closer that a closer of the container registers runs before close() returns.
        do {
            let container = Container()
            let log = Log<String>()
            container.onClose { [unowned container] in
                log.add("first")
                container.onClose {
                    log.add("second")
                    container.onClose { log.add("third") }
                }
            }
            try await finishing { try await container.close() }
            expect(log.all, equals: ["first", "second", "third"])
        }
        // So is what an instance's closer registers with the container.
        do {
            let container = Container()
            let log = Log<String>()
            let key = FeatureKey { [unowned container] handle in
                handle.onClose {
                    log.add("instance")
                    container.onClose { log.add("registered") }
                }
                return 1
            }
            _ = container[key]
            container.onClose { log.add("container") }
            try await finishing { try await container.close() }
            expect(log.all.first == "instance" && log.all.count == 3, "\(log.all)")
            expect(Set(log.all), equals: ["instance", "container", "registered"])
        }
    }

    @Test("Of what threads register while the container closes, every closer has run after one more close() (law 18)")
    func registeredMeanwhile() async throws {
        for _ in 0..<60 {
            let container = Container().unreported
            let (registered, ran) = (Counter(), Counter())
            let threads = (0..<3).map { _ in
                startThread {
                    for _ in 0..<20 {
                        registered.add()
                        container.onClose { ran.add() }
                    }
                }
            }
            try await finishing { try await container.close() }
            for thread in threads { await thread.opened() }
            try await finishing { try await container.close() }
            expect(ran.value, equals: registered.value)
        }
    }

    @Test("Every closer of every instance has run, whatever was read, reset and closed meanwhile (law 18)")
    func everyCloser() async throws {
        struct Number: Property { static var defaultValue: Int { 0 } }
        let (opened, closed) = (Counter(), Log<Int>())
        let base = FeatureKey(home: .local) { handle in
            let number = opened.add()
            handle.onClose { closed.add(number) }
            return number
        }
        let top = FeatureKey { handle in
            _ = (handle[base], handle[Number.self])
            let number = opened.add()
            handle.onClose { closed.add(number) }
            return number
        }
        for round in 0..<30 {
            let root = Container()
            root.handleReports { _ in }
            let children = (0..<3).map { number in root.child { $0[Number.self] = number } }
            let threads = children.enumerated().map { number, child in
                startThread {
                    for step in 0..<40 {
                        _ = child[top]
                        if step % 3 == number { child.reset({ _ in base }) }
                        if step % 5 == number { root.reset({ _ in top }) }
                    }
                }
            }
            for thread in threads { await thread.opened() }
            try await finishing {
                async let first: Void = children[0].close()
                if round % 2 == 0 { try await children[1].close() }
                try await root.close()
                try await first
            }
            expect(closed.all.sorted(), equals: Array(1...opened.value), "round \(round)")
        }
    }
}

@Suite("A deadline bounds every closer (law 18)", .timeLimit(.minutes(5))) struct ClosingDeadlineTests {}

extension ClosingDeadlineTests {
    private typealias Files = ClosingTests.Files

    @Test("A deadline names each closer that exceeds it, cancels and leaves it; the others run (law 18)")
    func deadline() async throws {
        let container = Container()
        let stage = container.stage
        _ = container[Files.self]
        _ = try await container[Stuck.self]
        let error = try #require(
            await #expect(throws: CloseError.self) { try await container.close(deadline: .milliseconds(200)) })
        expect(error.failures.map(\.feature), equals: ["Stuck"])
        expect((error.failures[0].error as? CloseError)?.code, equals: .deadlineExceeded)
        expect(error.description.contains("within 0.2 seconds"))
        expect(error.description.contains("Stuck: didn't finish within"))
        expect(stage.log.all.contains("Files"))
        await stage.gate("Stuck is cancelled").opened()
    }

    struct Stuck: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose {
                defer { stage.gate("Stuck is cancelled").open() }
                try await Gate().openedUnlessCancelled()
            }
            return Thing("Stuck")
        }
    }

    @Test("Within its deadline a closer's own error is reported, and nothing else; no deadline is too long (law 18)")
    func deadlineKept() async throws {
        // Within its deadline a closer's own error is reported.
        do {
            let container = Container()
            container.onClose { throw Boom() }
            let error = try #require(
                await #expect(throws: CloseError.self) { try await container.close(deadline: .seconds(50)) })
            expect(error.failures.map { $0.error as? Boom }, equals: [Boom()])
        }
        // A deadline and an idle time may be longer than any clock can tell.
        do {
            let container = Container.program()
            let log = container.stage.log
            let children = container.children(by: Number.self, idleTime: .seconds(Int64.max))
            await children.withChild(for: 1) { $0.onClose { log.add("closed") } }
            try await finishing { try await container.close(deadline: .seconds(Int64.max)) }
            expect(log.all, equals: ["closed"])
        }
        // Within its deadline nothing is reported.
        do {
            let container = Container()
            let reports = try await left(container)
            let closing = Task { try await container.close(deadline: .seconds(50)) }
            await container.untilClosing()
            container.stage.gate("Slow").open()
            try await closing.value
            expect(reports.all, equals: [])
            expect(container.stage.log.all, equals: ["begin", "end", "first registered"])
        }
    }

    /// Its load goes on, although its readers have left, until the test lets it end.
    struct Stubborn: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("closed") }
            stage.tally("begun").add()
            await stage.gate("Stubborn").opened()
            return Thing("Stubborn")
        }
    }

    @Test("A load that exceeds the deadline is named, isn't kept, and what it opened is closed when it ends (law 18)")
    func loadExceedsDeadline() async throws {
        let root = Container()
        let container = root.child { $0[Number.self] = 1 }
        let stage = container.stage
        container.onClose { stage.log.add("container") }
        let reader = Task { try await container[Stubborn.self] }
        await stage.tally("begun").reaches(1)
        reader.cancel()
        let error = try #require(
            await #expect(throws: CloseError.self) {
                try await finishing { try await container.close(deadline: .milliseconds(200)) }
            })
        expect(error.failures.map(\.feature), equals: ["Stubborn"])
        expect((error.failures[0].error as? CloseError)?.code, equals: .deadlineExceeded)
        expect(stage.log.all, equals: ["container"])
        stage.gate("Stubborn").open()
        if case .success = await reader.result { Issue.record("the reader was canceled") }
        try await finishing { try await root.close() }
        expect(stage.log.all, equals: ["container", "closed"])
    }

    struct Number: Property { static var defaultValue: Int { 0 } }

    /// Its closers wait until the test lets them go on, or until they are cancelled.
    struct Slow: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("first registered") }
            container.onClose {
                stage.log.add("begin")
                do { try await stage.gate("Slow").openedUnlessCancelled() } catch {
                    stage.log.add("cancelled")
                    throw error
                }
                stage.log.add("end")
            }
            return Thing()
        }
    }

    private func left(_ container: Container) async throws -> Log<String> {
        let reports = container.logReports()
        _ = try await container[Slow.self]
        container.reset(Slow.self)
        await expect(container.stage.log.first(1), equals: ["begin"])
        return reports
    }

    @Test(
        "A closer of an instance that left early is ended by the deadline of whichever call waits, and named by a report (law 18)"
    )
    func leftEarly() async throws {
        // A closer of an instance that left early is cancelled, left to itself and named by a report.
        do {
            let container = Container()
            let reports = try await left(container)
            try await container.close(deadline: .milliseconds(200))
            expect(reports.all.count, equals: 1)
            expect(reports.all.first?.contains("Slow"), equals: true)
            expect(reports.all.first?.contains("didn't finish within 0.2 seconds"), equals: true)
            let log = await container.stage.log.first(3)
            expect(Set(log), equals: ["begin", "first registered", "cancelled"])
        }
        // Without a deadline it is waited for; another call's deadline bounds it, too.
        do {
            let root = Container()
            let reports = try await left(root)
            let patient = Task { try await root.close() }
            await root.untilClosing()
            try await root.close(deadline: .milliseconds(200))
            try await patient.value
            expect(reports.all.count, equals: 1)
        }
    }
}
