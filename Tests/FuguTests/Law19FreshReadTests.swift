@testable import Fugu
import Support
import Testing

@Suite("Law 19: reads that begin after a change", .timeLimit(.minutes(2))) struct Law19FreshReadTests {
    struct Number: Property { static var defaultValue: Int { 1 } }

    /// The ways to change an input.
    enum Change: CaseIterable {
        case set, modify, update, reset, parent

        func perform(_ container: Container) {
            switch self {
            case .set: container[Number.self] = 2
            case .modify: container.modify(Number.self) { $0 = 2 }
            case .update: container.update { $0[Number.self] = 2 }
            case .reset: container.reset(Number.self)
            case .parent: container[Number.self] = 2
            }
        }
    }

    @Test(
        "A read begun after the change never gets what was made from the old value (law 19)", arguments: Change.allCases
    )
    func afterChange(_ change: Change) {
        let (began, goesOn) = (Gate(), Gate())
        let loads = Counter()
        let live = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            let number = container[Number.self]
            if loads.add() == 1 {
                began.open()
                goesOn.wait()
            }
            return number
        }
        let top = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[live] }
        let root = Container()
        let container = change == .parent ? root.child() : root
        if change == .reset { root[Number.self] = 3 }
        let right = change == .reset ? 1 : 2
        let first = startThread { _ = container[top] }
        began.wait()
        change.perform(root)
        let got = Log<Int>()
        let readers = [live, top].map { key in startThread { got.add(container[key]) } }
        // Waiters are released; the others have read already.
        awaitState {
            let waiting = [live, top].reduce(0) { $0 + container.waiterCount(for: Key(raw: $1.raw)) }
            return got.count + waiting >= 2
        }
        goesOn.open()
        for thread in readers + [first] { thread.wait() }
        expect(got.all, equals: [right, right])
        expect(container[top], equals: right)
    }

    @Test("Neither does an async one (law 19)")
    func asyncLoad() async throws {
        struct Fetched: AsyncFeature {
            static var reloadsWhenInputsChange: Bool { true }
            static func load(in container: any FeatureContainer) async throws -> Int { container[Number.self] }
        }
        let (began, goesOn) = (Gate(), Gate())
        let container = Container()
        let loads = Counter()
        container.replace(Fetched.self) { container in
            let number = container[Number.self]
            if loads.add() == 1 {
                began.open()
                await goesOn.opened()
            }
            return number
        }
        let first = Task { try await container[Fetched.self] }
        await began.opened()
        container[Number.self] = 2
        let second = Task { try await container[Fetched.self] }
        // The second one either waits for the first load or begins its own.
        while loads.value < 2, container.waiterCount(for: Key(raw: Key.asyncFeature(Fetched.self))) < 2 {
            await Task.yield()
        }
        goesOn.open()
        try await expect(second.value, equals: 2)
        _ = try await first.value
        try await expect(container[Fetched.self], equals: 2)
    }

    @Test("A read begun after a replacement doesn't get the failure of what was replaced (law 19)")
    func replacedFailure() async throws {
        struct Source: AsyncFeature {
            static var reloadsWhenInputsChange: Bool { true }
            static func load(in container: any FeatureContainer) async throws -> Int { 1 }
        }
        struct Copy: AsyncFeature {
            static var reloadsWhenInputsChange: Bool { true }
            static func load(in container: any FeatureContainer) async throws -> Int {
                try await container[Source.self]
            }
        }
        struct Replaced: Error {}
        let (began, goesOn) = (Gate(), Gate())
        let container = Container()
        container.replace(Source.self) { _ in
            began.open()
            await goesOn.opened()
            throw Replaced()
        }
        let first = Task { try await container[Copy.self] }
        await began.opened()
        container.replace(Source.self) { _ in 2 }
        let second = Task { try await container[Copy.self] }
        // It waits for the first load, or for nothing.
        let isOver = Gate()
        let over = Task {
            _ = await second.result
            isOver.open()
        }
        let key = Key(raw: Key.asyncFeature(Copy.self))
        while !isOver.isOpen, container.waiterCount(for: key) < 2 { await Task.yield() }
        goesOn.open()
        await over.value
        try await expect(second.value, equals: 2)
        _ = await first.result
    }

    @Test("A sequence and an observer get the value when an input changes during the first load (laws 12 and 19)")
    func firstLoad() async throws {
        for isSequence in [true, false] {
            let (began, goesOn) = (Gate(), Gate())
            let loads = Counter()
            let live = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
                let number = container[Number.self]
                if loads.add() == 1 {
                    began.open()
                    goesOn.wait()
                }
                return number
            }
            let container = Container()
            let heard = Log<Int>()
            let other = startThread {
                began.wait()
                container[Number.self] = 2
                goesOn.open()
            }
            if isSequence {
                // A plain feature is loaded by the call itself.
                let values = container.values(of: live)
                other.wait()
                heard.add(try await finishing(task: { await values.first { _ in true } }) ?? 0)
            } else {
                container.observe(live) { heard.add($0) }
                _ = container[live]
                other.wait()
            }
            expect(heard.all, equals: [2])
            expect(container.ifLoaded(live), equals: 2)
        }
    }

    @Test(
        "A container that sets the value that it inherited follows its own value from then on (laws 10, 16 and 19)",
        arguments: 1...3)
    func setToWhatWasInherited(depth: Int) {
        let root = Container()
        root[Number.self] = 5
        let container = (1...depth).reduce(root) { container, _ in container.child() }
        let other = PropertyKey(defaultValue: 0, id: UniqueID())
        let live = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[Number.self] * 10 + $0[other] }
        // It lives in the container, and is made from the root's number.
        container[other] = 1
        expect(container[live], equals: 51)
        container[Number.self] = 5
        expect(container[live], equals: 51)
        container[Number.self] = 6
        expect(container[live], equals: 61)
    }
}
