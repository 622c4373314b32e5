import Fugu
import Support
import Testing

@Suite("Law 10: one container holds up nobody else's observers") struct Law10IndependenceTests {
    static let cases: [Case<Law10IndependenceTests>] = [
        Case("A slow observer holds up no other container's (law 10)", slowObserver),
        Case(
            "Nor does one that hears of its parent's change, once the others have heard (laws 10 and 14)", slowInheritor
        ),
        Case("An async load that changed the key holds up no other container's observers (law 10)", asyncLoad),
        Case("A slow observer of one key holds up no other key of its container (law 10)", otherKey),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law10IndependenceTests>) async throws {
        try await stated.run(self)
    }

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

    func slowObserver() {
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

    func slowInheritor() {
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
        case load, update, modify

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
            case .modify: container.modify(Other.self) { _ in body() }
            }
        }
    }

    @Test(
        "A transaction that changed the key holds up no other container's observers (law 10)",
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
        "Nor where it changed the other container's own key: that is delivered in order with what comes after (law 10)",
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

    func otherKey() {
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
