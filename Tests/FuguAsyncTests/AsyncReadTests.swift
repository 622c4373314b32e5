import Foundation
@testable import Fugu
import Support
import Testing

private struct Parsed: ThrowingFeature {
    let number: Int
    static func load(in container: any FeatureContainer) throws -> Parsed {
        guard let number = Int(container[Tenant.self]) else { throw Boom(container[Tenant.self]) }
        return Parsed(number: number)
    }
}
private struct Doubled: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Int { try container.parsed.number * 2 }
}

extension FeatureContainer {
    fileprivate var parsed: Parsed { get throws { try self[Parsed.self] } }
    fileprivate var doubled: Int { get async throws { try await self[Doubled.self] } }
}

/// How features that fail or suspend are read.
struct AccessorTests {}

extension AccessorTests {
    @Test("By accessors with effects, of containers and of the handles of loads")
    func accessors() async throws {
        let container = Container()
        await #expect(throws: Boom("root")) { try await container.doubled }
        container[Tenant.self] = "21"
        try expect(container.parsed.number, equals: 21)
        try await expect(container.doubled, equals: 42)
        let child = container.child { $0[Tenant.self] = "4" }
        try await expect(child.doubled, equals: 8)
    }

    /// The same read in a load of each of the two kinds.
    private func feature(_ kind: String, _ load: String) throws -> (isRight: Bool, output: String)? {
        try Compiler.check(
            """
            import Fugu
            struct Database: AsyncFeature {
                static func load(in container: any FeatureContainer) async throws -> Database { Database() }
            }
            struct Search: \(kind) {
                let database: Database
                static func load(in container: any FeatureContainer) \(load)
            }
            """)
    }

    @Test("A plain feature whose load needs an async one does not compile")
    func plainNeedsAsync() async throws {
        let right = try feature(
            "AsyncFeature", "async throws -> Search { Search(database: try await container[Database.self]) }")
        let wrong = [
            try feature("Feature", "-> Search { Search(database: container[Database.self]) }"),
            try feature("Feature", "async throws -> Search { Search(database: try await container[Database.self]) }"),
            try feature("ThrowingFeature", "throws -> Search { Search(database: try container[Database.self]) }"),
        ]
        guard let right else { return print("skipped: no compiler or no module Fugu was found") }
        expect(right.isRight, "\(right.output)")
        for wrong in wrong {
            let wrong = try #require(wrong)
            expect(!wrong.isRight && wrong.output.contains("async"), "\(wrong.output)")
        }
    }
}

@Suite("A load that does not suspend is done without a hop (laws 3, 4 and 5)", .timeLimit(.minutes(5)))
struct LoadAtOnceTests {}

extension LoadAtOnceTests {
    /// Notes on which thread it was loaded and how long its way was.
    struct Quick: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> UInt {
            container.stage.tally("Quick").add()
            try container.stage.mayFail("Quick")
            return currentThread
        }
    }
    struct Slow: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.gate("Slow begun").open()
            try await container.stage.gate("Slow").openedUnlessCancelled()
            return Thing("Slow")
        }
    }

    @Test("It runs on the reader's thread, in a separate task, and the reader does not suspend (law 3)")
    func runsHere() async throws {
        let container = Container()
        let done = Gate()
        // Runs up to the first suspension before it returns.
        let task = Task.immediate {
            let here = currentThread
            let there = try await container[Quick.self]
            expect(there, equals: here)
            done.open()
        }
        expect(done.isOpen)
        try await task.value
        expect(container.stage.tally("Quick").value, equals: 1)
        expect(container.loadsUnderWay, equals: 0)
    }

    @Test("It does not run on the actor of its reader (law 8)")
    @MainActor func notOnAnActor() async throws {
        let here = currentThread
        let there = try await Container()[Quick.self]
        expect(here != there)
    }

    @Test("Its error, or the path of a cycle, reaches its reader, and the next read tries again (laws 4, 5)")
    func fails() async throws {
        // Its error reaches its reader, and the next read tries again.
        do {
            let container = Container()
            container.stage.fail("Quick")
            await #expect(throws: Boom("Quick")) { try await container[Quick.self] }
            _ = try await container[Quick.self]
            expect(container.stage.tally("Quick").value, equals: 2)
        }
        // A cycle of loads that all run here is found, with the path.
        do {
            let error = try #require(await #expect(throws: LoadError.self) { try await Container()[Round.self] })
            expect(error.path, equals: ["Round", "Trip", "Round"])
        }
    }

    struct Upper: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> UInt {
            _ = container[Tenant.self]
            return try await container[Quick.self]
        }
    }

    @Test("It is an input of the load that needs it, and both are kept where they belong (laws 10 and 11)")
    func inputs() async throws {
        let container = Container()
        _ = try await container[Upper.self]
        let child = container.child { $0.set(Quick.self, to: 7) }
        try await expect(child[Upper.self], equals: 7)
        expect(container.stage.tally("Quick").value, equals: 1)
    }

    @Test("It suspends when it must: who is cancelled is released alone, and the last one cancels it (law 4)")
    func suspends() async throws {
        // It suspends as before when it must: the thread is free, and who is cancelled is released alone.
        do {
            let container = Container()
            let began = Gate()
            let task = Task.immediate {
                defer { began.open() }
                return try await container[Slow.self]
            }
            expect(container.stage.gate("Slow begun").isOpen)
            expect(!began.isOpen)
            let other = Task { try await container[Slow.self] }
            await container.untilWaiting(for: Slow.self, 2)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            container.stage.gate("Slow").open()
            try await expect(other.value.name, equals: "Slow")
        }
        // Cancelling its only waiter cancels it, and the next reader begins a new one.
        do {
            let container = Container()
            let task = Task.immediate { try await container[Slow.self] }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            container.stage.gate("Slow").open()
            try await expect(container[Slow.self].name, equals: "Slow")
        }
    }

    struct Round: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Trip.self] }
    }
    struct Trip: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            async let round = container[Round.self]
            return try await round
        }
    }

    /// Needs another one.
    struct Next<Need: AsyncFeature>: AsyncFeature where Need.Instance == Int {
        static func load(in container: any FeatureContainer) async throws -> Int { try await container[Need.self] + 1 }
    }
    struct Bottom: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 0 }
    }

    private func read<F: AsyncFeature>(_: F.Type, after steps: Int, in container: Container) async throws -> Int
    where F.Instance == Int {
        if steps == 0 { return try await container[F.self] }
        return try await read(Next<F>.self, after: steps - 1, in: container)
    }

    @Test("A way of 90 loads, each begun by the one before, fits a small stack (laws 5 and 20)")
    func longWay() async throws {
        let result = try await finishing(stackSize: 512 << 10) {
            let result = Locked<Int?>(nil)
            let done = DispatchSemaphore(value: 0)
            _ = Task.immediate {
                let count = try await read(Bottom.self, after: 89, in: Container())
                result.withLock { $0 = count }
                done.signal()
            }
            done.wait()
            return result.withLock { $0 }
        }
        expect(result, equals: 89)
    }
}

private var currentThread: UInt {
    #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
    #else
    UInt(pthread_self())
    #endif
}
