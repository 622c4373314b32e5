import Foundation
import Support
import Testing

@testable import Fugu

/// Law 9: every change, once, in order.
struct ObserverOrderTests {}

extension ObserverOrderTests {
    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Other: Property { static var defaultValue: Int { 0 } }
    struct Own: Property { static var defaultValue: Int { 0 } }
    struct Label: Feature {
        static func load(in container: any FeatureContainer) -> String { "number \(container[Number.self])" }
    }

    @Test(
        "Observers that set keys again and again are reported, and so are changes by others meanwhile, without a guess (law 9)"
    )
    func circle() {
        // Observers that set each other's keys again and again are reported.
        do {
            let container = Container()
            let reports = Log<String>()
            container.handleReports { reports.add($0) }
            container.observe(Number.self) { [weak container] in container?[Other.self] = $0 + 1 }
            container.observe(Other.self) { [weak container] in if $0 < 12_000 { container?[Number.self] = $0 } }
            container[Number.self] = 1
            expect(container[Other.self], equals: 12_000)
            expect(reports.all, equals: [Messages.changesWithoutEnd(Key(raw: Key.property(Number.self)))])
            expect(reports.all[0].contains("those of Number, have been called for 10,000 changes in a row"))
            let child = container.child()
            child.observe(Own.self) { [weak container] in if $0 < 12_000 { container?[Own.self] = $0 + 1 } }
            container[Own.self] = 1
            expect(container[Own.self], equals: 12_000)
            expect(reports.all.count, equals: 2)
        }
        // So are changes by others while an observer is called, without a guess who made them.
        do {
            let container = Container()
            let (heard, reports) = (Log<Int>(), Log<String>())
            container.handleReports { reports.add($0) }
            container.observe(Number.self) { [weak container] value in
                heard.add(value)
                guard value == 1, let container else { return }
                onAnotherThread { for value in 2...12_000 { container[Number.self] = value } }
            }
            container[Number.self] = 1
            expect(heard.all == Array(1...12_000))
            expect(reports.all.count, equals: 1)
            expect(reports.all[0].contains("those of Number, have been called for 10,000 changes in a row"))
        }
    }

    @Test("Sequences that begin while an observer is called are no changes in a row (law 9)")
    func sequences() {
        let container = Container()
        let (sequences, reports) = (Log<ObservedValues<Int>>(), Log<String>())
        container.handleReports { reports.add($0) }
        container.observe(Number.self) { [weak container] _ in
            for _ in 0...10_000 { if let container { sequences.add(container.values(of: Number.self)) } }
        }
        container[Number.self] = 1
        expect(sequences.all.count, equals: 10_001)
        expect(reports.all, equals: [])
    }

    @Test("An observer hears of sets, modifies, updates, resets and the first load (law 9)")
    func kinds() {
        let container = Container()
        let heard = Log<Int>()
        container.observe(Number.self) { heard.add($0) }
        expect(container[Number.self], equals: 0)
        container[Number.self] = 1
        container.modify(Number.self) { $0 += 1 }
        container.update { $0[Number.self] = 3 }
        container.reset(Number.self)
        expect(heard.all, equals: [0, 1, 2, 3, 0])
        container[Number.self] = 4
        container.resetAll()
        expect(heard.all, equals: [0, 1, 2, 3, 0, 4, 0])
    }

    @Test("Features of every kind of key are observed (law 9)")
    func features() async throws {
        struct Parsed: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> Int { 1 }
        }
        struct Fetched: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Int { 1 }
        }
        let container = Container()
        let key = FeatureKey { _ in 1 }
        let property = PropertyKey(defaultValue: 1)
        let heard = Log<String>()
        container.observe(Label.self) { heard.add($0) }
        container.observe({ _ in key }) { heard.add("key \($0)") }
        container.observe({ _ in property }) { heard.add("property \($0)") }
        container.observe(Parsed.self) { heard.add("parsed \($0)") }
        container.observe(Fetched.self) { heard.add("fetched \($0)") }
        _ = (container[Label.self], container[key], container[property])
        _ = try container[Parsed.self]
        _ = try await container[Fetched.self]
        expect(heard.removeAll(), equals: ["number 0", "key 1", "property 1", "parsed 1", "fetched 1"])
        container[Label.self] = "set"
        container[key] = 2
        container[property] = 2
        container.set(Parsed.self, to: 2)
        container.set(Fetched.self, to: 2)
        expect(heard.removeAll(), equals: ["set", "key 2", "property 2", "parsed 2", "fetched 2"])
        container.reset(Label.self)
        container.reset(Parsed.self)
        expect(heard.removeAll(), equals: ["number 0", "parsed 1"])
    }

    @Test("Calls happen on the thread that changed it, after the change (law 9)")
    func thread() {
        let container = Container()
        let seen = Log<Int>()
        let threads = Log<ObjectIdentifier>()
        container.observe(Number.self) { _ in
            seen.add(container[Number.self])
            threads.add(ObjectIdentifier(Thread.current))
        }
        let during = Log<Int>()
        onThreads(1) { _ in
            container[Number.self] = 1
            during.add(seen.count)
            threads.add(ObjectIdentifier(Thread.current))
        }
        expect(during.all == [1] && seen.all == [1])
        expect(threads.count, equals: 2)
        expect(Set(threads.all).count, equals: 1)
    }

    @Test("A writer of a key that is being delivered doesn't wait: the delivering thread delivers its change (law 9)")
    func takingAlong() {
        let container = Container()
        let (delivering, goesOn) = (Gate(), Gate())
        let heard = Log<Int>()
        container.observe(Number.self) { number in
            heard.add(number)
            guard number == 1 else { return }
            delivering.open()
            goesOn.wait()
        }
        let first = startThread { container[Number.self] = 1 }
        delivering.wait()
        onAnotherThread { container[Number.self] = 2 }
        onAnotherThread { container[Number.self] = 3 }
        expect(container[Number.self] == 3 && heard.all == [1])
        goesOn.open()
        first.wait()
        expect(heard.all, equals: [1, 2, 3])
    }

    @Test(
        "What an observer sets, and observers that come and go in a round, change nothing of the present round (law 9)")
    func rounds() {
        // Setting from inside an observer is delivered after the present round.
        do {
            let container = Container()
            let heard = Log<String>()
            container.observe(Number.self) { number in
                heard.add("a\(number)")
                if number < 3 { container[Number.self] = number + 1 }
                heard.add("a\(number) ends")
            }
            container.observe(Number.self) { heard.add("b\($0)") }
            container[Number.self] = 1
            expect(heard.all, equals: ["a1", "a1 ends", "b1", "a2", "a2 ends", "b2", "a3", "a3 ends", "b3"])
        }
        // An observer added or cancelled during a round changes no other's order.
        do {
            let container = Container()
            let heard = Log<String>()
            let late = Log<ObservationToken>()
            container.observe(Number.self) { number in
                heard.add("a\(number)")
                if number == 1 { late.add(container.observe(Number.self) { heard.add("late\($0)") }) }
                if number == 3 { late.all[0].cancel() }
            }
            for number in 1...4 { container[Number.self] = number }
            expect(heard.all, equals: ["a1", "a2", "late2", "a3", "a4"])
        }
    }

    struct Touchy: Equatable, Sendable {
        let number: Int
        var during: (@Sendable () -> Void)?
        static func == (left: Self, right: Self) -> Bool {
            left.during?()
            right.during?()
            return left.number == right.number
        }
    }

    @Test(
        "Setting a key again to an equal value calls nobody; values that differ from themselves, or cannot be compared, are changes (law 9)"
    )
    func equal() {
        // Setting a key of a container again to an equal value calls nobody.
        do {
            let parent = Container()
            let child = parent.child()
            parent[Number.self] = 5
            let heard = Log<Int>()
            child.observe(Number.self) { heard.add($0) }
            child[Number.self] = 5
            expect(heard.all, equals: [5])
            child[Number.self] = 5
            child.modify(Number.self) { $0 = 5 }
            child.update { $0[Number.self] = 5 }
            parent[Number.self] = 6
            expect(child[Number.self], equals: 5)
            expect(heard.all, equals: [5])
            child[Number.self] = 6
            expect(heard.all, equals: [5, 6])
        }
        // Values that cannot be compared are always a change.
        do {
            let container = Container()
            let key = PropertyKey(defaultValue: Witness())
            let witness = Witness()
            let heard = Counter()
            container.observe({ _ in key }) { _ in heard.add() }
            container[key] = witness
            container[key] = witness
            expect(heard.value, equals: 2)
        }
        // Two NaNs differ, as they say.
        do {
            let container = Container()
            let key = PropertyKey(defaultValue: Double.nan)
            let heard = Counter()
            container[key] = .nan
            container.observe({ _ in key }) { _ in heard.add() }
            container[key] = .nan
            container[key] = 1
            container[key] = 1
            expect(heard.value, equals: 2)
        }
    }

    @Test("== may call back into the container, and is not asked about a value that concerns nobody any more (law 9)")
    func callback() {
        // == may call back into the container, and a value that changes meanwhile counts as different.
        do {
            let container = Container()
            let key = PropertyKey(defaultValue: Touchy(number: 0))
            container[key] = Touchy(number: 1)
            let heard = Log<Int>()
            container.observe({ _ in key }) { heard.add($0.number) }
            let once = Counter()
            container[key] = Touchy(number: 1) {
                guard once.add() == 1 else { return }
                _ = container[key]
                onAnotherThread { container[key] = Touchy(number: 2) }
            }
            expect(heard.all, equals: [2, 1])
            expect(container[key].number, equals: 1)
            container[key] = Touchy(number: 1)
            expect(heard.all, equals: [2, 1])
        }
        // A value that concerns nobody any more is set without a comparison.
        do {
            let container = Container()
            let key = PropertyKey(defaultValue: Touchy(number: 0))
            let comparisons = Counter()
            container.observe({ _ in key }) { _ in }.cancel()
            container[key] = Touchy(number: 1) { comparisons.add() }
            container[key] = Touchy(number: 1)
            expect(comparisons.value, equals: 0)
            container.observe({ _ in key }) { _ in }
            container[key] = Touchy(number: 1) { comparisons.add() }
            expect(comparisons.value, equals: 1)
        }
    }

    @Test("A modify in a child runs again if what it inherits changes meanwhile (laws 6 and 9)")
    func inheritedMoves() {
        let parent = Container()
        let child = parent.child()
        parent[Number.self] = 1
        let heard = Log<Int>()
        child.observe(Number.self) { heard.add($0) }
        child.modify(Number.self) { value in
            onAnotherThread { parent[Number.self] = 2 }
            value = 1
        }
        expect(heard.all, equals: [2, 1])
        expect(child[Number.self], equals: 1)
    }
}

/// Law 9: changes inside of loads and updates.
struct ObserverDeferralTests {}

extension ObserverDeferralTests {
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

    @Test("A change inside a load is delivered when the outermost load ends, also if that fails or suspends (law 9)")
    func load() async throws {
        // A change inside a load is delivered when the outermost load ends.
        do {
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
        // A change inside a load that fails is delivered as well.
        do {
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
        // A change inside an async load is delivered when the outermost load ends.
        do {
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
    }

    @Test("A set by an observer is delivered by the thread that is delivering the key (law 9)")
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

    @Test("A change inside an update is delivered when the outermost ends, and one inside a modify at once (law 9)")
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
        expect(container[Other.self] == 3 && heard.all == [1, 2, 3])
        container.update { handle in
            container.modify(Number.self) { $0 += 1 }
            handle[Other.self] = heard.count
        }
        expect(container[Other.self] == 3 && heard.all == [1, 2, 3, 4])
    }

    @Test("A first load inside of another is heard once, when the outermost ends (law 9)")
    func firstLoads() {
        let container = Container()
        let heard = Log<String>()
        let inner = FeatureKey { $0[Number.self] + 1 }
        let outer = FeatureKey { handle in handle[inner] + (heard.all.isEmpty ? 10 : 1_000) }
        container.observe(Number.self) { heard.add("number \($0)") }
        container.observe({ _ in inner }) { heard.add("inner \($0)") }
        container.observe({ _ in outer }) { heard.add("outer \($0)") }
        expect(container[outer], equals: 11)
        expect(Set(heard.all), equals: ["number 0", "inner 1", "outer 11"])
        expect(heard.count, equals: 3)
    }

    @Test("A task that outlives the load that started it delivers its own changes (law 9)")
    func outlivingTask() async {
        let (container, heard) = observed()
        let goesOn = Gate()
        let tasks = Log<Task<Void, Never>>()
        let key = FeatureKey { _ in
            tasks.add(
                Task {
                    container.update { handle in
                        goesOn.wait()
                        container[Number.self] = 1
                        handle[Other.self] = 5
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

    @Test("A modify that ends after the load in which it began is heard (law 9)")
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

    @Test("An observer's read is never an input (law 9)")
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
