import Foundation
import Fugu
import FuguFoundation
import FuguTesting
import Synchronization
import Testing

@testable import Pipeline

@Suite(.container, .timeLimit(.minutes(10))) struct PipelineTests {
    private let container = Container.current
    private let clock = ManualClock()
    private let folder = URL(filePath: "/output")

    init() {
        container.clock = AnyClock(clock)
        container.fileAccess = .inMemory
        container.uuid = .incrementing
        container.outputFolder = folder
    }

    private func jobs(_ count: Int) throws -> [Job] {
        try (1...count).map { id in
            try container.fileAccess.save(Data("one two two".utf8), to: URL(filePath: "/input/\(id).txt"))
            return Job(id: id, path: "/input/\(id).txt")
        }
    }

    private var results: [String] {
        get throws { try container.fileAccess.list(folder).map(\.lastPathComponent) }
    }

    @Test("Every job is done once, and nothing is left of its scratch")
    func allJobs() async throws {
        let jobs = try jobs(20)
        var done: [Job] = []
        try await Pipeline(container).run(jobs) { outcome in
            guard case .words(3) = outcome.result else { return }
            done.append(outcome.job)
        }
        #expect(Set(done) == Set(jobs))
        #expect(done.count == jobs.count)
        #expect(try results.sorted() == jobs.map { "\($0.id).txt.words" }.sorted())
        let text = try container.fileAccess.load(folder.appending(path: "1.txt.words"))
        #expect(String(decoding: text, as: UTF8.self) == "2\ttwo\n1\tone\n")
    }

    @Test("A failed job is tried again after a pause that doubles, by a clock that the test moves by hand")
    func retries() async throws {
        let job = Job(id: 1, path: "/missing.txt")
        let outcomes = Task { [container] in
            var outcomes: [Outcome] = []
            try await Pipeline(container).run([job]) { outcomes.append($0) }
            return outcomes
        }
        await clock.sleepers(atLeast: 1)
        clock.move(by: .milliseconds(999))
        #expect(clock.sleeperCount == 1)
        clock.move(by: .milliseconds(1))
        await clock.sleepers(atLeast: 1)
        // In the second pause the document turns up.
        try container.fileAccess.save(Data("late".utf8), to: URL(filePath: job.path))
        clock.move(by: .seconds(2))
        let outcome = try await outcomes.value.first
        #expect(outcome?.attempts == 3)
        guard case .words(1) = outcome?.result else {
            Issue.record("\(String(describing: outcome))")
            return
        }
    }

    @Test("After the last attempt a job has failed, and the others go on")
    func failure() async throws {
        container.attemptLimit = 1
        let jobs = try jobs(3) + [Job(id: 9, path: "/missing.txt")]
        var failed: [Int] = []
        try await Pipeline(container).run(jobs) { outcome in
            if case .failed = outcome.result { failed.append(outcome.job.id) }
        }
        #expect(failed == [9])
        #expect(try results.count == 3)
    }

    @Test("A full disk leaves neither half a result nor scratch")
    func fullDisk() async throws {
        struct Full: Error {}
        let jobs = try jobs(1)
        container.attemptLimit = 1
        let files = container.fileAccess
        container.fileAccess = files.failing(.save, with: Full())
        try await Pipeline(container).run(jobs) { outcome in
            guard case .failed = outcome.result else {
                Issue.record("\(outcome)")
                return
            }
        }
        #expect(try files.list(folder).isEmpty)
    }

    @Test("A slow report holds up the workers, and they the source: what is under way stays bounded")
    func backPressure() async throws {
        container.workerCount = 2
        let taken = Mutex(0)
        let jobs = Counted(jobs: try jobs(50)) { taken.withLock { $0 += 1 } }
        var isFirst = true
        try await Pipeline(container).run(jobs) { _ in
            guard isFirst else { return }
            isFirst = false
            // One is being reported, two workers hold a finished one each, one waits to be taken.
            while taken.withLock({ $0 }) < 4 { await Task.yield() }
            for _ in 0..<1000 { await Task.yield() }
            #expect(taken.withLock { $0 } == 4)
        }
        #expect(taken.withLock { $0 } == 50)
    }

    @Test("Cancelled in a pause, a job ends at once, and so does the pipeline")
    func cancellation() async throws {
        let task = Task { [container] in
            try await Pipeline(container).run([Job(id: 1, path: "/missing.txt")]) { _ in }
        }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("An attempt has its own container, and shares the rest with other attempts")
    func children() async throws {
        let first = container.child { $0.job = Job(id: 1, path: "") }
        let second = container.child { $0.job = Job(id: 2, path: "") }
        #expect(first[Scratch.self].url != second[Scratch.self].url)
        #expect(first[Scratch.self].url == first[Scratch.self].url)
        #expect(container.job == nil)
        for child in [first, second] { try await child.close() }
    }
}

/// Logs each job that is taken from it.
private struct Counted: Sequence, Sendable {
    let jobs: [Job]
    let onNext: @Sendable () -> Void

    func makeIterator() -> AnyIterator<Job> {
        var rest = jobs[...]
        return AnyIterator {
            let job = rest.popFirst()
            if job != nil { onNext() }
            return job
        }
    }
}
