import Fugu
import Support
import Testing

@Suite("Law 7: what joins an update, and what does not") struct Law07IndependentUpdatesTests {
    static let cases: [Case<Law07IndependentUpdatesTests>] = [
        Case("An update of another family inside is published by itself (laws 2 and 7)", otherFamily),
        Case("However updates in tasks meet the end of the one that began them, none is lost (law 7)", race),
        Case(
            "A handle used by another thread writes with its update, before its end or directly after (law 7)",
            handleElsewhere),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law07IndependentUpdatesTests>) async throws {
        try await stated.run(self)
    }

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
        "An update in a task or thread begun inside another is published at its own end (law 7)",
        arguments: Elsewhere.allCases)
    func atItsOwnEnd(_ elsewhere: Elsewhere) async {
        // Not on a thread of the pool, on which the tasks are to run.
        await startThread {
            let root = Container()
            let container = root.child()
            let heard = Log<Int>()
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

    @Test("It is not undone with the outer one, nor the outer one with it (law 7)", arguments: Elsewhere.allCases)
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

    @Test("Nested by its own calls it joins, through children, modifies and loads too (law 7)")
    func joins() throws {
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

    func otherFamily() {
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
        "Another thread's update is not lost while an update is being published (law 7)",
        arguments: Elsewhere.allCases)
    func whilePublishing(_ elsewhere: Elsewhere) async {
        // Not on a thread of the pool, on which the tasks are to run.
        await startThread {
            let container = Container()
            let key = PropertyKey(defaultValue: Touchy(number: 0), id: "touchy")
            let once = Counter()
            container.observe(key) { _ in }
            _ = container[key]
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

    func race() async {
        for round in 0..<500 {
            let container = Container()
            let tasks = Log<Task<Void, Never>>()
            container.update { outer in
                outer[A.self] = 1
                tasks.add(Task { container.update { $0[B.self] = 7 } })
                for _ in 0..<(round % 16) * 10 { _ = outer[A.self] }
            }
            await tasks.all[0].value
            expect(container[A.self] == 1 && container[B.self] == 7, "round \(round)")
        }
    }

    func handleElsewhere() {
        for _ in 0..<200 {
            let container = Container()
            let handles = Log<any FeatureContainer>()
            let began = Gate()
            let writer = startThread {
                began.wait()
                handles.all[0][B.self] = 7
            }
            container.update { outer in
                outer[A.self] = 1
                handles.add(outer)
                began.open()
            }
            writer.wait()
            expect(container[A.self], equals: 1)
            expect(container[B.self], equals: 7)
        }
    }
}
