@testable import Fugu
import Support
import Testing

@Suite("Law 10: changes inside of loads, updates and modifies") struct Law10DeferralTests {
    static let cases: [Case<Law10DeferralTests>] = [
        Case("A change inside a load is delivered when the outermost load ends (law 10)", load),
        Case("A change inside a modify or an update is delivered when the outermost ends (law 10)", modifyAndUpdate),
        Case("A first load inside of another is heard once, when the outermost ends (law 10)", firstLoads),
        Case(
            "Another thread's change of the same key waits its turn behind one that is held back (law 10)", otherThread),
        Case("A change inside a load that fails is delivered as well (law 10)", failingLoad),
        Case(
            "A loader that is put back while its key is observed runs for the observers at once (laws 10 and 29)",
            watchedOverrides),
        Case("A change inside an async load is delivered when the outermost load ends (law 10)", asyncLoad),
        Case("An observer's read is never an input (law 10)", observersRead),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law10DeferralTests>) async throws {
        try await stated.run(self)
    }

    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Fetched: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }
    struct Watched: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Int { container[Other.self] }
    }

    private func observed() -> (Container, Log<Int>) {
        let container = Container()
        container[Number.self] = 0
        let heard = Log<Int>()
        container.observe(Number.self) { heard.add($0) }
        return (container, heard)
    }

    func load() {
        let (container, heard) = observed()
        let inner = FeatureKey { _ in
            container[Number.self] = 1
            return heard.count
        }
        let outer = FeatureKey { handle in
            let inside = handle[inner]
            container[Number.self] = 2
            return inside + heard.count
        }
        expect(container[outer], equals: 0)
        expect(heard.all, equals: [1, 2])
    }

    @Test("A change inside another family's load waits for its end, whoever delivers meanwhile (law 10)")
    func otherFamily() {
        let (container, heard) = observed()
        let (hasSet, goesOn) = (Gate(), Gate())
        let other = FeatureKey { _ in
            container[Number.self] = 4
            hasSet.open()
            goesOn.wait()
            return 0
        }
        let threads = Log<Gate>()
        container.observe(Number.self) { number in
            // A first change that waits in the queue, and one that is delivered while the other family sets.
            if number == 1 { container[Number.self] = 2 }
            guard number == 3 else { return }
            threads.add(startThread { _ = Container()[other] })
            hasSet.wait()
        }
        container[Number.self] = 1
        container[Number.self] = 3
        expect(heard.all, equals: [1, 2, 3])
        goesOn.open()
        threads.all[0].wait()
        expect(heard.all, equals: [1, 2, 3, 4])
    }

    @Test("A set by an observer is delivered by the thread that is delivering the key (law 10)")
    func otherThreadDelivers() {
        struct Third: Property { static var defaultValue: Int { 0 } }
        let (container, heard) = observed()
        let (isDelivering, goesOn, hasEnded) = (Gate(), Gate(), Gate())
        container.observe(Number.self) { number in
            guard number == 1 else { return }
            isDelivering.open()
            goesOn.wait()
        }
        container.observe(Other.self) { number in
            container[Number.self] = 2
            container[Third.self] = 1
        }
        // The other thread looks for more, and ends, before this round does.
        container.observe(Third.self) { _ in
            goesOn.open()
            hasEnded.wait()
        }
        let thread = startThread {
            container[Number.self] = 1
            hasEnded.open()
        }
        isDelivering.wait()
        container[Other.self] = 1
        thread.wait()
        expect(heard.all, equals: [1, 2])
    }

    func modifyAndUpdate() {
        let (container, heard) = observed()
        container.modify(Other.self) { other in
            container[Number.self] = 1
            container.update { handle in
                container[Number.self] = 2
                handle[Number.self] = 3
            }
            other = heard.count
        }
        expect(container[Other.self] == 0 && heard.all == [1, 2, 3])
        container.update { handle in
            container.modify(Number.self) { $0 += 1 }
            handle[Other.self] = heard.count
        }
        expect(container[Other.self] == 3 && heard.all == [1, 2, 3, 4])
    }

    func firstLoads() {
        let container = Container()
        let heard = Log<String>()
        let inner = FeatureKey { $0[Number.self] + 1 }
        let outer = FeatureKey { handle in handle[inner] + (heard.all.isEmpty ? 10 : 1_000) }
        container.observe(Number.self) { heard.add("number \($0)") }
        container.observe(inner) { heard.add("inner \($0)") }
        container.observe(outer) { heard.add("outer \($0)") }
        expect(container[outer], equals: 11)
        expect(Set(heard.all), equals: ["number 0", "inner 1", "outer 11"])
        expect(heard.count, equals: 3)
    }

    func otherThread() {
        let (container, heard) = observed()
        container.modify(Other.self) { _ in
            container[Number.self] = 1
            onAnotherThread { container[Number.self] = 2 }
            expect(heard.all.isEmpty)
        }
        expect(heard.all, equals: [1, 2])
    }

    func failingLoad() {
        struct Parsed: ThrowingFeature {
            struct Broken: Error {}
            static func load(in container: any FeatureContainer) throws -> Int { throw Broken() }
        }
        let (container, heard) = observed()
        container.replace(Parsed.self) { _ in
            container[Number.self] = 1
            throw Parsed.Broken()
        }
        #expect(throws: Parsed.Broken.self) { try container[Parsed.self] }
        expect(heard.all, equals: [1])
    }

    func watchedOverrides() {
        let (container, heard) = observed()
        let read = Log<String>()
        container.watchOverrides { read.add($0.name) }
        expect(read.all == ["Number"] && heard.all == [0])
        container[Number.self] = 2
        expect(heard.all, equals: [0, 2])
    }

    func asyncLoad() async throws {
        let (container, heard) = observed()
        let inner = FeatureKey { _ in
            container[Number.self] = 1
            return 1
        }
        container.replace(Fetched.self) { handle in
            let one = handle[inner]
            await Task.yield()
            container[Number.self] = 2
            return one + heard.count
        }
        try await expect(container[Fetched.self], equals: 1)
        awaitState { heard.count == 2 }
        expect(heard.all, equals: [1, 2])
    }

    @Test("A task that outlives the load that started it delivers its own changes (law 10)")
    func outlivingTask() async {
        let (container, heard) = observed()
        let goesOn = Gate()
        let tasks = Log<Task<Void, Never>>()
        let key = FeatureKey { _ in
            tasks.add(
                Task {
                    container.modify(Other.self) { other in
                        goesOn.wait()
                        container[Number.self] = 1
                        other = 5
                    }
                })
            return 1
        }
        expect(container[key], equals: 1)
        goesOn.open()
        await tasks.all[0].value
        expect(heard.all, equals: [1])
        let others = Log<Int>()
        container.observe(Other.self) { others.add($0) }
        container[Other.self] = 6
        expect(others.all, equals: [6])
    }

    @Test("A modify that ends after the load in which it began is heard (law 10)")
    func outlivingModify() async {
        let (container, heard) = observed()
        let goesOn = Gate()
        let began = Gate()
        let tasks = Log<Task<Void, Never>>()
        let key = FeatureKey { _ in
            tasks.add(
                Task {
                    container.modify(Number.self) { number in
                        began.open()
                        goesOn.wait()
                        number = 1
                    }
                })
            return 1
        }
        expect(container[key], equals: 1)
        await began.opened()
        goesOn.open()
        await tasks.all[0].value
        expect(heard.all, equals: [1])
    }

    func observersRead() {
        let container = Container()
        container[Number.self] = 0
        let loads = Counter()
        let reads = Log<Int>()
        container.observe(Number.self) { _ in reads.add(Container.current === container ? container[Other.self] : -1) }
        container.replace(Watched.self) { _ in
            container[Number.self] = loads.add()
            return 1
        }
        _ = container[Watched.self]
        expect(reads.all, equals: [0])
        container[Other.self] = 7
        _ = container[Watched.self]
        expect(loads.value, equals: 1)
    }
}
