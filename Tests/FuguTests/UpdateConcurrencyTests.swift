import Fugu
import FuguScopes
import Support
import Testing

/// Law 6: what joins an update, and what does not.
struct UpdateIndependenceTests {}

extension UpdateIndependenceTests {
    struct A: Property { static var defaultValue: Int { 0 } }
    struct B: Property { static var defaultValue: Int { 0 } }
    struct Failure: Error {}

    /// A place from which an update can begin that isn't a call of the outer one itself.
    enum Elsewhere: CaseIterable {
        case thread, task, detached, childTask

        /// Runs `body` there, and blocks until its end.
        func perform(_ body: @escaping @Sendable () -> Void) {
            let done = Gate()
            switch self {
            case .thread: return onAnotherThread(body)
            case .task:
                Task {
                    body(); done.open()
                }
            case .detached:
                Task.detached {
                    body(); done.open()
                }
            case .childTask:
                Task {
                    await withTaskGroup {
                        $0.addTask {
                            body(); done.open()
                        }
                    }
                }
            }
            done.wait()
        }
    }

    @Test(
        "An update in a task or thread begun inside another is published at its own end (law 6)",
        arguments: Elsewhere.allCases)
    func atItsOwnEnd(_ elsewhere: Elsewhere) async {
        // Not on a thread of the pool, on which the tasks are to run.
        await startThread {
            let root = Container()
            let container = root.child()
            let heard = Log<Int>()
            _ = container[B.self]
            container.observe(B.self) { heard.add($0) }
            container.update { outer in
                outer[A.self] = 1
                elsewhere.perform {
                    expect(container[A.self], equals: 0)
                    container.update { inner in
                        expect(inner[A.self], equals: 0)
                        inner[B.self] = 7
                        expect(container[B.self], equals: 0)
                    }
                    expect(container[B.self], equals: 7)
                }
                expect(container[A.self], equals: 0)
                expect(container[B.self], equals: 7)
                expect(outer[B.self], equals: 7)
            }
            expect(container[A.self] == 1 && heard.all == [7])
        }.opened()
    }

    @Test("It is not undone with the outer one, nor the outer one with it (law 6)", arguments: Elsewhere.allCases)
    func notUndone(_ elsewhere: Elsewhere) async {
        // Not on a thread of the pool, on which the tasks are to run.
        await startThread {
            let container = Container()
            #expect(throws: Failure.self) {
                try container.update { outer in
                    outer[A.self] = 1
                    elsewhere.perform { container.update { $0[B.self] = 7 } }
                    throw Failure()
                }
            }
            expect(container[A.self], equals: 0)
            expect(container[B.self], equals: 7)
            container.update { outer in
                outer[A.self] = 2
                elsewhere.perform {
                    #expect(throws: Failure.self) {
                        try container.update { inner in
                            inner[B.self] = 8
                            throw Failure()
                        }
                    }
                }
            }
            expect(container[A.self], equals: 2)
            expect(container[B.self], equals: 7)
        }.opened()
    }

    @Test(
        "Nested by its own calls it joins, through children, modifies and loads too, but not another family (laws 2 and 6)"
    )
    func joins() throws {
        // Nested by its own calls it joins, through children, modifies and loads too.
        do {
            let root = Container()
            let child = root.child()
            root.update { outer in
                outer[A.self] = 1
                child.update { inner in
                    inner[B.self] = 2
                    Container.with(child) { root.update { $0[B.self] = 3 } }
                }
                expect(root[A.self], equals: 0)
                expect(root[B.self], equals: 0)
                expect(child[B.self], equals: 0)
            }
            expect(root[A.self], equals: 1)
            expect(root[B.self], equals: 3)
            expect(child[B.self], equals: 2)
            #expect(throws: Failure.self) {
                try root.update { _ in
                    child.update { $0[B.self] = 9 }
                    throw Failure()
                }
            }
            expect(child[B.self], equals: 2)
        }
        // An update of another family inside is published by itself.
        do {
            let (container, other) = (Container(), Container())
            #expect(throws: Failure.self) {
                try container.update { outer in
                    outer[A.self] = 1
                    other.update { inner in
                        inner[A.self] = 2
                        expect(other[A.self], equals: 0)
                    }
                    expect(other[A.self], equals: 2)
                    throw Failure()
                }
            }
            expect(container[A.self], equals: 0)
            expect(other[A.self], equals: 2)
        }
    }

    struct Touchy: Equatable, Sendable {
        let number: Int
        var during: (@Sendable () -> Void)?
        static func == (left: Self, right: Self) -> Bool {
            left.during?()
            right.during?()
            return left.number == right.number
        }
    }

    @Test(
        "Another thread's update is not lost while an update is being published (law 6)",
        arguments: Elsewhere.allCases)
    func whilePublishing(_ elsewhere: Elsewhere) async {
        // Not on a thread of the pool, on which the tasks are to run.
        await startThread {
            let container = Container()
            let key = PropertyKey(defaultValue: Touchy(number: 0), id: "touchy")
            let once = Counter()
            container[key] = Touchy(number: 0)
            container.observe({ _ in key }) { _ in }
            container.update { outer in
                outer[A.self] = 1
                outer[key] = Touchy(number: 1) {
                    if once.add() == 1 { elsewhere.perform { container.update { $0[B.self] = 7 } } }
                }
            }
            expect(once.value > 0)
            expect(container[A.self], equals: 1)
            expect(container[B.self], equals: 7)
            expect(container[key].number, equals: 1)
        }.opened()
    }
}

// Law 6: update publishes all its changes together. No write is lost between updates; one to a container that has gone
// away meanwhile is reported and takes no other with it. Each observer hears each changed key once.
/// Law 6: no write of an update is lost.
struct UpdateLossTests {}

extension UpdateLossTests {
    struct First: Property { static var defaultValue: Int { 0 } }
    struct Second: Property { static var defaultValue: Int { 0 } }
    struct Third: Property { static var defaultValue: Int { 0 } }
    struct Failure: Error {}

    /// A container that takes part in an update of its family's root and is gone before the end.
    enum Passing: CaseIterable {
        case child, grandchild, scope, childOfAScope

        func make(in root: Container) -> Container {
            switch self {
            case .child: root.child()
            case .grandchild: root.child().child()
            case .scope: root.scope("/a")
            case .childOfAScope: root.scope("/a").child()
            }
        }
    }

    @Test(
        "A container that is released before the end of the update that it joined takes no other write with it (law 6)",
        arguments: Passing.allCases)
    func goneBeforeTheEnd(_ passing: Passing) {
        let root = Container()
        let kept = root.child()
        let reports = root.logReports()
        let heard = Log<Int>()
        root.observe(Third.self) { heard.add($0) }
        root.update { changes in
            changes[First.self] = 1
            kept.update { $0[Second.self] = 5 }
            passing.make(in: root).update { $0[Second.self] = 2 }
            changes[Third.self] = 3
        }
        expect(root[First.self], equals: 1)
        expect(root[Third.self], equals: 3)
        expect(kept[Second.self], equals: 5)
        expect(root[Second.self] == 0 && heard.all == [3])
        expect(reports.count == 1 && reports.all.first?.contains("Second") == true, "\(reports.all)")
    }

    @Test("Nor does one that is released take with it what is undone in the same update (law 6)")
    func goneAndUndone() {
        let root = Container()
        _ = root.logReports()
        root.update { changes in
            changes[First.self] = 1
            #expect(throws: Failure.self) {
                try root.update { inner throws(Failure) in
                    inner[First.self] = 2
                    root.child().update { $0[Second.self] = 2 }
                    throw Failure()
                }
            }
            changes[Third.self] = 3
        }
        expect(root[First.self], equals: 1)
        expect(root[Second.self], equals: 0)
        expect(root[Third.self], equals: 3)
    }

    @Test("A child's own update sees the pending values of its parent's update (law 6)")
    func pendingAbove() {
        let root = Container()
        let (child, overriding) = (root.child(), root.child { $0[First.self] = 9 })
        root.update { changes in
            changes[First.self] = 1
            child.update { inner in
                expect(inner[First.self], equals: 1)
                inner[Second.self] = inner[First.self] + 1
            }
            overriding.update { inner in
                expect(inner[First.self], equals: 9)
                inner.reset(First.self)
                expect(inner[First.self], equals: 9)
            }
            expect(child[First.self], equals: 0)
            expect(overriding[First.self], equals: 9)
        }
        expect(child[Second.self], equals: 2)
        expect(overriding[First.self], equals: 1)
    }

    @Test(
        "A child's observer hears a key once that the update changes above it and in it, and nothing if it sees no change (law 6)"
    )
    func heardOnce() {
        // A child's observer hears a key once that the update changes above it and in it.
        do {
            for childFirst in [false, true] {
                let root = Container()
                let child = root.child()
                let (heard, below) = (Log<Int>(), Log<Int>())
                child.observe(First.self) { heard.add($0) }
                child.child().observe(First.self) { below.add($0) }
                let kept = child.child()
                kept.observe(First.self) { below.add($0) }
                root.update { changes in
                    if childFirst { child.update { $0[First.self] = 2 } }
                    changes[First.self] = 1
                    if !childFirst { child.update { $0[First.self] = 2 } }
                }
                expect(heard.all == [2] && below.all == [2], "childFirst: \(childFirst)")
                withExtendedLifetime(kept) {}
            }
        }
        // A child's observer that sees no change hears nothing of a reset and a set that leave it its value.
        do {
            let root = Container()
            let child = root.child { $0[First.self] = 2 }
            let heard = Log<Int>()
            child.observe(First.self) { heard.add($0) }
            root.update { changes in
                changes[First.self] = 1
                child.update { inner in
                    inner.reset(First.self)
                    inner[First.self] = 2
                }
            }
            expect(heard.all, equals: [])
            expect(child[First.self], equals: 2)
            expect(root[First.self], equals: 1)
        }
    }
}

// Law 6: inside an update, a key that it resets or replaces gives what's published, and what isn't loaded loads as it does
// outside (laws 3, 5, 10, 11 and 18).
@Suite("Law 6: loading inside an update", .timeLimit(.minutes(5))) struct UpdateLoadTests {}

extension UpdateLoadTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Tally: Property { static var defaultValue: Accounts { Accounts() } }
    struct Accounts: Sendable {
        let opened = Counter()
        let closed = Log<String>()
    }

    struct Opened: Feature {
        static func load(in container: any FeatureContainer) -> Witness {
            let tally = container[Tally.self]
            let number = tally.opened.add()
            container.onClose { tally.closed.add("opened \(number)") }
            return Witness()
        }
    }
    struct Above: Feature {
        static func load(in container: any FeatureContainer) -> Witness {
            let (tally, opened) = (container[Tally.self], container[Opened.self])
            container.onClose { tally.closed.add("above") }
            return Witness { withExtendedLifetime(opened) {} }
        }
    }
    struct FromNumber: Feature {
        let number: Int
        static func load(in container: any FeatureContainer) -> FromNumber {
            FromNumber(number: container[Number.self])
        }
    }
    struct Local: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Witness { Witness() }
    }
    struct Broken: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { try container[Broken.self] + 1 }
    }
    struct Failure: Error {}

    @Test("A key that is reset or replaced there gives what is published, and loads anew afterward (laws 3 and 6)")
    func reset() {
        // A key that is reset there gives what is published, and what is loaded afterward is new.
        do {
            let container = Container().unreported
            container[Number.self] = 1
            let tally = container[Tally.self]
            let before = container[Opened.self]
            container.update { changes in
                changes.reset(Opened.self)
                changes.reset(Number.self)
                expect(changes[Opened.self], is: before)
                expect(changes[Number.self], equals: 1)
                expect(changes[FromNumber.self].number, equals: 1)
                expect(tally.opened.value, equals: 1)
            }
            expect(container[Opened.self] !== before)
            expect(tally.opened.value, equals: 2)
            expect(container[Number.self], equals: 0)
            expect(container[FromNumber.self].number, equals: 1)
        }
        // The closure of a feature that is replaced there runs only when all is published.
        do {
            let container = Container()
            let made = Counter()
            let inside = Log<Witness>()
            container.update { changes in
                changes.replace(Opened.self) { _ in
                    made.add()
                    return Witness()
                }
                for _ in 0..<3 { inside.add(changes[Opened.self]) }
                expect(made.value, equals: 0)
            }
            expect(inside.all[0], is: inside.all[2])
            expect(container[Tally.self].opened.value, equals: 1)
            expect(container[Opened.self] !== inside.all[0])
            expect(made.value, equals: 1)
        }
    }

    @Test("A child's gives there what the child has, and a local one that of its container (laws 6, 10, 11)")
    func inAChild() {
        let root = Container()
        _ = root[FromNumber.self]
        let child = root.child {
            $0[Number.self] = 5
            $0[FromNumber.self] = FromNumber(number: -1)
        }
        let (above, before) = (root[Local.self], child[Local.self])
        child.update { changes in
            changes.reset(FromNumber.self)
            changes.reset(Local.self)
            expect(changes[FromNumber.self].number, equals: -1)
            expect(changes[Local.self], is: before)
        }
        expect(child[FromNumber.self].number, equals: 5)
        expect(root[FromNumber.self].number, equals: 0)
        expect(child[Local.self] !== before)
        expect(root[Local.self], is: above)
    }

    @Test(
        "Closers of what is loaded and reset there run once, at the end, whether the update throws or not (laws 6 and 18)"
    )
    func closers() async throws {
        // Closers of what is reset there run at the end, and none run if the update throws.
        do {
            let container = Container()
            let tally = container[Tally.self]
            container.update { changes in
                let opened = changes[Opened.self]
                changes.reset(Opened.self)
                expect(changes[Opened.self], is: opened)
                expect(tally.closed.all, equals: [])
            }
            _ = container[Above.self]
            try? container.update { changes throws(Failure) in
                changes.reset(Opened.self)
                _ = changes[Above.self]
                throw Failure()
            }
            container.onClose { tally.closed.add("container") }
            try await finishing { try await container.close() }
            expect(tally.opened.value, equals: 2)
            expect(tally.closed.all, equals: ["opened 1", "above", "opened 2", "container"])
        }
        // Each closer of what is loaded in updates runs once, whether the updates throw or not.
        do {
            let container = Container()
            let tally = container[Tally.self]
            for round in 0..<10 {
                try? container.update { changes throws(Failure) in
                    changes.reset(Opened.self)
                    _ = (changes[Opened.self], changes[Opened.self])
                    if round % 2 == 0 { throw Failure() }
                }
            }
            try await finishing { try await container.close() }
            expect(tally.closed.all.sorted(), equals: (1...tally.opened.value).map { "opened \($0)" }.sorted())
        }
    }

    @Test("A load that needs itself is found there, with the path (laws 5 and 6)")
    func cycle() async throws {
        let path = try await finishing {
            let path = Log<[String]>()
            let container = Container()
            container.update { changes in
                changes.reset(Broken.self)
                do { _ = try changes[Broken.self] } catch { path.add((error as? LoadError)?.path ?? []) }
            }
            return path.all
        }
        expect(path, equals: [["Broken", "Broken"]])
    }

    @Test("A load that changes something through its handle stops there as it does outside (laws 6 and 11)")
    func writing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let key = FeatureKey { container in
                container[Number.self] = 99
                return 1
            }
            Container().update { changes in
                changes.reset { _ in key }
                _ = changes[key]
            }
        }
        expectMessage(of: result, "Number", "while it loads")
    }

    @Test("In a closed container it is reported (laws 6 and 18)")
    func closed() async throws {
        let container = Container()
        let tally = container[Tally.self]
        try await container.close()
        let reports = container.logReports()
        container.update { changes in
            changes.reset(Opened.self)
            _ = changes[Opened.self]
        }
        expect(tally.opened.value, equals: 1)
        expect(reports.count == 1 && reports.all.first?.contains("Opened") == true, "\(reports.all)")
    }

    @Test("What is loaded there and reset is heard as both (laws 6 and 9)")
    func observed() {
        let container = Container()
        let heard = Log<Int>()
        container[Number.self] = 3
        container.observe(FromNumber.self) { heard.add($0.number) }
        container.update { changes in
            changes.reset(FromNumber.self)
            _ = (changes[FromNumber.self], changes[FromNumber.self])
        }
        expect(heard.all, equals: [3, 3])
    }
}
