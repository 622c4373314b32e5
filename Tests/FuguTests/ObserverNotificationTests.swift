import Fugu
import Support
import Testing

/// Law 9: a comparison holds for the two values that were compared.
struct ObserverComparisonTests {}

extension ObserverComparisonTests {
    /// Lets somebody else write while it is being compared.
    struct Compared: Equatable, Sendable {
        let number: Int
        @TaskLocal static var hook: Hook?
        final class Hook: Sendable {
            let action = Locked<(@Sendable () -> Void)?>(nil)
            func run() { action.withLock { $0.take() }?() }
        }
        static func == (left: Self, right: Self) -> Bool {
            hook?.run()
            return left.number == right.number
        }
    }
    struct Value: Property { static var defaultValue: Compared { Compared(number: 0) } }

    /// The thread that changes the value during the comparison.
    enum Change: CaseIterable {
        case resetMiddle, setMiddle, setRoot, setChild, resetChild, setInstance

        func perform(_ root: Container, _ middle: Container, _ child: Container) {
            switch self {
            case .resetMiddle: middle.reset(Value.self)
            case .setMiddle: middle[Value.self] = Compared(number: 900)
            case .setRoot: root[Value.self] = Compared(number: 901)
            case .setChild: child[Value.self] = Compared(number: 902)
            case .resetChild: child.reset(Value.self)
            case .setInstance:
                middle.reset(Value.self)
                root[Value.self] = Compared(number: 903)
                middle[Value.self] = Compared(number: 904)
            }
        }
    }

    /// The operation in the meantime.
    enum Writing: CaseIterable {
        case set, modify, update

        func perform(_ child: Container, _ value: Compared) {
            switch self {
            case .set: child[Value.self] = value
            case .modify: child.modify(Value.self) { $0 = value }
            case .update: child.update { $0[Value.self] = value }
            }
        }
    }

    @Test(
        "A value may change during its comparison: the last call still carries the value that stays (law 9)",
        arguments: Change.allCases, Writing.allCases)
    func changesMeanwhile(_ change: Change, _ writing: Writing) {
        for (rootSets, middleSets, startsWithOwn) in cases {
            let root = Container()
            let middle = root.child()
            let child = middle.child()
            let last = Log<Int>()
            for number in 0..<rootSets { root[Value.self] = Compared(number: 100 + number) }
            for number in 0..<middleSets { middle[Value.self] = Compared(number: 200 + number) }
            if startsWithOwn { child[Value.self] = Compared(number: 300) }
            last.add(child[Value.self].number)
            child.observe(Value.self) { last.add($0.number) }
            let hook = Compared.Hook()
            hook.action.withLock { $0 = { onAnotherThread { change.perform(root, middle, child) } } }
            Compared.$hook.withValue(hook) { writing.perform(child, child[Value.self]) }
            expect(
                last.all.last, equals: child[Value.self].number,
                "\(rootSets) sets in the root, \(middleSets) in the middle, own: \(startsWithOwn): \(last.all)")
        }
    }

    private var cases: [(Int, Int, Bool)] {
        (1...5).flatMap { root in (1...5).flatMap { middle in [(root, middle, false), (root, middle, true)] } }
    }
}

/// Law 9: one container holds up nobody else's observers.
struct ObserverIndependenceTests {}

extension ObserverIndependenceTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Connected: AsyncFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }

    /// Root, a child in which something is slow, its sibling, and a child of the slow one.
    private struct Family: Sendable {
        let root = Container()
        let slow: Container
        let sibling: Container
        let below: Container

        init() {
            slow = root.child()
            sibling = root.child()
            below = slow.child()
        }

        /// Whose observers nobody may hold up, and where to change the key so that they hear.
        var others: [(name: String, container: Container)] {
            [("root", root), ("sibling", sibling), ("below", below)]
        }
    }

    /// Expects that the others' observers hear at once, on the thread that changes.
    private func expectHearing(_ family: Family, _ reason: String) {
        for (number, other) in family.others.enumerated() {
            let heard = Log<Int>()
            let token = other.container.observe(Number.self) { heard.add($0) }
            onAnotherThread { other.container[Number.self] = 100 + number }
            expect(heard.all, equals: [100 + number], "\(other.name), \(reason)")
            token.cancel()
        }
    }

    @Test("A slow observer holds up no other container's observers, and no other key's (laws 9 and 10)")
    func slowObserver() {
        // A slow observer holds up no other container's.
        do {
            let family = Family()
            let (entered, goesOn) = (Gate(), Gate())
            family.slow.observe(Number.self) { _ in
                entered.open()
                goesOn.wait()
            }
            let thread = startThread { family.slow[Number.self] = 1 }
            entered.wait()
            expectHearing(family, "while an observer is slow")
            goesOn.open()
            thread.wait()
        }
        // Nor does one that hears of its parent's change, once the others have heard.
        do {
            let family = Family()
            let (entered, goesOn) = (Gate(), Gate())
            family.slow.observe(Number.self) { number in
                guard number == 1 else { return }
                entered.open()
                goesOn.wait()
            }
            let thread = startThread { family.root[Number.self] = 1 }
            entered.wait()
            expectHearing(family, "while an observer of an inherited value is slow")
            goesOn.open()
            thread.wait()
        }
        // A slow observer of one key holds up no other key of its container.
        do {
            let container = Container()
            let (entered, goesOn) = (Gate(), Gate())
            let heard = Log<Int>()
            container.observe(Number.self) { _ in
                entered.open()
                goesOn.wait()
            }
            container.observe(Other.self) { heard.add($0) }
            let thread = startThread { container[Number.self] = 1 }
            entered.wait()
            onAnotherThread { container[Other.self] = 5 }
            expect(heard.all, equals: [5])
            goesOn.open()
            thread.wait()
        }
    }

    @Test("An async load that changed the key holds up no other container's observers (law 9)")
    func asyncLoad() async throws {
        let family = Family()
        let (connecting, goesOn) = (Gate(), Gate())
        let heard = Log<Int>()
        family.slow.observe(Number.self) { heard.add($0) }
        family.slow.replace(Connected.self) { [weak slow = family.slow] _ in
            slow?[Number.self] = 1
            connecting.open()
            await goesOn.opened()
            return 1
        }
        let task = Task { [slow = family.slow] in try await slow[Connected.self] }
        await connecting.opened()
        expectHearing(family, "while a load of another container is under way")
        goesOn.open()
        _ = try await task.value
        awaitState { heard.count == 1 }
        expect(heard.all, equals: [1])
    }

    /// An operation that holds changes back until it ends.
    enum Transaction: CaseIterable {
        case load, update

        func perform(_ container: Container, _ body: @escaping @Sendable () -> Void) {
            switch self {
            case .load:
                _ =
                    container[
                        FeatureKey(home: .local, id: UniqueID()) { _ in
                            body()
                            return 0
                        }]
            case .update: container.update { _ in body() }
            }
        }
    }

    @Test(
        "A transaction that changed the key holds up no other container's observers (law 9)",
        arguments: Transaction.allCases)
    func transaction(_ transaction: Transaction) {
        let family = Family()
        let (changed, goesOn) = (Gate(), Gate())
        let heard = Log<Int>()
        family.slow.observe(Number.self) { heard.add($0) }
        let thread = startThread {
            transaction.perform(family.slow) {
                family.slow[Number.self] = 1
                changed.open()
                goesOn.wait()
            }
        }
        changed.wait()
        expectHearing(family, "while a transaction of another container is under way")
        expect(heard.all.isEmpty)
        goesOn.open()
        thread.wait()
        expect(heard.all, equals: [1])
    }

    @Test(
        "Nor where it changed the other container's own key: that is delivered in order with what comes after (law 9)",
        arguments: Transaction.allCases)
    func changedElsewhere(_ transaction: Transaction) {
        let family = Family()
        let (changed, goesOn) = (Gate(), Gate())
        let heard = Log<Int>()
        family.sibling.observe(Number.self) { heard.add($0) }
        let thread = startThread {
            transaction.perform(family.slow) {
                family.sibling[Number.self] = 1
                changed.open()
                goesOn.wait()
            }
        }
        changed.wait()
        onAnotherThread { family.sibling[Number.self] = 2 }
        expect(heard.all, equals: [1, 2])
        goesOn.open()
        thread.wait()
        expect(heard.all, equals: [1, 2])
    }
}

/// Laws 5 and 9: an observer is in nobody's load.
struct ObserverOutsideLoadsTests {}

extension ObserverOutsideLoadsTests {
    struct Watched: Property { static var defaultValue: Value { Value(number: 0) } }
    struct Value: Sendable {
        let number: Int
        var witness: Witness?
    }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Mark: Property { static var defaultValue: Int { 0 } }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    /// An operation in the middle of which a thread may change a key.
    enum Middle: CaseIterable {
        case load, nestedLoad, update

        func perform(_ container: Container, _ body: @escaping @Sendable () -> Void) {
            if self == .load || self == .nestedLoad {
                container.replace(Parsed.self) { _ in
                    body()
                    return 1
                }
            }
            switch self {
            case .load: _ = try? container[Parsed.self]
            case .nestedLoad: _ = container[FeatureKey(id: UniqueID()) { (try? $0[Parsed.self]) ?? 0 }]
            case .update: container.update { _ in body() }
            }
        }
    }

    @Test(
        "Another thread's change is not delivered inside a load or an update (laws 5 and 9)",
        arguments: Middle.allCases)
    func elsewhere(_ middle: Middle) {
        let container = Container()
        let (releasing, goesOn) = (Gate(), Gate())
        container[Watched.self] = Value(
            number: 1,
            witness: Witness {
                releasing.open(); goesOn.wait()
            })
        let heard = Log<Int>()
        let faults = Log<String>()
        let isInside = Counter()
        container.observe(Watched.self) { value in
            heard.add(value.number)
            if isInside.value != 0, value.number == 2 { faults.add("heard inside") }
            // Were it inside the load, this would be a cycle.
            do { _ = try container[Parsed.self] } catch { faults.add("\(error)") }
            container[Other.self] = value.number
        }
        // It has changed the key, and delivers when the old value is released.
        let first = startThread { container[Watched.self] = Value(number: 2) }
        releasing.wait()
        let second = startThread {
            middle.perform(container) {
                isInside.add()
                container[Watched.self] = Value(number: 3)
                isInside.add(-1)
            }
        }
        second.wait()
        goesOn.open()
        first.wait()
        expect(faults.all.isEmpty)
        expect(heard.all, equals: [2, 3])
    }

    @Test("An observer's read is never an input, whichever thread delivers (law 9)", arguments: Middle.allCases)
    func nobodysInput(_ middle: Middle) {
        let container = Container().unreported
        let loads = Counter()
        let outer = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { _ in
            middle.perform(container) { container[Watched.self] = Value(number: 1) }
            return loads.add()
        }
        container.observe(Watched.self) { _ in _ = (container[Mark.self], Container.current[Mark.self]) }
        expect(container[outer], equals: 1)
        container[Mark.self] = 1
        expect(container[outer], equals: 1)
        expect(container.child { $0[Mark.self] = 2 }[outer], equals: 1)
    }

    @Test(
        "An observer updates by itself, whoever delivers, and its current container is the one that it observes (laws 6 and 9)"
    )
    func updateInObserver() {
        // An update in an observer joins nothing, whoever delivers.
        do {
            struct Failure: Error {}
            let container = Container()
            container.observe(Watched.self) { value in container.update { $0[Other.self] = value.number } }
            #expect(throws: Failure.self) {
                try container.update { _ in
                    onAnotherThread { container[Watched.self] = Value(number: 3) }
                    expect(container[Other.self], equals: 3)
                    container[Watched.self] = Value(number: 4)
                    throw Failure()
                }
            }
            expect(container[Other.self], equals: 4)
        }
        // Inside an observer, Container.current is the container it observes, whoever changes what.
        do {
            let root = Container()
            let child = root.child()
            let heard = Log<String>()
            for (name, container) in [("root", root), ("child", child)] {
                container.observe(Mark.self) { [weak container] _ in
                    heard.add(Container.current === container ? name : "another one than \(name)")
                }
            }
            root[Mark.self] = 1
            Container.with(Container()) { root[Mark.self] = 2 }
            Container.with(child) { root[Mark.self] = 3 }
            _ = child[FeatureKey(home: .local, id: UniqueID()) { _ in root[Mark.self] = 4 }]
            onAnotherThread { root[Mark.self] = 5 }
            expect(heard.count, equals: 10)
            expect(Set(heard.all), equals: ["root", "child"])
        }
    }
}

// Law 9: setting from inside an observer is delivered after the present round. One container's observers never hold up
// those of another. == is called outside every lock, and does not keep anybody from setting.
@Suite("Law 9: rounds of delivery", .timeLimit(.minutes(5))) struct ObserverRoundsTests {}

extension ObserverRoundsTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Third: Property { static var defaultValue: Int { 0 } }

    @Test(
        "What an observer sets of another key, in a child, an update or a modify comes after the present round (laws 6 and 9)"
    )
    func otherKey() {
        // A set of another key by an observer is delivered after the present round.
        do {
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
        // So does what an observer changes in a child, an update or a modify.
        do {
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
            expect(heard.all, equals: ["number 1", "second", "child 1", "other 10", "third 0", "third 1", "third 0"])
        }
    }

    @Test("Changes that observers make of several keys come round by round, in the order they were made (law 9)")
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

    @Test("However many keys' observers each set the next one, a small stack is enough (law 9)")
    func chain() async {
        await #expect(processExitsWith: .success) {
            startThread(stackSize: 512 << 10) {
                let count = 2_000
                let keys = (0..<count).map { PropertyKey(defaultValue: 0, id: $0) }
                let container = Container()
                for (key, next) in zip(keys, keys.dropFirst()) {
                    container.observe({ _ in key }) { container[next] = $0 + 1 }
                }
                container[keys[0]] = 1
                precondition(container[keys[count - 1]] == count)
            }.wait()
        }
    }

    @Test("Two containers hear one change: the one that hears first holds up nothing else of the other (law 9)")
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

    @Test("A == that takes its time keeps nobody from setting, and its own set comes to an end (law 9)")
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
            container.observe({ _ in key }) { _ in }
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
