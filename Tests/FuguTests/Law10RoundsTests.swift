import Fugu
import Support
import Testing

// Law 10: setting from inside an observer is delivered after the present round. One container's observers never hold up
// those of another. == is called outside every lock, and does not keep anybody from setting.
@Suite("Law 10: rounds of delivery", .timeLimit(.minutes(1))) struct Law10RoundsTests {
    static let cases: [Case<Law10RoundsTests>] = [
        Case("A set of another key by an observer is delivered after the present round (law 10)", otherKey),
        Case(
            "Changes that observers make of several keys come round by round, in the order they were made (law 10)",
            severalKeys),
        Case("So does what an observer changes in a child, an update or a modify (laws 7 and 10)", otherWays),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law10RoundsTests>) async throws { try await stated.run(self) }

    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Third: Property { static var defaultValue: Int { 0 } }

    func otherKey() {
        let container = Container()
        let heard = Log<String>()
        container.observe(Number.self) { number in
            container[Other.self] = number
            heard.add("first \(number)")
        }
        container.observe(Number.self) { heard.add("second \($0)") }
        container.observe(Other.self) { heard.add("other \($0)") }
        container[Number.self] = 1
        expect(heard.all, equals: ["first 1", "second 1", "other 1"])
    }

    func severalKeys() {
        let container = Container()
        let heard = Log<String>()
        container.observe(Number.self) { number in
            container[Third.self] = number
            container[Other.self] = number
            heard.add("number \(number)")
        }
        container.observe(Third.self) { number in
            if number < 3 { container[Number.self] = number + 1 }
            heard.add("third \(number)")
        }
        container.observe(Other.self) { heard.add("other \($0)") }
        container[Number.self] = 1
        expect(
            heard.all,
            equals: [
                "number 1", "third 1", "other 1", "number 2", "third 2", "other 2", "number 3", "third 3", "other 3",
            ])
    }

    func otherWays() {
        let container = Container()
        let child = container.child()
        let heard = Log<String>()
        container.observe(Number.self) { number in
            child[Other.self] = number
            container.update { $0[Other.self] = number * 10 }
            container.modify(Third.self) { $0 = number }
            container.reset(Third.self)
            heard.add("number \(number)")
        }
        container.observe(Number.self) { _ in heard.add("second") }
        child.observe(Other.self) { heard.add("child \($0)") }
        container.observe(Other.self) { heard.add("other \($0)") }
        container.observe(Third.self) { heard.add("third \($0)") }
        container[Number.self] = 1
        expect(heard.all, equals: ["number 1", "second", "child 1", "other 10", "third 1", "third 0"])
    }

    @Test("However many keys' observers each set the next one, a small stack is enough (law 10)")
    func chain() async {
        await #expect(processExitsWith: .success) {
            startThread(stackSize: 512 << 10) {
                let count = 2_000
                let keys = (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
                let container = Container()
                for (key, next) in zip(keys, keys.dropFirst()) {
                    container.observe(key) { container[next] = $0 + 1 }
                }
                container[keys[0]] = 1
                precondition(container[keys[count - 1]] == count)
            }.wait()
        }
    }

    @Test("Two containers hear one change: the one that hears first holds up nothing else of the other (law 10)")
    func sameChange() async throws {
        let heard = Log<String>()
        let (entered, goesOn) = (Gate(), Gate())
        let containers = try await finishing {
            let root = Container()
            let children = [root.child(), root.child()]
            for (number, child) in children.enumerated() {
                child.observe(Number.self) { value in
                    heard.add("\(number): \(value)")
                    guard value == 1, !entered.isOpen else { return }
                    entered.open()
                    goesOn.wait()
                }
            }
            let thread = startThread { root[Number.self] = 1 }
            entered.wait()
            let other = heard.all == ["0: 1"] ? 1 : 0
            children[other][Number.self] = 5
            let before = heard.all.dropFirst().contains("\(other): 5")
            goesOn.open()
            thread.wait()
            expect(before, "\(heard.all)")
            expect(heard.all.last { $0.hasPrefix("\(other)") }, equals: "\(other): 5")
            return children
        }
        expect(containers.count, equals: 2)
    }

    @Test("A == that takes its time keeps nobody from setting, and its own set comes to an end (law 10)")
    func slowComparison() async throws {
        struct Slow: Equatable, Sendable {
            let number: Int
            let compared: Counter?
            static func == (left: Self, right: Self) -> Bool {
                (left.compared ?? right.compared)?.add()
                for _ in 0..<200 where left.number == right.number { _ = UniqueID() }
                return left.number == right.number
            }
        }
        try await finishing {
            let container = Container()
            let key = PropertyKey(defaultValue: Slow(number: 0, compared: nil))
            container.observe(key) { _ in }
            let (compared, ended) = (Counter(), Counter())
            let busy = startThread {
                var number = 1
                while ended.value == 0 {
                    number += 1
                    container[key] = Slow(number: number, compared: nil)
                }
            }
            awaitState { container[key].number > 3 }
            for number in 1...20 { container[key] = Slow(number: -number, compared: compared) }
            ended.add()
            busy.wait()
            expect(compared.value < 20 * 50, "\(compared.value) comparisons of 20 sets beside a busy writer")
        }
    }
}
