import Fugu
import Support
import Testing

// Law 30: with n loads in progress and their waiters, a reset costs what it concerns, and no single turn of the
// lock grows with what it does not touch.
@Suite("Many loads under way at once (law 30)", .serialized, .timeLimit(.minutes(1))) struct Law30LoadsTests {
    #if DEBUG
    private static let scale = 1
    #else
    private static let scale = 4
    #endif

    struct Slow: AsyncFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) async throws -> Int {
            let stage = container.stage
            stage.tally("slow").add()
            await stage.gate("slow").opened()
            return 1
        }
    }

    /// Runs `body` while so many children each load the slow feature.
    private func whileLoading(
        _ count: Int, in root: Container = Container(), _ body: (Container, [Container]) -> Duration
    ) async throws -> Duration {
        let children = (0..<count).map { _ in root.child() }
        let stage = root.stage
        let readers = children.map { child in Task { try await child[Slow.self] } }
        await stage.tally("slow").reaches(count)
        let duration = body(root, children)
        stage.gate("slow").open()
        for reader in readers { _ = try await reader.value }
        return duration
    }

    @Test("Children reset a key that all of them load in time in proportion (law 30)")
    func resetWhileLoading() async throws {
        try await expectProportion(300 * Self.scale) { count in
            try await whileLoading(count) { _, children in
                threadTime { for child in children { child.reset(Slow.self) } }
            }
        }
    }

    @Test("A reset in a child that loads nothing costs the same beside ten loads and a thousand (law 30)")
    func resetElsewhere() async throws {
        try await expectProportion(300 * Self.scale) { count in
            try await whileLoading(count) { root, _ in
                let free = root.child()
                return threadTime { for _ in 0..<count { free.reset(Slow.self) } }
            }
        }
    }

    @Test("resetAll of many keys beside many loads takes time in proportion to both together (law 30)")
    func resetAllWhileLoading() async throws {
        try await expectProportion(300 * Self.scale) { count in
            let root = Container()
            let keys = (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
            for key in keys { root[key] = 1 }
            _ = root.stage
            return try await whileLoading(count, in: root) { root, _ in
                threadTime { for key in keys { root.reset(key) } }
            }
        }
        try await expectProportion(300 * Self.scale) { count in
            let root = Container()
            let keys = (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
            for key in keys { root[key] = 1 }
            return try await whileLoading(count, in: root) { root, _ in threadTime { root.resetAll() } }
        }
    }

    struct Part: AsyncFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) async throws -> Int {
            let stage = container.stage
            stage.tally("part").add()
            await stage.gate("part \(container[Tenant.self])").opened()
            return 1
        }
    }
    enum Parts: Property { static var defaultValue: [Container] { [] } }
    struct Whole: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int {
            let stage = container.stage
            stage.tally("whole").add()
            await stage.gate("whole").opened()
            var sum = 0
            for (number, part) in container[Parts.self].enumerated() {
                // Each part is still under way when it is waited for.
                Task { [part] in
                    await giveWay()
                    part.stage.gate("part \(number)").open()
                }
                sum += try await part[Part.self]
            }
            return sum
        }
    }
    struct User: AsyncFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) async throws -> Int {
            container.stage.tally("user").add()
            return try await container[Whole.self]
        }
    }

    @Test("Many loads wait for one that waits for as many others in turn: time in proportion (law 30)")
    func waitingForOne() async throws {
        try await expectProportion(400 * Self.scale) { count in
            let root = Container()
            root.handleReports { _ in }
            let stage = root.stage
            let parts = (0..<count).map { number in root.child { $0[Tenant.self] = "\(number)" } }
            root[Parts.self] = parts
            let loading = parts.map { part in Task { try await part[Part.self] } }
            await stage.tally("part").reaches(count)
            let users = (0..<count).map { _ in Task { [child = root.child()] in try await child[User.self] } }
            await stage.tally("user").reaches(count)
            await giveOthersTime()
            let clock = ContinuousClock()
            let duration = try await clock.measure {
                stage.gate("whole").open()
                for user in users {
                    let sum = try await user.value
                    expect(sum, equals: count)
                }
            }
            for task in loading { _ = try await task.value }
            root.reset(Parts.self)
            return duration
        }
    }

    @Test(
        "Many who wait for one load are cancelled in time in proportion, in any order (laws 27 and 30)",
        arguments: 0..<2)
    func cancelled(order: Int) async throws {
        await expectProportion(300 * Self.scale) { count in
            let root = Container()
            let stage = root.stage
            let readers = (0..<count).map { _ in Task { _ = try await root[Slow.self] } }
            await stage.tally("slow").reaches(1)
            await giveOthersTime()
            let clock = ContinuousClock()
            let duration = await clock.measure {
                for reader in order == 0 ? readers : readers.reversed() { reader.cancel() }
                for reader in readers { _ = await reader.result }
            }
            stage.gate("slow").open()
            return duration
        }
    }

    @Test("Children with closers are closed with a deadline, all at once, in time in proportion (laws 28 and 30)")
    func deadlines() async throws {
        try await expectProportion(200 * Self.scale) { count in
            let root = Container()
            let children = (0..<count).map { _ in root.child() }
            let ran = Counter()
            for child in children { child.onClose { ran.add() } }
            let clock = ContinuousClock()
            let duration = try await clock.measure {
                try await withThrowingTaskGroup { group in
                    for child in children { group.addTask { try await child.close(deadline: .seconds(50)) } }
                    try await group.waitForAll()
                }
            }
            expect(ran.value, equals: count)
            return duration
        }
    }

    @Test("A load that reads many features with closers takes time in proportion, and so does closing (laws 28 and 30)")
    func manyNeeds() async throws {
        for isClosing in [false, true] {
            try await expectProportion(300 * Self.scale) { count in
                let container = Container()
                let keys = (0..<count).map { number in
                    FeatureKey(id: number) { handle in
                        handle.onClose {}
                        return number
                    }
                }
                let all = FeatureKey(id: UniqueID()) { handle in keys.reduce(0) { $0 + handle[$1] } }
                for key in keys { _ = container[key] }
                let reading = threadTime { _ = container[all] }
                let clock = ContinuousClock()
                let closing = try await clock.measure { try await container.close() }
                return isClosing ? closing : reading
            }
        }
    }
}

/// Lets others run for a moment.
private func giveWay() async { for _ in 0..<3 { await Task.yield() } }
