import Foundation
import Fugu
import FuguTesting
import Support
import Testing

@Suite("How long a manual clock waits for a task that sleeps", .timeLimit(.minutes(5))) struct ManualClockWaitTests {
    /// Uses a processor until it's canceled, and lets others run now and then.
    private static func keepBusy() async {
        var number = 0.0
        while !Task.isCancelled {
            for step in 0..<1_000 { number += Double(step).squareRoot() }
            await Task.yield()
        }
        _ = number
    }

    /// The time that as many turns of tasks take as a clock gives them at least, on this machine and with its present load.
    private static func timeOfTurns() async -> Duration {
        await ContinuousClock().measure {
            for _ in 0..<700 {
                for priority in [TaskPriority.high, .medium, .low, .background] {
                    await withCheckedContinuation { continuation in
                        _ = Task.detached(priority: priority) { continuation.resume() }
                    }
                }
                await MainActor.run {}
            }
        }
    }

    @Test(
        "Advancing for nobody beside tasks that are busy fails within a second, unless tasks get their turn late",
        .enabled(if: rounds(1, few: 0) == 1, "its busy tasks hold up the others; FUGU_THOROUGH runs it"))
    func busy() async {
        let tasks = (0..<2).map { _ in Task.detached { await Self.keepBusy() } }
        let turns = await Self.timeOfTurns()
        let failures = Log<String>()
        let time = await ContinuousClock().measure {
            for text in await texts({ await ManualClock().advance(by: .seconds(1)) }) { failures.add(text) }
        }
        for task in tasks { task.cancel() }
        expect(failures.count, equals: 1)
        expect(time < .seconds(1) + turns * 3, "\(time), and \(turns) for the turns")
    }

    @Test("Advancing for nobody fails at once in a process that does nothing else")
    func idle() async {
        // The sanitizer alone makes turns so slow that they count as work.
        if ThisProcess.isThreadSanitized { return }
        await #expect(processExitsWith: .success) {
            let before = Self.processorTime
            let found = await texts { await ManualClock().advance(by: .seconds(1)) }
            let used = Self.processorTime - before
            // A wait beside work lasts until the process has used more.
            precondition(found.count == 1 && used < .milliseconds(350), "\(found.count) failures after \(used)")
        }
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(Int(time.tv_sec)) + .nanoseconds(Int(time.tv_nsec))
    }

    @Test("A task that works, and lets others work, before it sleeps is waited for beside tasks that are busy")
    func working() async {
        let busy = (0..<2).map { _ in Task.detached { await Self.keepBusy() } }
        let clock = ManualClock()
        let task = Task {
            for _ in 0..<200 { await Task.yield() }
            try await clock.sleep(for: .seconds(1))
        }
        await expect(texts { await clock.advance(by: .seconds(1)) }, equals: [])
        _ = await task.result
        for task in busy { task.cancel() }
    }
}
