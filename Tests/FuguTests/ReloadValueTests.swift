@testable import Fugu
import Support
import Testing

@Suite("Law 12: reads that begin after a change", .timeLimit(.minutes(5))) struct ReloadFreshReadTests {}

extension ReloadFreshReadTests {
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
        "A read begun after the change never gets what was made from the old value (law 12)", arguments: Change.allCases
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

    @Test("Neither does an async one (law 12)")
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

    @Test("A read begun after a replacement doesn't get the failure of what was replaced (law 12)")
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

    @Test("A sequence and an observer get the value when an input changes during the first load (laws 9 and 12)")
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
                let values = container.values(of: { _ in live })
                other.wait()
                heard.add(try await finishing(task: { await values.first { _ in true } }) ?? 0)
            } else {
                container.observe({ _ in live }) { heard.add($0) }
                _ = container[live]
                other.wait()
            }
            expect(heard.all, equals: [2])
            expect(container.ifLoaded { _ in live }, equals: 2)
        }
    }

    @Test(
        "A container that sets the value that it inherited follows its own value from then on (laws 9, 10 and 12)",
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

/// Laws 9 and 12: whoever observes what reloads is left with the value that stays.
struct ReloadLastValueTests {}

extension ReloadLastValueTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Live: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { container[Number.self] }
    }

    @Test(
        "A change beside an update's handle and a new loader by it are heard (laws 6, 9 and 12)",
        arguments: [false, true])
    func replacedInUpdate(_ changesInput: Bool) {
        let container = Container()
        _ = container[Live.self]
        let heard = Log<Int>()
        container.observe(Live.self) { heard.add($0) }
        container.update { handle in
            changesInput ? container[Number.self] = 1 : container.reset(Live.self)
            handle.replace(Live.self) { _ in 5 }
        }
        expect(heard.all, equals: [5])
        expect(container[Live.self], equals: 5)
    }

    struct Parsed: ThrowingFeature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) throws -> Int { container[Number.self] }
    }
    struct Refused: Error {}

    @Test(
        "A feature that can fail is loaded once more for its observers if an input changes during a reload (laws 9 and 12)"
    )
    func changedWhileReloading() throws {
        let container = Container()
        container.replace(Parsed.self) { handle in
            let number = handle[Number.self]
            if number == 1 { container[Number.self] = 2 }
            return number
        }
        let heard = Log<Int>()
        container.observe(Parsed.self) { heard.add($0) }
        try expect(container[Parsed.self], equals: 0)
        container[Number.self] = 1
        expect(heard.all, equals: [0, 2])
        expect(container.ifLoaded(Parsed.self), equals: 2)
    }

    /// Returns a child that overrides `Number` so that its observed feature fails to reload, and what the observer heard.
    private func failedReload(
        where isRefused: @escaping @Sendable (any FeatureContainer) -> Bool
    ) throws -> (child: Container, heard: Log<Int>) {
        let root = Container()
        root.replace(Parsed.self) { handle in
            if isRefused(handle) { throw Refused() }
            return handle[Number.self]
        }
        let child = root.child()
        let reports = root.logReports()
        let heard = Log<Int>()
        try expect(child[Parsed.self], equals: 0)
        child.observe(Parsed.self) { heard.add($0) }
        child[Number.self] = -1
        expect(child.ifLoaded(Parsed.self) == nil)
        expect(reports.count, equals: 1)
        return (child, heard)
    }

    @Test(
        "After a failed reload, observers hear of what a reset uncovers, and it is tried again when something is set (laws 9, 10, and 12)"
    )
    func uncovered() throws {
        // After a failed reload, observers hear of an inherited instance that a reset uncovers.
        do {
            let (child, heard) = try failedReload { $0[Number.self] < 0 }
            child.reset(Number.self)
            expect(heard.all, equals: [0])
        }
        // A failed reload is tried again when something is set that it may need.
        do {
            let (child, heard) = try failedReload { $0[Number.self] < 0 && $0[Other.self] == 0 }
            child[Other.self] = 1
            expect(heard.all, equals: [-1])
            expect(child.ifLoaded(Parsed.self), equals: -1)
        }
    }
}

/// Laws 9 and 12: what is overridden while it loads again.
struct ReloadOverriddenTests {}

extension ReloadOverriddenTests {
    struct Number: Property { static var defaultValue: Int { 0 } }

    @Test("A child that overrides an input while its observed feature loads again gets its own (laws 9, 10, 12)")
    func overridden() {
        let (began, goesOn) = (Gate(), Gate())
        let loads = Counter()
        let live = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0[Number.self] }
        let above = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container in
            let number = container[live]
            if loads.add() == 2 {
                began.open()
                goesOn.wait()
            }
            return number * 100
        }
        let root = Container()
        let child = root.child()
        let heard = Log<Int>()
        _ = child[above]
        child.observe({ _ in above }) { heard.add($0) }
        // The child's observer has it loaded again, for the root as it seems.
        let thread = startThread { root[Number.self] = 1 }
        began.wait()
        child[Number.self] = 5
        goesOn.open()
        thread.wait()
        expect(child.ifLoaded { _ in above }, equals: 500)
        expect(heard.all.last, equals: 500)
        expect(root[above], equals: 100)
    }
}

/// A change reaches the top of a long chain of features, and needs no stack for its length (laws 9, 12, and 20).
struct ReloadChainTests {}

extension ContainerKeys {
    fileprivate var chainStart: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate func chainLink(_ number: Int) -> FeatureKey<Int> {
        .init(reloadsWhenInputsChange: true, id: number) {
            $0[ReloadChainTests.Loads.self].add()
            return number == 0 ? $0.chainStart : $0[ContainerKeys().chainLink(number - 1)] + 1
        }
    }
    fileprivate func chainDefault(_ number: Int) -> PropertyKey<Int> {
        .init(
            defaultValue: number == 0
                ? Container.current.chainStart : Container.current[ContainerKeys().chainDefault(number - 1)] + 1,
            id: number)
    }
    /// Each reads all below it.
    fileprivate func chainSum(_ number: Int) -> FeatureKey<Int> {
        .init(reloadsWhenInputsChange: true, id: number) { container in
            (0..<number).reversed().reduce(container.chainStart) { max($0, container[ContainerKeys().chainSum($1)]) }
        }
    }
}

extension ReloadChainTests {
    struct Loads: Property { static var defaultValue: Counter { Counter() } }

    /// Runs code where a fraction of the chain has room.
    private static func onSmallStack(_ body: @escaping @Sendable () -> Void) {
        startThread(stackSize: 512 << 10, body).wait()
    }

    @Test("So does a read that nothing observes (laws 12 and 20)")
    func unobserved() {
        let container = Container()
        let count = 300
        for number in 0...count { _ = container[ContainerKeys().chainLink(number)] }
        let (seen, before) = (Log<Int>(), container[Loads.self].value)
        Self.onSmallStack {
            container.chainStart = 100
            seen.add(container[ContainerKeys().chainLink(count)])
        }
        expect(seen.all, equals: [count + 100])
        expect(container[Loads.self].value - before, equals: count + 1)
    }

    @Test(
        "A set loads all features again that are made one from the other, each once (law 12)", arguments: [true, false])
    func features(isInRoot: Bool) {
        let root = Container()
        let loads = root[Loads.self]
        let container = isInRoot ? root : root.child { $0.chainStart = 1 }
        let count = 300
        for number in 0...count { _ = container[ContainerKeys().chainLink(number)] }
        let (seen, before) = (Log<Int>(), loads.value)
        Self.onSmallStack {
            container.observe({ $0.chainLink(count) }) { seen.add($0) }
            container.chainStart = 100
        }
        expect(seen.all, equals: [count + 100])
        expect(loads.value - before, equals: count + 1)
    }

    @Test("A set evaluates all defaults of a chain again, and what branches nests as the loads read (laws 9 and 12)")
    func defaults() {
        // A set evaluates all defaults again that are made one from the other.
        do {
            let container = Container()
            let count = 300
            for number in 0...count { _ = container[ContainerKeys().chainDefault(number)] }
            let seen = Log<Int>()
            Self.onSmallStack {
                container.observe({ $0.chainDefault(count) }) { seen.add($0) }
                container.chainStart = 100
            }
            expect(seen.all, equals: [count + 100])
        }
        // The chain may branch: what nests is what the loads read first.
        do {
            let container = Container()
            for number in 0...110 { _ = container[ContainerKeys().chainSum(number)] }
            let seen = Log<Int>()
            Self.onSmallStack {
                container.observe({ $0.chainSum(110) }) { seen.add($0) }
                container.chainStart = 100
            }
            expect(seen.all, equals: [100])
        }
    }

    @Test("A feature that a short chain needs no longer isn't loaded again before somebody reads it (laws 3 and 12)")
    func lazy() {
        let (container, loads) = (Container(), Counter())
        let other = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { container -> Int in
            loads.add()
            return container.chainStart
        }
        let top = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { $0.chainStart == 1 ? $0[other] : 0 }
        let seen = Log<Int>()
        container.observe({ _ in top }) { seen.add($0) }
        _ = container[top]
        container.chainStart = 2
        expect(seen.all, equals: [1, 0])
        expect(loads.value, equals: 1)
    }
}
