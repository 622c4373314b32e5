import Fugu
import Support
import Testing

// Law 6: a load that needs itself is found when the need goes through any container of the family on the load's own
// thread, in its task, or in a task started from it.
@Suite("Cycles through tasks that a load starts (law 6)", .timeLimit(.minutes(1))) struct Law06TaskCycleTests {
    enum Way: CaseIterable {
        case itself, task, immediateTask, childTask, asyncLet, taskOfATask

        func read(_ container: Container) async throws -> Int {
            switch self {
            case .itself: return try await container[Looping.self]
            case .task: return try await Task { try await container[Looping.self] }.value
            case .immediateTask: return try await Task.immediate { try await container[Looping.self] }.value
            case .childTask:
                return try await withThrowingTaskGroup { group in
                    group.addTask { try await container[Looping.self] }
                    return try await group.next() ?? 0
                }
            case .asyncLet:
                async let number = container[Looping.self]
                return try await number
            case .taskOfATask:
                return try await Task { try await Task { try await container[Looping.self] }.value }.value
            }
        }
    }
    enum WayProperty: Property {
        static var defaultValue: @Sendable () async throws -> Int { { 0 } }
    }
    struct Looping: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int {
            try await container[WayProperty.self]()
        }
    }

    @Test(
        "A container captured beside the handle leads back to the load: the cycle is found with its way (law 6)",
        arguments: Way.allCases)
    func captured(_ way: Way) async throws {
        for throughAChild in [false, true] {
            let root = Container()
            let captured = throughAChild ? root.child() : root
            root.handleReports { _ in }
            root[WayProperty.self] = { [unowned captured] in try await way.read(captured) }
            let error = try await finishing {
                await #expect(throws: LoadError.self) { try await root[Looping.self] }
            }
            expect(error?.path, equals: ["Looping", "Looping"], "\(String(describing: error))")
            withExtendedLifetime(captured) {}
        }
    }

    @Test("A task that a load starts and that reads something else reads it, also after the load's end (law 6)")
    func somethingElse() async throws {
        let root = Container()
        root.handleReports { _ in }
        let (ended, read) = (Gate(), Log<String>())
        root[WayProperty.self] = { [unowned root] in
            Task {
                await ended.opened()
                read.add(root[Tenant.self])
                read.add("\(try await root[Looping.self])")
            }
            return 7
        }
        try await expect(root[Looping.self], equals: 7)
        ended.open()
        try await finishing { await expect(read.first(2), equals: ["root", "7"]) }
    }

    @Test("values(of:) inside a load that waits for the load itself is given the path or ends with the load (law 6)")
    func values() async throws {
        let root = Container()
        root.handleReports { _ in }
        root[WayProperty.self] = { [unowned root] in
            // The key of the load has no value yet: whoever awaits the first one awaits the load.
            var values = root.values(of: Looping.self).makeAsyncIterator()
            let first = Task { await values.next(isolation: nil) }
            await giveOthersTime()
            first.cancel()
            _ = await first.value
            return 3
        }
        try await expect(finishing { try? await root[Looping.self] } != nil)
    }
}
