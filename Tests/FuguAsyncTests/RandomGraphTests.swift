import Foundation
import Fugu
import FuguInspection
import Support
import Testing

@Suite("Random graphs of async features") struct RandomGraphTests {}

extension RandomGraphTests {
    /// `FUGU_GRAPHS=…` makes as many graphs.
    @Test("Random graphs with failures and cancellations end, load nothing twice and close all once (laws 6, 27, 28)")
    func graphs() async {
        let given = ProcessInfo.processInfo.environment["FUGU_GRAPHS"].flatMap { UInt64($0) }
        await run(seeds: 0..<(given ?? UInt64(rounds(2_000, few: 600))))
    }

    /// Runs a graph for each seed, some at a time, and ends even if one of them does not.
    private func run(seeds: Range<UInt64>) async {
        let (next, done, running) = (Locked(seeds.lowerBound), Counter(), Locked<[UInt64: World]>([:]))
        let (over, faulty) = (Gate(), Counter())
        let lanes = 4
        for _ in 0..<lanes {
            Task.detached {
                while let seed = next.withLock({ next -> UInt64? in
                    guard next < seeds.upperBound else { return nil }
                    defer { next += 1 }
                    return next
                }) {
                    let world = World(RandomGraph(seed: seed))
                    running.withLock { $0[seed] = world }
                    let faults = await world.run()
                    running.withLock { _ = $0.removeValue(forKey: seed) }
                    if !faults.isEmpty, faulty.add() <= 10 {
                        Issue.record("seed \(seed), \(world.graph.mode): \(faults.joined(separator: "; "))")
                    }
                    if done.add() == seeds.count { over.open() }
                }
            }
        }
        watch(done, running, over)
        await over.opened()
        expect(faulty.value, equals: 0)
        expect(done.value, equals: seeds.count)
    }

    /// Ends the test when no graph has ended for ten minutes, and prints who waits for whom.
    ///
    /// Other tests may keep the pool's threads busy for long.
    private func watch(_ done: Counter, _ running: Locked<[UInt64: World]>, _ over: Gate) {
        Thread.detachNewThread {
            var (last, still) = (-1, 0)
            while !over.isOpen {
                Thread.sleep(forTimeInterval: 0.5)
                still = done.value == last ? still + 1 : 0
                last = done.value
                guard still > 1_200 else { continue }
                for (seed, world) in running.withLock({ $0 }) {
                    print("seed \(seed), \(world.graph.mode), does not end:\n\(world.waits)")
                }
                over.open()
            }
        }
    }
}

extension World {
    /// Lets the readers read and disturbs them.
    ///
    /// Returns what was wrong.
    func run() async -> [String] {
        let root = Container.program()
        let reports = root.logReports()
        root[Place.self] = self
        let containers = (0..<graph.containers).map { index in
            let container = index == 0 ? root : root.child()
            if let tenant = graph.tenants[index] { container[Tenant.self] = tenant }
            return container
        }
        // Releasing a container closes nothing.
        defer { withExtendedLifetime(containers) {} }
        let readers = graph.readers.enumerated().map { index, reader in
            Task {
                for _ in 0..<reader.suspensions { await Task.yield() }
                return try await self.read(reader.vertex, in: containers[reader.container], for: "reader \(index)")
            }
        }
        for disturbance in graph.disturbances {
            await Task.yield()
            await disturb(disturbance, readers, containers)
        }
        var answers: [Answer] = []
        for (reader, task) in zip(graph.readers, readers) {
            answers.append(Answer(reader: reader, result: await task.result))
        }
        let closedBefore = now.closed
        do { try await root.close() } catch { violate("close: \(error)") }
        if graph.mode == .churning { await root.untilClosersRan() }
        // That instances with closers are made again for children, and that others stay as they are, is what these graphs are about.
        let expected = ["loads again for a child container", "and still has the old value"]
        for report in reports.all where !expected.contains(where: report.contains) { violate("reported: \(report)") }
        return verdict(on: answers, closedBefore: closedBefore)
    }

    private func disturb(
        _ disturbance: RandomGraph.Disturbance, _ readers: [Task<Made, any Error>], _ containers: [Container]
    ) async {
        switch disturbance {
        case .cancel(let reader): readers[reader].cancel()
        case .reset(let vertex, let container): Self.changes[vertex](containers[container], nil)
        case .set(let vertex, let container): Self.changes[vertex](containers[container], Made(load: -1, needs: []))
        case .setTenant(let container): containers[container][Tenant.self] = "tenant \(container)"
        case .resetTenant(let container): containers[container].reset(Tenant.self)
        case .close(let container): do { try await containers[container].close() } catch { violate("close: \(error)") }
        }
    }
}
