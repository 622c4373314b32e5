import Fugu
import Support
import Testing

/// How a kind of feature is read, of which one opens a pool with the password.
enum PoolKind: CaseIterable, Sendable {
    case plain, throwing, async

    func read(_ container: Container) async throws -> Thing {
        switch self {
        case .plain: container[PlainPool.self]
        case .throwing: try container[ThrowingPool.self]
        case .async: try await container[AsyncPool.self]
        }
    }
}

private enum Password: Property { static var defaultValue: String { "one" } }

private enum PlainPool: Feature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) -> Thing { openPool(in: container) }
}
private enum ThrowingPool: ThrowingFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) throws -> Thing { openPool(in: container) }
}
private enum AsyncPool: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { true }
    static func load(in container: any FeatureContainer) async throws -> Thing {
        await Task.yield()
        return openPool(in: container)
    }
}

private func openPool(in container: any FeatureContainer) -> Thing {
    let (log, password, tenant) = (container.stage.log, container[Password.self], container[Tenant.self])
    let name = tenant == "root" ? password : "\(password) of \(tenant)"
    container.onClose { log.add("close \(name)") }
    return Thing(name)
}

@Suite("What an operation has read stays open until it ends (law 18)", .timeLimit(.minutes(5)))
struct ClosingOperationTests {}

extension ClosingOperationTests {
    @Test("A pool that reloads stays open for the operation that has read it, and is closed once afterward (law 18)")
    func reloaded() async throws {
        for kind in PoolKind.allCases {
            let root = Container()
            let log = root.stage.log
            try await root.withChild { request in
                try await expect(kind.read(request).name, equals: "one")
                root[Password.self] = "two"
                try await expect(kind.read(root).name, equals: "two")
                await root.untilClosersRan()
                await giveOthersTime()
                log.add("end of \(kind)")
            }
            try await finishing { await expect(log.first(2), equals: ["end of \(kind)", "close one"]) }
            try await root.close()
            expect(log.all, equals: ["end of \(kind)", "close one", "close two"])
        }
    }

    @Test("It stays open however the read reached it: in a load, warm, or in the task of another reader (law 18)")
    func otherWays() async throws {
        struct Service: Feature {
            static func load(in container: any FeatureContainer) -> Thing { container[PlainPool.self] }
        }
        let root = Container().unreported
        let log = root.stage.log
        _ = root[PlainPool.self]
        try await root.withChild { request in
            let child = request.child()
            expect(await Task { Container.current[PlainPool.self].name }.value, equals: "one")
            root[Password.self] = "two"
            expect(child[Service.self].name, equals: "two")
            root[Password.self] = "three"
            root.reset(Service.self)
            expect(child[PlainPool.self].name, equals: "three")
            root.reset(PlainPool.self)
            await giveOthersTime()
            log.add("end")
        }
        try await finishing { _ = await log.first(4) }
        expect(log.all.first, equals: "end")
        expect(log.all.sorted(), equals: ["close one", "close three", "close two", "end"])
    }

    @Test("A long operation, which reads in a child for each message, keeps each replaced pool (law 18)")
    func socket() async throws {
        for kind in PoolKind.allCases {
            let root = Container()
            let log = root.stage.log
            try await root.withChild { socket in
                for number in 1...3 {
                    root[Password.self] = "\(number)"
                    for _ in 0..<3 {
                        let message = socket.child()
                        try await expect(kind.read(message).name, equals: "\(number)")
                        try await message.close()
                    }
                }
                root[Password.self] = "4"
                _ = try await kind.read(root)
                await root.untilClosersRan()
                await giveOthersTime()
                log.add("end")
                expect(socket.keptReads, equals: 3)
            }
            try await finishing { _ = await log.first(4) }
            try await root.close()
            expect(log.all.first, equals: "end")
            expect(log.all.sorted(), equals: ["close 1", "close 2", "close 3", "close 4", "end"])
        }
    }

    @Test(
        "What the operation has of its own stays open, and what belongs to a container below until that one is closed (law 18)"
    )
    func own() async throws {
        // What the operation has of its own stays open, too, if a change above replaces it.
        do {
            for kind in PoolKind.allCases {
                let root = Container().unreported
                let log = root.stage.log
                try await root.withChild {
                    $0[Tenant.self] = "request"
                } operation: { request in
                    try await expect(kind.read(request).name, equals: "one of request")
                    root[Password.self] = "two"
                    try await expect(kind.read(request).name, equals: "two of request")
                    await root.untilClosersRan()
                    await giveOthersTime()
                    log.add("end")
                }
                expect(log.all, equals: ["end", "close two of request", "close one of request"])
            }
        }
        // What belongs to a container below the operation's stays open until that one is closed.
        do {
            for kind in PoolKind.allCases {
                let root = Container().unreported
                let log = root.stage.log
                try await root.withChild { socket in
                    let message = socket.child { $0[Tenant.self] = "message" }
                    _ = try await kind.read(message)
                    root[Password.self] = "two"
                    _ = try await kind.read(message)
                    await root.untilClosersRan()
                    await giveOthersTime()
                    log.add("end of message")
                    try await message.close()
                    log.add("end")
                    expect(socket.keptReads, equals: 0)
                }
                expect(log.all, equals: ["end of message", "close two of message", "close one of message", "end"])
            }
        }
    }

    @Test("A pool that is reset while the operation waits for it is handed over open (laws 4 and 18)")
    func resetDuringLoad() async throws {
        struct Slow: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Thing {
                let stage = container.stage
                let number = stage.tally("Slow").add()
                container.onClose { stage.log.add("close \(number)") }
                if number == 1 { await stage.gate("Slow").opened() }
                return Thing("\(number)")
            }
        }
        for isFirst in [true, false] {
            let root = Container()
            let (stage, log) = (root.stage, root.stage.log)
            let other = isFirst ? nil : Task { try await root[Slow.self] }
            if !isFirst { await root.untilWaiting(for: Slow.self, 1) }
            try await root.withChild { request in
                let reader = Task { try await request[Slow.self] }
                await root.untilWaiting(for: Slow.self, isFirst ? 1 : 2)
                root.reset(Slow.self)
                stage.gate("Slow").open()
                try await expect(reader.value.name, equals: "1")
                _ = try await other?.value
                await giveOthersTime()
                log.add("end")
            }
            try await finishing { await expect(log.first(2), equals: ["end", "close 1"]) }
        }
    }

    @Test("A root that closes while operations keep what it has replaced runs each closure once (law 18)")
    func rootCloses() async throws {
        let root = Container().unreported
        let log = root.stage.log
        try await root.withChild { first in
            try await root.withChild { second in
                _ = (first[PlainPool.self], second[PlainPool.self])
                root[Password.self] = "two"
                _ = second[PlainPool.self]
                try await root.close()
                expect(log.all, equals: ["close two", "close one"])
            }
        }
        await giveOthersTime()
        expect(log.all, equals: ["close two", "close one"])
    }

    @Test("Without withChild, a replaced pool is closed at once; after it, a kept child keeps nothing (law 18)")
    func withoutOperation() async throws {
        let root = Container().unreported
        let log = root.stage.log
        let child = root.child()
        _ = child[PlainPool.self]
        root[Password.self] = "two"
        _ = child[PlainPool.self]
        try await finishing { await expect(log.first(1), equals: ["close one"]) }
        let ended = try await root.withChild { request in request }
        _ = ended[PlainPool.self]
        root[Password.self] = "three"
        _ = root[PlainPool.self]
        try await finishing { await expect(log.first(2), equals: ["close one", "close two"]) }
    }
}

// MARK: - Loads without end

/// Goes on until it's canceled.
private enum Endless: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Thing { try await wait(in: container) }
}
private enum SharedEndless: AsyncFeature {
    static var home: Home { .shared }
    static func load(in container: any FeatureContainer) async throws -> Thing { try await wait(in: container) }
}
private func wait(in container: any FeatureContainer) async throws -> Thing {
    let stage = container.stage
    stage.tally("begun").add()
    do { try await stage.gate("Endless").openedUnlessCancelled() } catch {
        stage.log.add("canceled")
        throw error
    }
    return Thing("Endless")
}
private enum NeedsEndless: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Endless.self] }
}
@Suite("Readers hold up neither the end of an operation nor a deadline (law 18)", .timeLimit(.minutes(5)))
struct ClosingEndlessTests {}

extension ClosingEndlessTests {
    private func isClosed(_ result: Result<Thing, any Error>) -> Bool {
        if case .failure(let error as LoadError) = result { error.code == .containerClosed } else { false }
    }

    @Test(
        "After the deadline of an operation, what still waits in its child gets the error of a closed container (law 18)"
    )
    func operationEnds() async throws {
        for (isThrown, isNeeded, isDeep) in [
            (false, false, false), (true, false, false), (false, true, false), (true, true, true), (false, false, true),
        ] {
            let root = Container().unreported
            let stage = root.stage
            let readers = Log<Task<Thing, any Error>>()
            do {
                try await finishing {
                    try await root.withChild(deadline: .milliseconds(1)) { request in
                        let child = isDeep ? request.child() : request
                        readers.add(
                            Task { try await isNeeded ? child[NeedsEndless.self] : child[Endless.self] })
                        await stage.tally("begun").reaches(1)
                        await root.untilWaiting(for: Endless.self, 1)
                        if isThrown { throw Boom("operation") }
                    }
                }
                Issue.record("no error")
            } catch let error as CloseError {
                expect(isThrown, equals: false)
                expect((error.failures.first?.error as? CloseError)?.code, equals: .deadlineExceeded)
            } catch { expect(error as? Boom, equals: Boom("operation")) }
            let result = try await finishing { await readers.all[0].result }
            expect(isClosed(result))
            try await finishing { await expect(stage.log.first(1), equals: ["canceled"]) }
            expect(root.loadsUnderWay, equals: 0)
        }
    }

    @Test("A load that nobody awaits yet at the deadline is canceled, too, with what it has begun to load (law 18)")
    func notYetAwaited() async throws {
        struct Blocking: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Thing {
                async let endless = container[Endless.self]
                // It runs on its reader's thread, which is none of the pool, until it suspends: the reader doesn't wait before that.
                container.stage.gate("Blocking").wait()
                return try await endless
            }
        }
        let root = Container().unreported
        let (stage, readers) = (root.stage, Log<Task<Result<Thing, any Error>, Never>>())
        _ = try? await finishing {
            try await root.withChild(deadline: .milliseconds(1)) { request in
                startThread {
                    readers.add(
                        startAtOnce {
                            do { return .success(try await request[Blocking.self]) } catch { return .failure(error) }
                        })
                }
                await root.untilWaiting(for: Endless.self, 1)
            }
        }
        // The load that was canceled is looked at again, for one that began before the closing.
        await stage.tally("begun").reaches(2)
        stage.gate("Blocking").open()
        let result = try await finishing { await readers.first(1)[0].value }
        expect(isClosed(result), "\(result)")
        while root.loadsUnderWay > 0 { await Task.yield() }
    }

    @Test(
        "An operation's end waits for no load of another container, and its readers get what that gives (laws 4 and 18)"
    )
    func otherReaders() async throws {
        let root = Container()
        let stage = root.stage
        let other = Task { try await root[NeedsEndless.self] }
        await root.untilWaiting(for: Endless.self, 1)
        let readers = Log<Task<Thing, any Error>>()
        try await finishing {
            try await root.withChild { request in
                readers.add(Task { try await request[NeedsEndless.self] })
                readers.add(Task { try await request[Endless.self] })
                await root.untilWaiting(for: Endless.self, 2)
                await root.untilWaiting(for: NeedsEndless.self, 2)
            }
        }
        expect(stage.log.all, equals: [])
        stage.gate("Endless").open()
        for reader in readers.all + [other] { try await expect(reader.value.name, equals: "Endless") }
    }

    @Test("A load that others share, begun by an operation that has ended, finishes first (laws 4 and 18)")
    func sharedLoad() async throws {
        let root = Container()
        let stage = root.stage
        let operation = Task {
            try await root.withChild { request in
                let own = Task { try await request[Endless.self] }
                await root.untilWaiting(for: Endless.self, 1)
                let others = Task { try await root[Endless.self] }
                await root.untilWaiting(for: Endless.self, 2)
                return (own, others)
            }
        }
        while root.loadsUnderWay == 0 { await Task.yield() }
        await root.untilWaiting(for: Endless.self, 1)
        try await finishing { await stage.tally("begun").reaches(1) }
        await giveOthersTime()
        stage.gate("Endless").open()
        let (reader, other) = try await finishing { try await operation.value }
        try await expect(reader.value.name, equals: "Endless")
        try await expect(other.value.name, equals: "Endless")
        expect(stage.log.all, equals: [])
    }

    @Test("At its deadline, a closing cancels what it abandons, and its readers get the error (law 18)")
    func deadline() async throws {
        for isNeeded in [false, true] {
            let root = Container().unreported
            let child = root.child()
            let stage = root.stage
            let readers = (0..<3).map { number in
                Task {
                    let container = number == 0 ? root : child
                    return try await isNeeded ? container[NeedsEndless.self] : container[Endless.self]
                }
            }
            if isNeeded {
                await root.untilWaiting(for: NeedsEndless.self, 3)
                await root.untilWaiting(for: Endless.self, 1)
            } else {
                await root.untilWaiting(for: Endless.self, 3)
            }
            await stage.tally("begun").reaches(1)
            let error = await #expect(throws: CloseError.self) { try await root.close(deadline: .milliseconds(1)) }
            expect(error?.failures.contains { ($0.error as? CloseError)?.code == .deadlineExceeded }, equals: true)
            for reader in readers { expect(isClosed(try await finishing { await reader.result })) }
            try await finishing { await expect(stage.log.first(1), equals: ["canceled"]) }
            while root.loadsUnderWay > 0 { await Task.yield() }
            try await root.close()
        }
    }

    @Test("A child doesn't wait for a load that a declared home requests, and its reader gets what that gives (law 18)")
    func loadElsewhere() async throws {
        for deadline in [nil, Duration.milliseconds(1)] {
            let root = Container()
            let (child, stage) = (root.child(), root.stage)
            let reader = Task { try await child[SharedEndless.self] }
            await root.untilWaiting(for: SharedEndless.self, 1)
            try await finishing { try await child.close(deadline: deadline) }
            stage.gate("Endless").open()
            try await expect(reader.value.name, equals: "Endless")
            expect(stage.log.all, equals: [])
        }
    }

    @Test("Without a deadline, close() waits for loads and their readers, in withChild, too (law 18)")
    func withoutDeadline() async throws {
        let root = Container()
        let stage = root.stage
        try await finishing {
            try await root.withChild { request in
                let reader = Task { try await request[NeedsEndless.self] }
                await root.untilWaiting(for: Endless.self, 1)
                let closing = Task { try await request.close() }
                await request.untilClosing()
                await giveOthersTime()
                stage.gate("Endless").open()
                try await expect(reader.value.name, equals: "Endless")
                try await closing.value
            }
        }
        expect(stage.log.all, equals: [])
    }
}
