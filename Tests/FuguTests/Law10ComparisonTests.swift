import Fugu
import Support
import Testing

@Suite("Law 10: a comparison holds for the two values that were compared") struct Law10ComparisonTests {
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
        "A value may change during its comparison: the last call still carries the value that stays (law 10)",
        arguments: Change.allCases, Writing.allCases)
    func changesMeanwhile(_ change: Change, _ writing: Writing) {
        // Another thread's write of what a `modify` holds would wait for its end.
        if writing == .modify, [.setChild, .resetChild].contains(change) { return }
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
