import Fugu
import Support
import Testing

// Law 7: update publishes all its changes together. No write is lost between updates; one to a container that has gone
// away meanwhile is reported and takes no other with it. Each observer hears each changed key once.
@Suite("Law 7: no write of an update is lost") struct Law07LostUpdateTests {
    static let cases: [Case<Law07LostUpdateTests>] = [
        Case(
            "The same holds when many are released in turn, and when they joined through one another (law 7)", manyGone),
        Case("Nor does one that is released take with it what is undone in the same update (law 7)", goneAndUndone),
        Case("A child's own update sees the pending values of its parent's update (law 7)", pendingAbove),
        Case("A child's observer hears a key once that the update changes above it and in it (law 7)", heardOnce),
        Case(
            "A child's observer that sees no change hears nothing of a reset and a set that leave it its value (law 7)",
            heardNever),
        Case(
            "Children that join an update and go away on many threads lose no write of the root (laws 7 and 8)", threads
        ),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law07LostUpdateTests>) async throws {
        try await stated.run(self)
    }

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
        "A container that is released before the end of the update that it joined takes no other write with it (law 7)",
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

    func manyGone() {
        let root = Container()
        _ = root.logReports()
        root.update { changes in
            for number in 1...50 {
                changes[First.self] = number
                root.child().update { inner in
                    inner[Second.self] = number
                    root.child().update { $0[Second.self] = number }
                    changes[Third.self] += 1
                }
            }
        }
        expect(root[First.self], equals: 50)
        expect(root[Second.self], equals: 0)
        expect(root[Third.self], equals: 50)
    }

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

    func heardOnce() {
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

    func heardNever() {
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

    func threads() async throws {
        let lost = Counter()
        try await finishing {
            let root = Container()
            root.handleReports { _ in }
            let keys = (0..<4).map { PropertyKey(defaultValue: 0, id: "lost\($0)") }
            onThreads(4) { number in
                for round in 1...200 {
                    root.update { changes in
                        root.child().update { $0[keys[(number + 1) % 4]] = -1 }
                        changes[keys[number]] = round
                    }
                    if root[keys[number]] != round { lost.add() }
                }
            }
        }
        expect(lost.value, equals: 0)
    }
}
