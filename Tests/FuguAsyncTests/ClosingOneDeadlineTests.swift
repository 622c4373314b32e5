import Fugu
import FuguScopes
import Support
import Testing

/// How a kind of feature is read, of which each registers a closer that hangs until it's canceled.
private enum Hanging: CaseIterable, Sendable {
    case plain, throwing, async, mainActor

    func read(_ container: Container) async throws {
        switch self {
        case .plain: _ = container[Plain.self]
        case .throwing: _ = try container[Throwing.self]
        case .async: _ = try await container[Async.self]
        case .mainActor: _ = await container[OnMain.self]
        }
    }

    private enum Plain: Feature {
        static func load(in container: any FeatureContainer) -> Thing { hang(in: container) }
    }
    private enum Throwing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { hang(in: container) }
    }
    private enum Async: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { hang(in: container) }
    }
    private enum OnMain: MainActorFeature {
        @MainActor static func load(in container: any FeatureContainer) -> Thing { hang(in: container) }
    }
}

private func hang(in container: any FeatureContainer) -> Thing {
    let (stage, name) = (container.stage, container[Tenant.self])
    container.onClose { stage.log.add("\(name)'s first") }
    container.onClose { try await hang(stage, name) }
    return Thing(name)
}

private func hang(_ stage: Stage, _ name: String) async throws {
    stage.tally("hang").add()
    do { try await Gate().openedUnlessCancelled() } catch {
        stage.log.add("\(name) canceled")
        stage.tally("canceled").add()
        throw error
    }
}

@Suite("A deadline is one moment, and the caller's (law 18)", .timeLimit(.minutes(1))) struct ClosingOneDeadlineTests {}

extension ClosingOneDeadlineTests {
    private func isExceeded(_ error: (any Error)?) -> Bool { (error as? CloseError)?.code == .deadlineExceeded }
    private func areExceeded(_ error: CloseError?) -> Bool {
        error.map { !$0.failures.isEmpty && $0.failures.allSatisfy { isExceeded($0.error) } } ?? false
    }
    /// Closes a container, which must end in time, and returns the error.
    private func close(_ container: Container, _ deadline: Duration? = .milliseconds(20)) async throws -> CloseError? {
        try await finishing {
            do { try await container.close(deadline: deadline) } catch { return error as? CloseError }
            return nil
        }
    }

    /// Runs `body` in a child of a child, and so on, each with a tenant of its own.
    private func nest(
        _ depth: Int, in container: Container, _ body: @escaping @Sendable (Container) async throws -> Void
    ) async throws {
        try await container.withChild {
            $0[Tenant.self] = "\(depth)"
        } operation: { child in
            if depth == 1 { try await body(child) } else { try await nest(depth - 1, in: child, body) }
        }
    }

    @Test("It ends a closure that an ended operation runs, one to three operations deep, for each kind (law 18)")
    func operations() async throws {
        for kind in Hanging.allCases {
            for depth in 1...3 {
                let app = Container().unreported
                let (stage, middle) = (app.stage, app.child { $0[Tenant.self] = "middle" })
                let request = Task { try await nest(depth, in: middle) { try await kind.read($0) } }
                await stage.tally("hang").reaches(1)
                let error = try await close(app)
                expect(error == nil, "\(error.map { "\($0)" } ?? "")")
                let result = try await finishing { await request.result }
                if case .failure(let error) = result {
                    expect(areExceeded(error as? CloseError))
                } else {
                    Issue.record("the operation's closing threw nothing")
                }
                await stage.tally("canceled").reaches(1)
                await expect(stage.log.first(2).sorted(), equals: ["1 canceled", "1's first"])
            }
        }
    }

    @Test("It ends one that a child's close() runs, or a call whose deadline is longer, or the parent's (law 18)")
    func otherCalls() async throws {
        for kind in Hanging.allCases {
            for other in 0..<3 {
                let app = Container().unreported
                let (stage, child) = (app.stage, app.child { $0[Tenant.self] = "child" })
                try await kind.read(child)
                let first = Task {
                    switch other {
                    case 0: try await close(child, nil)
                    case 1: try await close(app, .seconds(3_600))
                    default: try await close(app, nil)
                    }
                }
                await stage.tally("hang").reaches(1)
                try await expect(close(other == 2 ? child : app) == nil)
                try await expect(areExceeded(first.value))
                await stage.tally("canceled").reaches(1)
                await expect(stage.log.first(2).sorted(), equals: ["child canceled", "child's first"])
            }
        }
    }

    @Test("It ends one that a closing of another family runs, and one that waits for another family's (law 18)")
    func otherFamilies() async throws {
        for isWithin in [true, false] {
            let (app, other) = (Container().unreported, Container().unreported)
            let stage = app.stage
            (isWithin ? app : other).onClose { try await hang(stage, "hanging") }
            (isWithin ? other : app).onClose { try await (isWithin ? app : other).close() }
            let first = isWithin ? Task { try await close(other, nil) } : nil
            if isWithin { await stage.tally("hang").reaches(1) }
            let error = try await close(app)
            if let first {
                expect(error == nil)
                let inner = try await first.value?.failures.first?.error as? CloseError
                expect(areExceeded(inner))
                expect(stage.log.all.contains("hanging canceled"))
            } else {
                // What runs in other containers isn't the caller's.
                expect(areExceeded(error))
                await stage.tally("hang").reaches(1)
                expect(stage.log.all, equals: [])
                try await expect(close(other) == nil)
            }
            await stage.tally("canceled").reaches(1)
        }
    }

    @Test(
        "Closures that hang take one deadline together, and one that does not suspend has run before the call returns (law 18)"
    )
    func together() async throws {
        // Ten closures that hang take one deadline together; those after it are canceled from the start.
        do {
            let app = Container()
            let canceled = Log<Bool>()
            for number in 0..<10 {
                let key = FeatureKey(id: number) { handle in
                    handle.onClose {
                        canceled.add(Task.isCancelled)
                        try await Gate().openedUnlessCancelled()
                    }
                    return number
                }
                _ = app[key]
            }
            let error = try await close(app)
            expect(error?.failures.count, equals: 10)
            expect(areExceeded(error))
            expect(canceled.all, equals: [false] + Array(repeating: true, count: 9))
        }
        // A closure that doesn't suspend has run before the call returns, also after the deadline.
        do {
            let (app, log) = (Container(), Log<String>())
            let child = app.child()
            app.onClose { log.add("root") }
            child.onClose { throw Boom("late") }
            child.onClose { log.add("child") }
            let below = child.child()
            below.onClose { try await Gate().openedUnlessCancelled() }
            let error = try await close(app)
            expect(error?.failures.count, equals: 2)
            expect(isExceeded(error?.failures.first?.error))
            expect(error?.failures.last?.error as? Boom, equals: Boom("late"))
            expect(log.all, equals: ["child", "root"])
        }
    }

    @Test("A replaced instance's closures that hang are ended with the rest, and the next call has time again (law 18)")
    func replaced() async throws {
        for kind in Hanging.allCases {
            let app = Container()
            let (stage, reports, goesOn) = (app.stage, app.logReports(), Gate())
            try await kind.read(app)
            app.resetAll()
            await stage.tally("hang").reaches(1)
            try await expect(close(app) == nil)
            expect(reports.all.count, equals: 1)
            expect(reports.all.first?.contains("didn't finish within 0.02 seconds"), equals: true)
            app.onClose {
                await goesOn.opened()
                stage.log.add(Task.isCancelled ? "canceled" : "closed")
            }
            let second = Task { try await close(app, nil) }
            await giveOthersTime()
            goesOn.open()
            try await expect(second.value == nil)
            expect(stage.log.all.last, equals: "closed")
        }
    }

    @Test("It ends a closure in a child by key, which an operation there or an eviction closes (law 18)")
    func childrenByKey() async throws {
        for kind in Hanging.allCases {
            for isEvicted in [true, false] {
                let app = Container().unreported
                let (stage, tenants) = (app.stage, app.children(by: Tenant.self))
                let request = Task {
                    await tenants.withChild(for: "acme") { inner in
                        if !isEvicted { inner[Tenant.self] = "inner" }
                        do { try await kind.read(inner) } catch { Issue.record(error) }
                    }
                    if isEvicted { await tenants.evictAll() }
                }
                await stage.tally("hang").reaches(1)
                _ = try await close(app)
                try await finishing { await request.value }
                await stage.tally("canceled").reaches(1)
            }
        }
    }

    @Test("withChild has a deadline of its own for its closing, however its operation ends (law 18)")
    func ofOperation() async throws {
        for kind in Hanging.allCases {
            for isThrown in [false, true] {
                let app = Container()
                let (stage, reports) = (app.stage, app.logReports())
                let error = try await finishing { () -> (any Error)? in
                    do {
                        try await app.withChild(deadline: .milliseconds(20)) {
                            $0[Tenant.self] = "request"
                        } operation: { request in
                            try await kind.read(request)
                            if isThrown { throw Boom("operation") }
                        }
                    } catch { return error }
                    return nil
                }
                if isThrown {
                    expect(error as? Boom, equals: Boom("operation"))
                } else {
                    expect(areExceeded(error as? CloseError))
                }
                expect(
                    reports.all.contains { $0.contains("closing the container of withChild failed") }, equals: isThrown)
                await expect(stage.log.first(2).sorted(), equals: ["request canceled", "request's first"])
            }
        }
    }

    @Test("A deadline bounds the wait for a load that another closing awaits, too, which then goes on (law 18)")
    func loadOfAnother() async throws {
        struct Stubborn: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Thing {
                let stage = container.stage
                container.onClose { stage.log.add("closed") }
                stage.tally("begun").add()
                await stage.gate("Stubborn").opened()
                return Thing(container[Tenant.self])
            }
        }
        let app = Container().unreported
        let (stage, child) = (app.stage, app.child { $0[Tenant.self] = "child" })
        let reader = Task { try await child[Stubborn.self] }
        await stage.tally("begun").reaches(1)
        let first = Task { try await close(app, nil) }
        await app.untilClosing()
        let error = try await close(child)
        expect(error?.failures.map(\.feature), equals: ["Stubborn"])
        expect(areExceeded(error))
        try await expect(areExceeded(first.value))
        stage.gate("Stubborn").open()
        _ = await reader.result
        await expect(stage.log.first(1), equals: ["closed"])
    }
    @Test("No later call waits for a load that was given up, whose closures begin canceled, also if it fails (law 18)")
    func givenUp() async throws {
        struct Late: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Thing {
                let stage = container.stage
                container.onClose { stage.log.add(Task.isCancelled ? "canceled" : "not canceled") }
                stage.tally("begun").add()
                await stage.gate("Late").opened()
                if container[Tenant.self] == "fails" { throw CancellationError() }
                return Thing()
            }
        }
        for outcome in ["fails", "succeeds"] {
            let app = Container().unreported
            app[Tenant.self] = outcome
            let reader = Task { try await app[Late.self] }
            await app.stage.tally("begun").reaches(1)
            try await expect(areExceeded(close(app)))
            try await expect(close(app, nil) == nil)
            app.stage.gate("Late").open()
            _ = await reader.result
            await expect(app.stage.log.first(1), equals: ["canceled"])
        }
    }
}
