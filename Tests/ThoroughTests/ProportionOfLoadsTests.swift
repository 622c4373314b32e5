import Foundation
import Support
import Testing

@testable import Fugu

// Law 20: with n loads in progress and their waiters, a reset costs what it concerns, and no single turn of the
// lock grows with what it does not touch.
@Suite("Many loads under way at once (law 20)", .serialized, .timeLimit(.minutes(5))) struct ProportionOfLoadsTests {}

extension ProportionOfLoadsTests {
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

    @Test("Children reset a key that all of them load in time in proportion (law 20)")
    func resetWhileLoading() async throws {
        try await expectProportion(300 * Self.scale) { count in
            try await whileLoading(count) { _, children in
                threadTime { for child in children { child.reset(Slow.self) } }
            }
        }
    }

    @Test("A reset in a child that loads nothing costs the same beside ten loads and a thousand (law 20)")
    func resetElsewhere() async throws {
        try await expectProportion(300 * Self.scale) { count in
            try await whileLoading(count) { root, _ in
                let free = root.child()
                return threadTime { for _ in 0..<count { free.reset(Slow.self) } }
            }
        }
    }

    @Test("resetAll of many keys beside many loads takes time in proportion to both together (law 20)")
    func resetAllWhileLoading() async throws {
        try await expectProportion(300 * Self.scale) { count in
            let root = Container()
            let keys = (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
            for key in keys { root[key] = 1 }
            _ = root.stage
            return try await whileLoading(count, in: root) { root, _ in
                threadTime { for key in keys { root.reset({ _ in key }) } }
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

    @Test("Many loads wait for one that waits for as many others in turn: time in proportion (law 20)")
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
        "Many who wait for one load are cancelled in time in proportion, in any order (laws 4 and 20)",
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

    @Test("Children with closers are closed with a deadline, all at once, in time in proportion (laws 18 and 20)")
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

    /// As many instances that have left, with a closer.
    private func leave(_ container: Container, _ count: Int, _ close: @escaping @Sendable () async throws -> Void) {
        for _ in 0..<count {
            let key = FeatureKey(home: .local, id: UniqueID()) { handle in
                handle.onClose(close)
                return 1
            }
            _ = container[key]
            container.reset { _ in key }
        }
    }

    @Test("Many instances that leave are refused close(): time in proportion (laws 18 and 20)")
    func refusedLeavers() async throws {
        await expectProportion(200 * Self.scale) { count in
            let root = Container()
            let (goesOn, ran) = (Gate(), Counter())
            leave(root, count) { [unowned root] in
                await goesOn.opened()
                await #expect(throws: CloseError.self) { try await root.close() }
                ran.add()
            }
            let clock = ContinuousClock()
            return await clock.measure {
                goesOn.open()
                await ran.reaches(count)
            }
        }
    }

    @Test("Many instances leave while as many calls of close() wait for a load: time in proportion (laws 18 and 20)")
    func leaversBesideClosings() async throws {
        try await expectProportion(100 * Self.scale) { count in
            let root = Container()
            let (stage, began, goesOn, ran) = (root.stage, Gate(), Gate(), Counter())
            let reader = Task { try await root[Slow.self] }
            await stage.tally("slow").reaches(1)
            leave(root, count) {
                began.open()
                await goesOn.opened()
                ran.add()
            }
            await began.opened()
            let closings = (0..<count).map { _ in Task { try await root.close() } }
            await giveOthersTime()
            let clock = ContinuousClock()
            let duration = await clock.measure {
                goesOn.open()
                await ran.reaches(count)
            }
            stage.gate("slow").open()
            _ = try await reader.value
            for closing in closings { try await closing.value }
            return duration
        }
    }

    @Test("A load that reads many features with closers takes time in proportion, and so does closing (laws 18 and 20)")
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

/// A value that a child may set, so that features that read it become its own.
fileprivate enum Tenant: Property {
    static var defaultValue: String { "root" }
}

/// Something with an identity.
private final class Thing: Sendable {
    let name: String
    init(_ name: String = "thing") { self.name = name }
}

/// Lets others run for a moment.
private func giveWay() async { for _ in 0..<3 { await Task.yield() } }

@Suite("Ending, leaving and closing take time and memory in proportion (law 20)", .timeLimit(.minutes(5)))
struct ProportionOfClosingTests {}

extension ProportionOfClosingTests {
    fileprivate struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            container.onClose { stage.log.add(tenant) }
            return Thing(tenant)
        }
    }

    fileprivate struct Leaving: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let stage = container.stage
            container.onClose {
                stage.tally("begun").add()
                await stage.gate("closers").opened()
                stage.tally("ended").add()
            }
            return Thing()
        }
    }

    @Test("However many instances leave early, they are closed, and none is lost (laws 18, 20)")
    func leaving() async throws {
        let container = Container()
        let stage = container.stage
        for _ in 0..<2 {
            for _ in 0..<500 {
                _ = container[Leaving.self]
                container.reset(Leaving.self)
            }
            await stage.tally("begun").reaches(1)
        }
        await stage.tally("begun").reaches(1_000)
        let closing = Task { try await container.close() }
        await container.untilClosing()
        stage.gate("closers").open()
        try await closing.value
        expect(stage.tally("ended").value, equals: 1_000)
    }

    @Test("A chain of 100,000 instances with closers at its end is released on a small stack (law 20)")
    func chainOfLeases() async throws {
        let closed = Counter()
        let container = Container()
        try await finishing(stackSize: 512 << 10) {
            var lifetime = container.lifetime([Closer { closed.add() }], nil)
            for _ in 1..<100_000 { lifetime = container.lifetime([], lifetime) }
            expect(!lifetime.teardown.hasClosers)
        }
        await closed.reaches(1)
    }

    @Test("A chain of which each has closers closes from its top down, each once (laws 18 and 20)")
    func chainOfClosers() async throws {
        let log = Log<String>()
        let container = Container()
        try await finishing(stackSize: 512 << 10) {
            var lifetime: Lifetime?
            for serial in 0..<1_000 {
                lifetime = container.lifetime([Closer { log.add("\(serial)") }], lifetime)
            }
        }
        await expect(log.first(1_000), equals: (0..<1_000).reversed().map { "\($0)" })
    }

    fileprivate struct Local: AsyncFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Local").add()
            await container.stage.gate("Local").opened()
            return Thing()
        }
    }
    fileprivate struct OfTenant: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("OfTenant").add()
            await container.stage.gate("OfTenant").opened()
            return Thing(container[Tenant.self])
        }
    }

    @Test("Many loads of one key at once: each child has its own, and all who ask a child share it (law 3)")
    func manyLoads() async throws {
        let root = Container()
        let stage = root.stage
        let children = (0..<200).map { index in root.child { $0[Tenant.self] = "\(index)" } }
        let locals = (children + children).map { child in Task { try await child[Local.self] } }
        await root.untilWaiting(for: Local.self, 400)
        expect(stage.tally("Local").value, equals: 200)
        stage.gate("Local").open()
        for index in 0..<200 { try await expect(locals[index].value, is: locals[index + 200].value) }
        // The first shows where the others belong, which then load in parallel.
        let first = children.map { child in Task { try await child[OfTenant.self] } }
        await root.untilWaiting(for: OfTenant.self, 200)
        let second = children.map { child in Task { try await child[OfTenant.self] } }
        await root.untilWaiting(for: OfTenant.self, 400)
        expect(stage.tally("OfTenant").value, equals: 1)
        stage.gate("OfTenant").open()
        for index in 0..<200 {
            try await expect(first[index].value.name, equals: "\(index)")
            try await expect(first[index].value, is: second[index].value)
        }
        expect(root.loadsUnderWay, equals: 0)
    }

    @Test("A list loses what is removed and nothing else, however it grows and shrinks (law 20)")
    func randomList() {
        var numbers = SeededGenerator(seed: 7)
        var (list, model): (SparseList<Waiter>, [Waiter]) = (SparseList(), [])
        var removed: [Waiter] = []
        for step in 0..<20_000 {
            let isGrowing = step / 500 % 2 == 0
            if model.isEmpty || numbers.next() % 10 < (isGrowing ? 6 : 3) {
                let waiter = Waiter()
                list.append(waiter)
                model.append(waiter)
            } else if let again = removed.last, numbers.next() % 4 == 0 {
                let isRemoved = list.remove(again)
                expect(!isRemoved)
            } else {
                let waiter = model.remove(at: Int(numbers.next() % UInt64(model.count)))
                let isRemoved = list.remove(waiter)
                expect(isRemoved)
                removed.append(waiter)
            }
            if step % 50 == 0 { expect(list.all.elementsEqual(model, by: ===) && list.count == model.count) }
        }
    }

    @Test("While others come and go under a deadline, closings and closers keep apart (law 18)")
    func deadlinesBesideLeavers() async throws {
        let container = Container()
        let log = container.stage.log
        container[Tenant.self] = "x"
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        _ = container[Session.self]
                        container.reset(Session.self)
                    }
                }
                group.addTask { for _ in 0..<100 { try? await container.child().close(deadline: .seconds(50)) } }
            }
        }
        try await container.close()
        expect(Set(log.all), equals: ["x"])
    }
}
