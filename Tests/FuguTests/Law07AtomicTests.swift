@testable import Fugu
import Support
import Testing

@Suite("Law 7: modify is exclusive") struct Law07ModifyTests {
    static let cases: [Case<Law07ModifyTests>] = [
        Case("Observed values and values on the heap are counted exactly too (law 7)", observedIncrements),
        Case("Reads during a modify see the old value (law 7)", reads),
        Case("A body that throws changes nothing and notifies nobody (law 7)", throwing),
        Case("The result of the body is returned (law 7)", result),
        Case("Sets, resets, updates and modifies of the key wait for the end of the body (law 7)", otherWriters),
        Case("A modify excludes only its own key in its own container (law 7)", otherKeys),
        Case("A modify in a child begins with what it inherits and leaves the parent alone (law 7)", inChild),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law07ModifyTests>) async throws { try await stated.run(self) }

    struct Count: Property { static var defaultValue: Int { 0 } }
    struct Broken: Error {}

    @Test("Eight threads that each add one thousands of times lose none (law 7)")
    func increments() async {
        let container = Container()
        let count = rounds(20_000, few: 4_000)
        await onThreads(8) { _ in
            for _ in 0..<count { container.modify(Count.self) { $0 += 1 } }
        }
        expect(container[Count.self], equals: 8 * count)
    }

    func observedIncrements() async {
        let container = Container()
        let key = PropertyKey(defaultValue: ["count": 0])
        let heard = Counter()
        container.observe(key) { _ in heard.add() }
        await onThreads(4) { _ in
            for _ in 0..<1_000 { container.modify(key) { $0["count"]? += 1 } }
        }
        expect(container[key], equals: ["count": 4_000])
        expect(heard.value, equals: 4_000)  // the default that the first one read is replaced at once
    }

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

    func throwing() {
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

    func result() {
        let container = Container()
        let old = container.modify(Count.self) { value in
            defer { value += 5 }
            return value
        }
        expect(old, equals: 0)
        expect(container[Count.self], equals: 5)
    }

    func otherWriters() {
        let writes: [@Sendable (Container, PropertyKey<Int>) -> Void] = [
            { $0[$1] = 10 },
            { $0.reset($1) },
            { container, key in container.update { $0[key] = 10 } },
            { container, key in container.modify(key) { $0 *= 10 } },
        ]
        for (write, expected) in zip(writes, [10, 0, 10, 20]) {
            let container = Container()
            let key = PropertyKey(defaultValue: 0)
            container[key] = 1
            let writer = Log<Gate>()
            container.modify(key) { value in
                writer.add(startThread { write(container, key) })
                container.awaitWriters(1, for: key)
                value = 2
            }
            writer.all[0].wait()
            expect(container[key], equals: expected)
        }
    }

    func otherKeys() {
        let container = Container()
        let child = container.child()
        let other = PropertyKey(defaultValue: 0)
        container.modify(Count.self) { value in
            onAnotherThread {
                container[other] = 1
                container.modify(other) { $0 += 1 }
                child[Count.self] = 5
                child.modify(Count.self) { $0 += 1 }
            }
            container[other] += 1
            value = 1
        }
        expect(container[Count.self], equals: 1)
        expect(container[other], equals: 3)
        expect(child[Count.self], equals: 6)
    }

    func inChild() {
        let container = Container()
        let child = container.child()
        container[Count.self] = 7
        child.modify(Count.self) { $0 += 1 }
        expect(child[Count.self], equals: 8)
        expect(container[Count.self], equals: 7)
    }

    @Test("Writing the same key inside stops with a message (law 7)")
    func sameKeySet() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.modify(Count.self) { _ in container[Count.self] = 5 }
        }
        expectMessage(
            of: result, "Count is written while modify changes it", "Count → Count", "write after it")
    }

    @Test("Modifying, resetting or updating the same key inside stops with a message (law 7)")
    func sameKeyOtherwise() async {
        let modified = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.modify(Count.self) { _ in container.modify(Count.self) { $0 += 1 } }
        }
        let reset = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.modify(Count.self) { _ in container.reset(Count.self) }
        }
        let updated = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.modify(Count.self) { _ in container.update { $0[Count.self] = 1 } }
        }
        for result in [modified, reset, updated] { expectMessage(of: result, "Count → Count") }
    }

    struct Total: Feature {
        static func load(in container: any FeatureContainer) -> Int {
            Law07ModifyTests.family[Count.self] = 1
            return 1
        }
    }
    static let family = Container()

    @Test("Writing the same key in a load inside stops with the way (law 7)")
    func throughLoad() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            Law07ModifyTests.family.modify(Count.self) { $0 = Law07ModifyTests.family[Total.self] }
        }
        expectMessage(of: result, "Count → Total → Count")
    }

    struct Height: Property { static var defaultValue: Int { 0 } }
    struct Width: Property { static var defaultValue: Int { 0 } }

    @Test("Two threads that each modify what the other is modifying stop with a message (law 7)")
    func circle() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            let barrier = Barrier(of: 2)
            onThreads(2) { thread in
                if thread == 0 {
                    container.modify(Height.self) { _ in
                        barrier.wait()
                        container.modify(Width.self) { $0 += 1 }
                    }
                } else {
                    container.modify(Width.self) { _ in
                        barrier.wait()
                        container[Height.self] = 1
                    }
                }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Height → Width") || text.contains("Width → Height"), "\(text)")
    }

    struct Area: Feature {
        static let began = Gate()
        static func load(in container: any FeatureContainer) -> Int {
            began.open()
            modifying.wait()
            Law07ModifyTests.family[Count.self] = 1
            return 1
        }
        static let modifying = Gate()
    }

    @Test("A modify and a load that wait for one another stop with a message (law 7)")
    func circleWithLoad() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            startThread { _ = Law07ModifyTests.family[Area.self] }
            Area.began.wait()
            Law07ModifyTests.family.modify(Count.self) { value in
                Area.modifying.open()
                value = Law07ModifyTests.family[Area.self]
            }
        }
        expectMessage(of: result, "Count is written while modify changes it", "Area → Count")
    }
}
