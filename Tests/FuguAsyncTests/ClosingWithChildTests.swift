import Fugu
import Support
import Testing

@Suite("withChild closes its child however its operation ends (law 18)", .timeLimit(.minutes(5)))
struct ClosingWithChildTests {}

extension ClosingWithChildTests {
    struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            container.onClose {
                stage.log.add("close \(tenant)")
                try stage.mayFail("close")
            }
            return Thing(tenant)
        }
    }

    @Test(
        "The child is configured, current while the operation runs, and closed at its end, or when its configuration throws (law 18)"
    )
    func returns() async throws {
        // The child is configured, current while the operation runs, and closed at its end.
        do {
            let root = Container().unreported
            let name = try await root.withChild {
                $0[Tenant.self] = "child"
            } operation: { child in
                expect(Container.current, is: child)
                let name = child[Session.self].name
                await Task.yield()
                root.stage.log.add("end of operation")
                return name
            }
            expect(name, equals: "child")
            expect(root.stage.log.all, equals: ["end of operation", "close child"])
            expect(root[Tenant.self], equals: "root")
            expect(root[Session.self].name, equals: "root")
        }
        // If the configuration throws, the operation does not run and the child is closed.
        do {
            let root = Container()
            let log = root.stage.log
            await #expect(throws: Boom("configuration")) {
                try await root.withChild {
                    $0.onClose { log.add("closed") }
                    throw Boom("configuration")
                } operation: { _ in
                    log.add("operation")
                }
            }
            expect(log.all, equals: ["closed"])
        }
    }

    @Test("It is closed when the operation throws, whose error is thrown, and when the task is cancelled (law 18)")
    func throwsTheError() async throws {
        // It is closed when the operation throws, whose error is thrown.
        do {
            let root = Container()
            let reports = root.logReports()
            await #expect(throws: Boom("operation")) {
                try await root.withChild {
                    _ = $0[Session.self]
                    throw Boom("operation")
                }
            }
            // It read nothing of the child's own, so the session lives in the root.
            expect(root.stage.log.all, equals: [])
            await #expect(throws: Boom("operation")) {
                try await root.withChild {
                    $0[Tenant.self] = "child"
                } operation: {
                    _ = $0[Session.self]
                    throw Boom("operation")
                }
            }
            expect(root.stage.log.all, equals: ["close child"])
            expect(reports.all.filter(isOfClosing), equals: [])
        }
        // It is closed when the task is cancelled.
        do {
            let root = Container()
            let began = Gate()
            let task = Task {
                try await root.withChild {
                    $0[Tenant.self] = "child"
                } operation: {
                    _ = $0[Session.self]
                    began.open()
                    try await Gate().openedUnlessCancelled()
                }
            }
            await began.opened()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            expect(root.stage.log.all, equals: ["close child"])
        }
    }

    @Test("A failure of the closing is thrown, or reported where the operation has thrown already (law 18)")
    func closingFails() async throws {
        let root = Container()
        let reports = root.logReports()
        root.stage.fail("close", times: 2)
        let error = try #require(
            await #expect(throws: CloseError.self) {
                try await root.withChild {
                    $0[Tenant.self] = "child"
                } operation: {
                    _ = $0[Session.self]
                }
            })
        expect(error.failures.map { $0.error as? Boom }, equals: [Boom("close")])
        expect(reports.all.filter(isOfClosing), equals: [])
        await #expect(throws: Boom("operation")) {
            try await root.withChild {
                $0[Tenant.self] = "child"
            } operation: {
                _ = $0[Session.self]
                throw Boom("operation")
            }
        }
        expect(reports.all.filter(isOfClosing).count, equals: 1)
        expect(
            reports.all.first(where: isOfClosing)?.contains(
                "closing the container of withChild failed, too, after its operation had thrown operation: "),
            equals: true)
        expect(reports.all.first(where: isOfClosing)?.contains("Session: close"), equals: true)
    }
}

/// Ignores reports of instances that are made again for a child, which have nothing to do with closing.
private func isOfClosing(_ report: String) -> Bool { !report.contains("loads again for a child container") }

// Law 18: a load that fails runs its own closers at once; an async one has awaited them before anyone is notified, so that
// the next try finds what they gave back.
@Suite("A failed load has given back before anybody is notified (law 18)", .timeLimit(.minutes(5)))
struct ClosingBeforeFailureTests {}

extension ClosingBeforeFailureTests {
    /// There is one of what it takes.
    struct Taking: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            guard stage.tally("taken").add() == 1 else {
                stage.tally("taken").add(-1)
                throw Boom("taken")
            }
            container.onClose {
                stage.tally("closing").add()
                await stage.gate("closer").opened()
                stage.tally("taken").add(-1)
                stage.log.add("given back")
            }
            try stage.mayFail("Taking")
            return Thing("taking")
        }
    }
    struct Needing: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            do {
                return Thing("needing", parts: [try await container[Taking.self]])
            } catch {
                container.stage.log.add("needing is notified")
                throw error
            }
        }
    }

    @Test(
        "All who wait for a failed load are notified when its closers have ended, and the next try finds what they gave back (laws 4 and 18)"
    )
    func reportedLast() async throws {
        // Its reader, its waiters and its dependents are notified when its closers have ended.
        do {
            let container = Container().unreported
            let stage = container.stage
            stage.fail("Taking")
            let readers = (0..<3).map { number in
                Task {
                    do {
                        _ = try await number == 2 ? container[Needing.self] : container[Taking.self]
                    } catch {
                        stage.log.add("thrown")
                        throw error
                    }
                }
            }
            await stage.tally("closing").reaches(1)
            await giveOthersTime()
            expect(stage.log.all, equals: [])
            stage.gate("closer").open()
            try await finishing { for reader in readers { _ = await reader.result } }
            expect(stage.log.all.first, equals: "given back")
            // A late reader may have loaded anew, with the resources that were given back.
            expect(stage.log.all.contains("thrown"))
        }
        // The next try finds what the closers gave back, at once and each time.
        do {
            let container = Container().unreported
            let stage = container.stage
            stage.gate("closer").open()
            stage.fail("Taking", times: 20)
            for _ in 0..<20 { await #expect(throws: Boom("Taking")) { try await container[Taking.self] } }
            try await expect(container[Taking.self].name, equals: "taking")
            expect(stage.log.count, equals: 20)
        }
    }

    @Test("Many who read again as soon as they are notified never meet what is still to be given back (laws 4 and 18)")
    func manyTries() async throws {
        let container = Container().unreported
        let stage = container.stage
        stage.gate("closer").open()
        stage.fail("Taking", times: 50)
        let errors = try await finishing {
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        var errors: [Boom] = []
                        while errors.count < 1_000 {
                            // Repeated attempts must not keep other tasks from running.
                            await Task.yield()
                            do {
                                _ = try await container[Taking.self]
                                return errors
                            } catch let error as Boom { errors.append(error) } catch { errors.append(Boom("\(error)")) }
                        }
                        return errors
                    }
                }
                return await group.reduce(into: [Boom]()) { $0 += $1 }
            }
        }
        expect(Set(errors.map(\.name)), equals: ["Taking"])
    }

    struct TakingAtOnce: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("closed") }
            throw Boom("at once")
        }
    }

    @Test(
        "A throwing load, which cannot wait, runs its closers at once, also those that come after its failure (law 18)")
    func throwing() async throws {
        // A throwing load, which cannot wait, runs its closers at once, before close() is over.
        do {
            let container = Container().unreported
            let log = container.stage.log
            #expect(throws: Boom("at once")) { try container[TakingAtOnce.self] }
            try await finishing { await expect(log.first(1), equals: ["closed"]) }
            try await finishing { try await container.close() }
            expect(log.all, equals: ["closed"])
        }
        // So are those that a closer of the failed load registers.
        do {
            let container = Container().unreported
            let stage = container.stage
            let reader = Task {
                await #expect(throws: Boom("more")) { try await container[TakingMore.self] }
                stage.log.add("thrown")
            }
            await stage.tally("registered").reaches(1)
            await giveOthersTime()
            expect(stage.log.all, equals: [])
            stage.gate("late closer").open()
            try await finishing { await reader.value }
            expect(stage.log.all, equals: ["given back", "thrown"])
        }
    }

    /// Its closer registers another one, which begins when the test lets it.
    struct TakingMore: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose {
                container.onClose {
                    await stage.gate("late closer").opened()
                    stage.log.add("given back")
                }
                stage.tally("registered").add()
            }
            throw Boom("more")
        }
    }

    @Test("A waiter that is cancelled while the closers run leaves at once, and they run on (laws 4 and 18)")
    func cancelledMeanwhile() async throws {
        let container = Container().unreported
        let stage = container.stage
        stage.fail("Taking")
        let reader = Task { try await container[Taking.self] }
        await stage.tally("closing").reaches(1)
        reader.cancel()
        stage.gate("closer").open()
        try await finishing { _ = await reader.result }
        try await finishing { await expect(stage.log.first(1), equals: ["given back"]) }
        try await expect(container[Taking.self].name, equals: "taking")
    }
}
