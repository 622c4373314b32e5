@testable import Fugu
import Support
import Testing

@Suite("Law 7: update is atomic") struct Law07UpdateTests {
    struct First: Property { static var defaultValue: Int { 0 } }
    struct Second: Property { static var defaultValue: Int { 0 } }
    struct Text: Property { static var defaultValue: [Int] { [0] } }
    struct Sum: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[First.self] + container[Second.self] }
    }
    struct Broken: Error {}

    @Test("All changes are published at the end, and seen inside before that (law 7)")
    func publication() {
        let container = Container()
        let child = container.child()
        container.update { handle in
            handle[First.self] = 1
            handle[Second.self] = 2
            handle[Text.self] = [3]
            #expect(handle[First.self] == 1 && handle[Second.self] == 2 && handle[Text.self] == [3])
            #expect(container[First.self] == 0 && child[Second.self] == 0 && container[Text.self] == [0])
            #expect(onAnotherThread { container[First.self] } == 0)
            handle[First.self] += 10
        }
        #expect(container[First.self] == 11 && child[Second.self] == 2 && container[Text.self] == [3])
    }

    struct Made: Feature {
        static func load(in container: any FeatureContainer) -> String { "own \(container[First.self])" }
    }

    @Test("A child that reads in an update what only the update has made keeps nothing of it (law 7)")
    func throwingAboveChild() {
        let container = Container()
        let child = container.child { $0[First.self] = 1 }
        let heard = Log<String>()
        child.observe(Made.self) { heard.add($0) }
        #expect(throws: Broken.self) {
            try container.update { handle throws(Broken) in
                handle.replace(Made.self) { "draft \($0[First.self])" }
                child.update { #expect($0[Made.self] == "draft 1") }
                #expect(child[Made.self] == "own 1" && onAnotherThread { child[Made.self] } == "own 1")
                throw Broken()
            }
        }
        #expect(container[Made.self] == "own 0" && child[Made.self] == "own 1" && heard.all == ["own 1"])
    }

    @Test("An update that throws publishes none (law 7)")
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
        #expect(container.ifLoaded(First.self) == nil && container.ifLoaded(Sum.self) == nil && heard.all.isEmpty)
    }

    @Test("Loads inside see only what is published (law 7)")
    func loads() {
        let container = Container()
        container[First.self] = 1
        container.update { handle in
            handle[First.self] = 100
            #expect(handle[First.self] == 100)
            #expect(handle[Sum.self] == 1)
        }
        #expect(container[Sum.self] == 1)
        container.reset(Sum.self)
        #expect(container[Sum.self] == 100)
    }

    @Test("A pending reset is seen inside and published at the end (law 7)")
    func pendingReset() {
        let container = Container()
        container[First.self] = 5
        container[Sum.self] = 50
        let child = container.child { $0[First.self] = 6 }
        container.update { handle in
            handle.reset(First.self)
            #expect(handle[First.self] == 0)
            #expect(container[First.self] == 5)
        }
        child.update { handle in
            handle.reset(First.self)
            #expect(handle[First.self] == 0)
            #expect(child[First.self] == 6)
        }
        #expect(container[First.self] == 0 && child[First.self] == 0)
    }

    @Test("Features of all kinds are set with the rest (law 7)")
    func features() throws {
        struct Parsed: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Int { 0 }
        }
        let container = Container()
        container.update { handle in
            handle[Sum.self] = 7
            handle.set(Parsed.self, to: 8)
            #expect(container[Sum.self] == 0)
        }
        #expect(container[Sum.self] == 7)
        #expect(try container[Parsed.self] == 8)
    }

    @Test("Observers hear each changed key once, after all is published (law 7)")
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
            #expect(heard.all.isEmpty)
        }
        #expect(heard.all.sorted() == ["first 5 50", "second 50 5"])
    }

    @Test("Nested updates join the outer one (law 7)")
    func nested() {
        let container = Container()
        let child = container.child()
        container.update { handle in
            handle[First.self] = 1
            container.update { inner in
                #expect(inner[First.self] == 1)
                inner[Second.self] = 2
            }
            #expect(handle[Second.self] == 2)
            child.update { $0[Text.self] = [4] }
            #expect(container[First.self] == 0 && container[Second.self] == 0 && child[Text.self] == [0])
        }
        #expect(container[First.self] == 1 && container[Second.self] == 2 && child[Text.self] == [4])
    }

    @Test("A nested update goes with the outer one that throws, and alone if only it throws (law 7)")
    func nestedThrowing() {
        let container = Container()
        try? container.update { handle throws(Broken) in
            container.update { $0[First.self] = 1 }
            throw Broken()
        }
        #expect(container[First.self] == 0)
        container.update { handle in
            handle[First.self] = 1
            handle[Second.self] = 1
            try? container.update { inner throws(Broken) in
                inner[First.self] = 2
                inner[Text.self] = [2]
                throw Broken()
            }
            #expect(handle[First.self] == 1)
        }
        #expect(container[First.self] == 1 && container[Second.self] == 1 && container[Text.self] == [0])
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
        #expect(failures.value == 0)
    }

    @Test("Updates of many threads that overlap leave the values of one of them (law 7)")
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
        #expect(container[First.self] == container[Second.self])
    }

    @Test("A handle that outlives its update writes directly (law 7)")
    func lateHandle() {
        let container = Container()
        let kept = Log<any FeatureContainer>()
        container.update { kept.add($0) }
        kept.all[0][First.self] = 5
        #expect(container[First.self] == 5 && kept.all[0][First.self] == 5)
    }
}
