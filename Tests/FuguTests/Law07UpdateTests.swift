@testable import Fugu
import Support
import Testing

@Suite("Law 7: update is atomic") struct Law07UpdateTests {
    static let cases: [Case<Law07UpdateTests>] = [
        Case("All changes are published at the end, and seen inside before that (law 7)", publication),
        Case(
            "A child that reads in an update that replaces a feature above has its own, and keeps it (law 7)",
            throwingAboveChild),
        Case("An update that throws publishes none (law 7)", throwing),
        Case("Loads inside see only what is published (law 7)", loads),
        Case("A pending reset is published at the end, and not seen before (law 7)", pendingReset),
        Case("Features of all kinds are set with the rest (law 7)", features),
        Case("Observers hear each changed key once, after all is published (law 7)", observers),
        Case("Nested updates join the outer one (law 7)", nested),
        Case(
            "A nested update goes with the outer one that throws, and alone if only it throws (law 7)", nestedThrowing),
        Case("Updates of many threads that overlap leave the values of one of them (law 7)", writers),
        Case("A handle that outlives its update writes directly (law 7)", lateHandle),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law07UpdateTests>) async throws { try await stated.run(self) }

    struct First: Property { static var defaultValue: Int { 0 } }
    struct Second: Property { static var defaultValue: Int { 0 } }
    struct Text: Property { static var defaultValue: [Int] { [0] } }
    struct Sum: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[First.self] + container[Second.self] }
    }
    struct Broken: Error {}

    func publication() {
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

    struct Made: Feature {
        static func load(in container: any FeatureContainer) -> String { "own \(container[First.self])" }
    }

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

    func loads() {
        let container = Container()
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

    func features() throws {
        struct Parsed: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Int { 0 }
        }
        let container = Container()
        container.update { handle in
            handle[Sum.self] = 7
            handle.set(Parsed.self, to: 8)
            expect(container[Sum.self], equals: 0)
        }
        expect(container[Sum.self], equals: 7)
        try expect(container[Parsed.self], equals: 8)
    }

    func observers() {
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

    func nested() {
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

    func nestedThrowing() {
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

    @Test("Nobody who saw one new value sees an old one afterwards (law 7)")
    func readers() async {
        let container = Container()
        let child = container.child().child()
        container.update {
            $0[First.self] = 0
            $0[Second.self] = 0
        }
        let rounds = Support.rounds(4_000, few: 1_000)
        let failures = Counter()
        await onThreads(4) { thread in
            guard thread > 0 else {
                for round in 1...rounds {
                    container.update { handle in
                        handle[Text.self] = [round]
                        handle[First.self] = round
                        handle[Second.self] = round
                    }
                }
                return
            }
            let reader = thread == 1 ? container : child
            var seen = 0
            while seen < rounds {
                let first = reader[First.self]
                let text = reader[Text.self][0]
                let second = reader[Second.self]
                if first < seen || text < first || second < text { failures.add() }
                seen = max(seen, second)
            }
        }
        expect(failures.value, equals: 0)
    }

    func writers() async {
        let container = Container()
        await onThreads(4) { thread in
            for round in 0..<500 {
                container.update { handle in
                    let number = thread * 1_000 + round
                    if thread % 2 == 0 { handle[First.self] = number }
                    handle[Second.self] = number
                    handle[First.self] = number
                }
            }
        }
        expect(container[First.self], equals: container[Second.self])
    }

    func lateHandle() {
        let container = Container()
        let kept = Log<any FeatureContainer>()
        container.update { kept.add($0) }
        kept.all[0][First.self] = 5
        expect(container[First.self] == 5 && kept.all[0][First.self] == 5)
    }
}
