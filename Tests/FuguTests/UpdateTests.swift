import Support
import Testing

@testable import Fugu

/// Law 6: update is atomic.
struct UpdateTests {}

extension UpdateTests {
    struct First: Property { static var defaultValue: Int { 0 } }
    struct Second: Property { static var defaultValue: Int { 0 } }
    struct Text: Property { static var defaultValue: [Int] { [0] } }
    struct Sum: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[First.self] + container[Second.self] }
    }
    struct Broken: Error {}

    @Test("All changes are published at the end and seen inside before that, except by loads (law 6)")
    func publication() {
        // All changes are published at the end, and seen inside before that.
        do {
            let container = Container()
            let child = container.child()
            container.update { handle in
                handle[First.self] = 1
                handle[Second.self] = 2
                handle[Text.self] = [3]
                expect(handle[First.self] == 1 && handle[Second.self] == 2 && handle[Text.self] == [3])
                expect(container[First.self] == 0 && child[Second.self] == 0 && container[Text.self] == [0])
                expect(onAnotherThread { container[First.self] }, equals: 0)
                handle[First.self] += 10
            }
            expect(container[First.self] == 11 && child[Second.self] == 2 && container[Text.self] == [3])
        }
        // Loads inside see only what is published.
        do {
            let container = Container().unreported
            container[First.self] = 1
            container.update { handle in
                handle[First.self] = 100
                expect(handle[First.self], equals: 100)
                expect(handle[Sum.self], equals: 1)
            }
            expect(container[Sum.self], equals: 1)
            container.reset(Sum.self)
            expect(container[Sum.self], equals: 100)
        }
    }

    struct Made: Feature {
        static func load(in container: any FeatureContainer) -> String { "own \(container[First.self])" }
    }

    @Test("A child that reads in an update that replaces a feature above has its own, and keeps it (law 6)")
    func throwingAboveChild() {
        let container = Container()
        let child = container.child { $0[First.self] = 1 }
        let heard = Log<String>()
        child.observe(Made.self) { heard.add($0) }
        #expect(throws: Broken.self) {
            try container.update { handle throws(Broken) in
                handle.replace(Made.self) { "draft \($0[First.self])" }
                child.update { expect($0[Made.self], equals: "own 1") }
                expect(child[Made.self], equals: "own 1")
                expect(onAnotherThread { child[Made.self] }, equals: "own 1")
                throw Broken()
            }
        }
        expect(container[Made.self], equals: "own 0")
        expect(child[Made.self], equals: "own 1")
        expect(heard.all, equals: ["own 1"])
    }

    @Test("An update that throws publishes none (law 6)")
    func throwing() {
        let container = Container()
        let heard = Log<Int>()
        container.observe(First.self) { heard.add($0) }
        #expect(throws: Broken.self) {
            try container.update { handle throws(Broken) in
                handle[First.self] = 1
                handle[Sum.self] = 2
                throw Broken()
            }
        }
        expect(container.ifLoaded(First.self) == nil)
        expect(container.ifLoaded(Sum.self) == nil)
        expect(heard.all.isEmpty)
    }

    @Test("A pending reset is published at the end, and not seen before (law 6)")
    func pendingReset() {
        let container = Container()
        container[First.self] = 5
        container[Sum.self] = 50
        let child = container.child { $0[First.self] = 6 }
        container.update { handle in
            handle.reset(First.self)
            expect(handle[First.self], equals: 5)
            expect(container[First.self], equals: 5)
            handle[First.self] = 7
            expect(handle[First.self], equals: 7)
            handle.reset(First.self)
            expect(handle[First.self], equals: 5)
        }
        child.update { handle in
            handle.reset(First.self)
            expect(handle[First.self], equals: 6)
            expect(child[First.self], equals: 6)
        }
        expect(container[First.self], equals: 0)
        expect(child[First.self], equals: 0)
    }

    @Test(
        "Observers hear each changed key once, after all is published, and a default that it reads first before (laws 6 and 9)"
    )
    func observers() {
        // Observers hear each changed key once, after all is published.
        do {
            let container = Container()
            let heard = Log<String>()
            container.observe(First.self) { heard.add("first \($0) \(container[Second.self])") }
            container.observe(Second.self) { heard.add("second \($0) \(container[First.self])") }
            container[First.self] = 0
            container[Second.self] = 0
            heard.removeAll()
            container.update { handle in
                for number in 1...5 {
                    handle[First.self] = number
                    handle[Second.self] = number * 10
                }
                expect(heard.all.isEmpty)
            }
            expect(heard.all.sorted(), equals: ["first 5 50", "second 50 5"])
        }
        // A default that an update reads first is heard, too, before what it changes.
        do {
            let container = Container()
            let child = container.child()
            let (heard, below) = (Log<Int>(), Log<Int>())
            container.observe(First.self) { heard.add($0) }
            child.observe(First.self) { below.add($0) }
            child.update { $0[First.self] += 1 }
            expect(heard.all == [0] && below.all == [0, 1])
            container.update { $0[Second.self] = $0[First.self] + 1 }
            expect(container[Second.self] == 1 && heard.all == [0])
        }
    }

    @Test("Nested updates join the outer one, go with it if it throws, and alone if only they throw (law 6)")
    func nested() {
        // Nested updates join the outer one.
        do {
            let container = Container()
            let child = container.child()
            container.update { handle in
                handle[First.self] = 1
                container.update { inner in
                    expect(inner[First.self], equals: 1)
                    inner[Second.self] = 2
                }
                expect(handle[Second.self], equals: 2)
                child.update { $0[Text.self] = [4] }
                expect(container[First.self] == 0 && container[Second.self] == 0 && child[Text.self] == [0])
            }
            expect(container[First.self] == 1 && container[Second.self] == 2 && child[Text.self] == [4])
        }
        // A nested update goes with the outer one that throws, and alone if only it throws.
        do {
            let container = Container()
            try? container.update { handle throws(Broken) in
                container.update { $0[First.self] = 1 }
                throw Broken()
            }
            expect(container[First.self], equals: 0)
            container.update { handle in
                handle[First.self] = 1
                handle[Second.self] = 1
                try? container.update { inner throws(Broken) in
                    inner[First.self] = 2
                    inner[Text.self] = [2]
                    throw Broken()
                }
                expect(handle[First.self], equals: 1)
            }
            expect(container[First.self] == 1 && container[Second.self] == 1 && container[Text.self] == [0])
        }
    }

    @Test("A handle that outlives its update writes directly (law 6)")
    func lateHandle() {
        let container = Container()
        let kept = Log<any FeatureContainer>()
        container.update { kept.add($0) }
        kept.all[0][First.self] = 5
        expect(container[First.self] == 5 && kept.all[0][First.self] == 5)
    }
}

/// Law 6: modify loses no change.
struct ModifyTests {}

extension ModifyTests {
    struct Count: Property { static var defaultValue: Int { 0 } }
    struct Broken: Error {}

    @Test("Reads during a modify see the old value (law 6)")
    func reads() {
        let container = Container()
        let child = container.child()
        container[Count.self] = 1
        container.modify(Count.self) { value in
            value = 2
            expect(container[Count.self], equals: 1)
            expect(child[Count.self], equals: 1)
            expect(onAnotherThread { container[Count.self] }, equals: 1)
            value = 3
        }
        expect(container[Count.self], equals: 3)
        expect(child[Count.self], equals: 3)
    }

    @Test(
        "A body that throws changes nothing, notifies nobody, and in its second run leaves what others have set (law 6)"
    )
    func throwing() {
        // A body that throws changes nothing and notifies nobody.
        do {
            let container = Container()
            container[Count.self] = 1
            let heard = Log<Int>()
            container.observe(Count.self) { heard.add($0) }
            #expect(throws: Broken.self) {
                try container.modify(Count.self) { value throws(Broken) in
                    value = 2
                    throw Broken()
                }
            }
            expect(container[Count.self], equals: 1)
            expect(heard.all.isEmpty)
            container[Count.self] = 3
            container.modify(Count.self) { $0 += 1 }
            expect(container[Count.self] == 4 && heard.all == [3, 4])
        }
        // A body that throws in its second run leaves what others have set.
        do {
            let (container, runs) = (Container(), Counter())
            #expect(throws: Broken.self) {
                try container.modify(Count.self) { value throws(Broken) in
                    value += 1
                    if runs.add() == 2 { throw Broken() }
                    container[Count.self] = 7
                }
            }
            expect(container[Count.self], equals: 7)
        }
    }

    @Test(
        "modify returns the body's result, and begins with what a child inherits, or with an update's pending value (law 6)"
    )
    func result() {
        // The result of the body is returned.
        do {
            let container = Container()
            let old = container.modify(Count.self) { value in
                defer { value += 5 }
                return value
            }
            expect(old, equals: 0)
            expect(container[Count.self], equals: 5)
        }
        // Through the handle of an update, the value is a pending one.
        do {
            let container = Container()
            container.update { handle in
                handle[Count.self] = 1
                (handle as! Container).modify(Count.self) { $0 += 1 }
                expect(handle[Count.self] == 2 && container[Count.self] == 0)
            }
            expect(container[Count.self], equals: 2)
        }
        // A modify in a child begins with what it inherits and leaves the parent alone.
        do {
            let container = Container()
            let child = container.child()
            container[Count.self] = 7
            child.modify(Count.self) { $0 += 1 }
            expect(child[Count.self], equals: 8)
            expect(container[Count.self], equals: 7)
        }
    }

    @Test(
        "If something else, the body, a load or an == changes the value meanwhile, the body runs again with the new one (law 6)"
    )
    func runsAgain() {
        // If something else changes the value meanwhile, the body runs again with the new one.
        do {
            let writes: [@Sendable (Container, PropertyKey<Int>) -> Void] = [
                { $0[$1] = 10 },
                { container, key in container.reset { _ in key } },
                { container, key in container.update { $0[key] = 10 } },
                { container, key in container.modify({ _ in key }) { $0 *= 10 } },
            ]
            for (write, value) in zip(writes, [10, 0, 10, 10]) {
                let container = Container()
                let key = PropertyKey(defaultValue: 0)
                let heard = Log<Int>()
                container[key] = 1
                container.observe({ _ in key }) { heard.add($0) }
                let seen = Log<Int>()
                let last = container.modify({ _ in key }) { number in
                    seen.add(number)
                    if seen.count == 1 { onAnotherThread { write(container, key) } }
                    number += 1
                    return seen.count
                }
                expect(seen.all == [1, value] && last == 2, "\(seen.all)")
                expect(container[key] == value + 1 && heard.all.last == value + 1)
            }
        }
        // So does a body that has changed its own key, or a body whose value a load or an == has changed.
        do {
            let (container, seen, compared) = (Container().unreported, Log<Int>(), Counter())
            container.modify(Count.self) { value in
                seen.add(value)
                if seen.count == 1 { container[Count.self] = 5 }
                if seen.count == 2 { _ = container[FeatureKey { _ in container.modify(Count.self) { $0 *= 2 } }] }
                value += 1
            }
            expect(container[Count.self] == 11 && seen.all == [0, 5, 10])
            let key = PropertyKey(defaultValue: Compared(number: 0))
            container[key] = Compared(number: 1)
            container.observe({ _ in key }) { _ in }
            container.modify({ _ in key }) { value in
                value.number += 1
                value.onComparison = {
                    if compared.add() == 1 { onAnotherThread { container[key] = Compared(number: 10) } }
                }
            }
            expect(container[key].number, equals: 11)
        }
    }

    /// A value that calls a closure when it's compared.
    struct Compared: Equatable, Sendable {
        var number: Int
        var onComparison: @Sendable () -> Void = {}
        static func == (left: Compared, right: Compared) -> Bool {
            left.onComparison()
            right.onComparison()
            return left.number == right.number
        }
    }

    @Test("A value that has come and gone, or is the same object, runs the body once (law 6)")
    func theSame() {
        let (container, key, runs) = (Container(), PropertyKey(defaultValue: ["a"]), Counter())
        container[Count.self] = 1
        container.modify(Count.self) { value in
            runs.add()
            onAnotherThread { for number in [2, 1] { container[Count.self] = number } }
            value += 1
        }
        expect(container[Count.self] == 2 && runs.value == 1)
        // An equal array isn't the one that was read.
        container.modify({ _ in key }) { value in
            if runs.add() == 2 { container[key] = ["a"] }
            value.append("b")
        }
        expect(container[key] == ["a", "b"] && runs.value == 3)
    }

    @Test("A body that changes its own key in each run is reported (law 6)")
    func endless() {
        let (container, reports, runs) = (Container(), Log<String>(), Counter())
        let key = PropertyKey(defaultValue: 0)
        container.handleReports { reports.add($0) }
        container.modify({ _ in key }) { value in
            if runs.add() <= 1_500 { container[key] += 1 }
            value = -1
        }
        expect(container[key] == -1 && runs.value == 1_501 && reports.count == 1)
        expect(reports.all.first?.contains("has called its body 1,000 times") == true, "\(reports.all)")
    }

    @Test("Bodies may change each other's keys, and wait for each other's threads (law 6)")
    func circle() {
        let (container, other, barrier) = (Container(), PropertyKey(defaultValue: 0), Barrier(of: 2))
        let runs = [Counter(), Counter()]
        onThreads(2) { thread in
            if thread == 0 {
                container.modify(Count.self) { value in
                    if runs[0].add() == 1 { barrier.wait() }
                    container.modify({ _ in other }) { $0 += 1 }
                    value += 10
                }
            } else {
                container.modify({ _ in other }) { value in
                    if runs[1].add() == 1 { barrier.wait() }
                    if runs[1].value == 1 { container.modify(Count.self) { $0 += 1 } }
                    value += 10
                }
            }
        }
        expect(container[Count.self], equals: 11)
        expect(container[other], equals: 10 + runs[0].value)
    }
}
