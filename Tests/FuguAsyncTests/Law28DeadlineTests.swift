import Fugu
import FuguKeyedChildren
import Support
import Testing

@Suite("A deadline bounds every closer (law 28)", .timeLimit(.minutes(5))) struct Law28DeadlineTests {
    static let cases: [Case<Law28DeadlineTests>] = [
        Case("A deadline names each closer that exceeds it, cancels and leaves it; the others run (law 28)", deadline),
        Case("Within its deadline a closer's own error is reported (law 28)", deadlineKept),
        Case(
            "A load that exceeds the deadline is named, isn't kept, and what it opened is closed when it ends (law 28)",
            loadExceedsDeadline),
        Case(
            "A closer of an instance that left early is cancelled, left to itself and named by a report (law 28)",
            leftEarly),
        Case("Without a deadline it is waited for; another call's deadline bounds it, too (law 28)", anotherCall),
        Case("Within its deadline nothing is reported (law 28)", inTime),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28DeadlineTests>) async throws {
        try await stated.run(self)
    }

    private typealias Files = Law28ClosingTests.Files

    func deadline() async throws {
        let container = Container()
        let stage = container.stage
        _ = container[Files.self]
        _ = try await container[Stuck.self]
        let error = try #require(
            await #expect(throws: CloseError.self) { try await container.close(deadline: .milliseconds(20)) })
        expect(error.failures.map(\.feature), equals: ["Stuck"])
        expect((error.failures[0].error as? CloseError)?.code, equals: .deadlineExceeded)
        expect(error.description.contains("within 0.02 seconds"))
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

    func deadlineKept() async throws {
        let container = Container()
        container.onClose { throw Boom() }
        let error = try #require(
            await #expect(throws: CloseError.self) { try await container.close(deadline: .seconds(50)) })
        expect(error.failures.map { $0.error as? Boom }, equals: [Boom()])
    }

    @Test("A deadline and an idle time may be longer than any clock can tell (law 28)")
    func endless() async throws {
        let container = Container()
        let log = container.stage.log
        let children = container.children(by: Number.self, idleTime: .seconds(Int64.max))
        await children.withChild(for: 1) { $0.onClose { log.add("closed") } }
        try await finishing { try await container.close(deadline: .seconds(Int64.max)) }
        expect(log.all, equals: ["closed"])
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
                try await finishing { try await container.close(deadline: .milliseconds(20)) }
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

    func leftEarly() async throws {
        let container = Container()
        let reports = try await left(container)
        try await container.close(deadline: .milliseconds(20))
        expect(reports.all.count, equals: 1)
        expect(reports.all.first?.contains("Slow"), equals: true)
        expect(reports.all.first?.contains("didn't finish within 0.02 seconds"), equals: true)
        let log = await container.stage.log.first(3)
        expect(Set(log), equals: ["begin", "first registered", "cancelled"])
    }

    func anotherCall() async throws {
        let root = Container()
        let reports = try await left(root)
        let patient = Task { try await root.close() }
        await root.untilClosing()
        try await root.close(deadline: .milliseconds(20))
        try await patient.value
        expect(reports.all.count, equals: 1)
    }

    func inTime() async throws {
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
