import Fugu
import Support
import Testing

// Law 11: a dropped token observes as long as the container lives; observe(_:while:) ends with its owner.
@Suite("Law 11: observing through a kept handle, and for an owner") struct Law11KeptHandleTests {
    static let cases: [Case<Law11KeptHandleTests>] = [
        Case(
            "An observer added through a handle that is dropped is called as long as the container lives (law 11)",
            handle),
        Case("A handle that outlives its container observes nothing, and its closure goes (laws 8 and 11)", gone),
        Case(
            "With its owner the observation ends at once: not even a change that waits to be delivered is heard (law 11)",
            ownerDuringDelivery),
        Case("Two owners' observations are two: each ends with its own, in children, too (laws 11 and 14)", owners),
        Case("An observation for an owner does not keep it, and its token still cancels (law 11)", ownersToken),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law11KeptHandleTests>) async throws {
        try await stated.run(self)
    }

    struct Number: Property { static var defaultValue: Int { 0 } }
    final class Keeps: Feature, Sendable {
        let handle: Container
        init(_ handle: Container) { self.handle = handle }
        static func load(in container: any FeatureContainer) -> Keeps { Keeps(container as! Container) }
    }

    func handle() {
        let ended = Counter()
        let heard = Log<Int>()
        do {
            let container = Container()
            container[Keeps.self].handle.observe(Number.self) { [held = Witness { ended.add() }] number in
                withExtendedLifetime(held) { heard.add(number) }
            }
            container.reset(Keeps.self)
            container[Number.self] = 1
            container[Number.self] = 2
            expect(ended.value, equals: 0)
        }
        expect(heard.all, equals: [1, 2])
        expect(ended.value, equals: 1)
    }

    func gone() {
        let ended = Counter()
        var container: Container? = Container()
        container!.handleReports { _ in }
        let handle = container![Keeps.self].handle
        weak let alive = container
        container = nil
        expect(alive == nil)
        let token = handle.observe(Number.self) { [held = Witness { ended.add() }] _ in withExtendedLifetime(held) {} }
        token.cancel()
        expect(ended.value, equals: 1)
    }

    func ownerDuringDelivery() {
        let container = Container()
        let heard = Log<Int>()
        let owner = Log<Witness>()
        owner.add(Witness())
        container.observe(Number.self) { _ in owner.removeAll() }
        container.observe(Number.self, while: owner.all[0]) { heard.add($0) }
        container[Number.self] = 1
        container[Number.self] = 2
        expect(heard.all, equals: [])
    }

    func owners() {
        let root = Container()
        let child = root.child()
        let heard = Log<String>()
        var (first, second): (Witness?, Witness?) = (Witness(), Witness())
        root.observe(Number.self, while: first!) { heard.add("first \($0)") }
        child.observe(Number.self, while: second!) { heard.add("second \($0)") }
        root[Number.self] = 1
        first = nil
        root[Number.self] = 2
        second = nil
        root[Number.self] = 3
        expect(heard.all.sorted(), equals: ["first 1", "second 1", "second 2"])
    }

    func ownersToken() {
        let container = Container()
        let (heard, ended) = (Counter(), Counter())
        let owner = Witness { ended.add() }
        let token = container.observe(Number.self, while: owner) { _ in heard.add() }
        container[Number.self] = 1
        token.cancel()
        container[Number.self] = 2
        expect(heard.value, equals: 1)
        expect(ended.value, equals: 0)
        withExtendedLifetime(owner) {}
    }
}
