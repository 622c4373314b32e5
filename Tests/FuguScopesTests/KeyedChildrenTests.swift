import Fugu
import FuguScopes
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    var tenant: PropertyKey<String> { .init(defaultValue: "nobody") }
}

/// A pool for each tenant, which logs when it's opened and closed.
struct TenantPools {
    let log = Log<String>()
    let key: FeatureKey<String>

    init() {
        key = FeatureKey(id: UniqueID()) { [log] container in
            let tenant = container.tenant
            container.onClose { log.add("close \(tenant)") }
            log.add("open \(tenant)")
            return "pool of \(tenant)"
        }
    }
}

extension ContainerKeys {
    fileprivate var rate: PropertyKey<Double> { .init(defaultValue: 1) }
}

/// Children by key: one for each tenant, kept while it's used, and closed when it's evicted.
struct KeyedChildrenTests {
    private let pools = TenantPools()
    private let container = Container().unreported
}

extension KeyedChildrenTests {
    struct Region: Property { static var defaultValue: Int { 0 } }

    @Test("Each value has one child, in which it's set and which is current, and what reads it is loaded once (law 11)")
    func oneForEach() async {
        let tenants = container.children(by: \.tenant)
        for tenant in ["a", "b", "a"] {
            await tenants.withChild(for: tenant) { child in
                expect(child.tenant, equals: tenant)
                expect(Container.current, is: child)
                expect(child[pools.key], equals: "pool of \(tenant)")
            }
        }
        expect(pools.log.all, equals: ["open a", "open b"])
        expect(Set(await tenants.values), equals: ["a", "b"])
        expect(container.tenant, equals: "nobody")
        await tenants.evictAll()
        expect(Set(pools.log.all), equals: ["open a", "open b", "close a", "close b"])
        await expect(tenants.values, equals: [])
    }

    @Test("All who ask at the same moment get the same child (law 3)")
    func together() async {
        let regions = container.children(by: Region.self)
        let kept = FeatureKey(id: UniqueID()) { container in
            _ = container[Region.self]
            return Log<Int>()
        }
        let children = Log<ObjectIdentifier>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { await regions.withChild(for: 1) { children.add(ObjectIdentifier($0[kept])) } }
            }
        }
        expect(Set(children.all).count, equals: 1)
        expect(children.count, equals: 100)
        await regions.evictAll()
    }

    @Test(
        "Above the capacity, the child that was used least recently is closed; one in use is kept until its user ends")
    func capacity() async {
        let tenants = container.children(by: \.tenant, capacity: 2)
        await tenants.withChild(for: "a") { a in
            _ = a[pools.key]
            for tenant in ["b", "c", "b", "d"] { await tenants.withChild(for: tenant) { _ = $0[pools.key] } }
            let closed = await pools.log.first(8).filter { $0.hasPrefix("close") }
            expect(closed.sorted(), equals: ["close b", "close b", "close c"])
            expect(a[pools.key], equals: "pool of a")
        }
        expect(Set(await tenants.values), equals: ["a", "d"])
        await tenants.evictAll()
        expect(pools.log.all.suffix(2).sorted(), equals: ["close a", "close d"])
    }

    @Test("A value whose child was evicted during its use gets a new child, and the old one is closed at its end")
    func askedAgain() async {
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "a") { old in
            _ = old[pools.key]
            await tenants.evict("a")
            let values = await tenants.values
            expect(values, equals: [])
            expect(old[pools.key], equals: "pool of a")
            await tenants.withChild(for: "a") { new in
                expect(new !== old)
                _ = new[pools.key]
            }
            expect(pools.log.all, equals: ["open a", "open a"])
        }
        await expect(pools.log.first(3), equals: ["open a", "open a", "close a"])
        await tenants.evictAll()
        expect(pools.log.all.filter { $0 == "close a" }.count, equals: 2)
    }

    @Test("A closer of a child can evict its own value, and ask for it, without waiting for itself (law 18)")
    func evictsItself() async throws {
        let tenants = container.children(by: \.tenant)
        let log = Log<String>()
        container.handleReports { log.add($0) }
        await tenants.withChild(for: "a") { child in
            child.onClose {
                await tenants.evict("a")
                await tenants.evictAll()
                await tenants.withChild(for: "a") { log.add($0 === child ? "the old one" : "a new one") }
            }
        }
        await tenants.evict("a")
        expect(log.all, equals: ["a new one"])
        await tenants.withChild(for: "b") { child in child.onClose { await tenants.evict("b") } }
        try await container.close()
    }

    @Test("A child that nobody uses for the idle time is closed, by the container's clock")
    func idle() async {
        let clock = ManualClock()
        container.clock = AnyClock(clock)
        let tenants = container.children(by: \.tenant, idleTime: .seconds(60))
        await tenants.withChild(for: "a") { _ = $0[pools.key] }
        await clock.sleepers(atLeast: 1)
        clock.move(by: .seconds(40))
        await tenants.withChild(for: "b") { _ = $0[pools.key] }
        clock.move(by: .seconds(30))
        await expect(pools.log.first(3), equals: ["open a", "open b", "close a"])
        await tenants.withChild(for: "b") { child in
            clock.move(by: .seconds(100))
            expect(child[pools.key], equals: "pool of b")
        }
        expect(pools.log.count, equals: 3)
        await tenants.evictAll()
    }

    @Test("A request during the closing of a child waits for it, and gets a new child (law 18)")
    func whileClosing() async {
        let (isClosing, mayEnd) = (Gate(), Gate())
        let slow = FeatureKey(id: UniqueID()) { [log = pools.log] container in
            _ = container.tenant
            container.onClose {
                isClosing.open()
                await mayEnd.opened()
                log.add("closed")
            }
            log.add("opened")
            return 1
        }
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "a") { _ = $0[slow] }
        async let evicted: Void = tenants.evict("a")
        await isClosing.opened()
        async let again: Void = tenants.withChild(for: "a") { _ = $0[slow] }
        mayEnd.open()
        _ = await (evicted, again)
        expect(pools.log.all, equals: ["opened", "closed", "opened"])
        await tenants.evictAll()
    }

    @Test("An operation that throws releases its child, too")
    func throwing() async {
        struct Ended: Error {}
        let tenants = container.children(by: \.tenant)
        await #expect(throws: Ended.self) {
            try await tenants.withChild(for: "a") {
                _ = $0[pools.key]
                throw Ended()
            }
        }
        await tenants.evict("a")
        expect(pools.log.all, equals: ["open a", "close a"])
    }

    @Test("Closing the parent closes its children (law 18)")
    func parent() async throws {
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "a") { _ = $0[pools.key] }
        try await container.close()
        expect(pools.log.all, equals: ["open a", "close a"])
        withExtendedLifetime(tenants) {}
    }

    @Test("A teardown closure that throws while a child is evicted is reported, without the value (law 17)")
    func reports() async {
        struct Ended: Error {}
        let reports = Log<String>()
        container.handleReports { reports.add($0) }
        let failing = FeatureKey(id: UniqueID()) { container in
            container.onClose { throw Ended() }
            return container.tenant
        }
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "secret") { _ = $0[failing] }
        await tenants.evictAll()
        expect(reports.count, equals: 1)
        expect(reports.all.first?.contains("\\.tenant"), equals: true)
        expect(reports.all.first?.contains("secret"), equals: false)
    }

    @Test("A value that doesn't equal itself stops the program with a message")
    func unequalToItself() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let rates = Container().children(by: \.rate)
            await rates.withChild(for: 0.5) { _ in }
            await rates.withChild(for: .nan) { _ in }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Fugu: a value of \\.rate doesn't equal itself"))
        expect(text.contains("Fix: pass a value that equals itself"))
    }

    @Test("Letting go of the children ends the watch over idle ones and releases them (law 7)")
    func letGo() async {
        let clock = ManualClock()
        container.clock = AnyClock(clock)
        let kept = FeatureKey(id: UniqueID()) { container in
            _ = container.tenant
            return Log<Int>()
        }
        weak let instance: Log<Int>?
        do {
            let tenants = container.children(by: \.tenant, idleTime: .seconds(60))
            instance = await tenants.withChild(for: "a") { $0[kept] }
            expect(instance != nil)
            await clock.sleepers(atLeast: 1)
        }
        while clock.sleeperCount > 0 { await Task.yield() }
        while instance != nil { await Task.yield() }
    }
}

extension ContainerKeys {
    fileprivate var user: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var limit: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var greeting: FeatureKey<String> { .init { "hello \($0.user)" } }
}

/// Children by key: each operation has a child of its own, below the one of its value.
struct KeyedChildrenOperationTests {
    private let pools = TenantPools()
    private let container = Container().unreported

    private var pool: FeatureKey<String> { pools.key }
    private var log: Log<String> { pools.log }

    @Test("What an operation sets is seen by no other, and what belongs to the value is shared (laws 10, 11)")
    func ownChild() async {
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "a") {
            $0.user = "ada"
            $0.limit = 5
            expect($0[pool], equals: "pool of a")
            expect($0.greeting, equals: "hello ada")
        }
        await tenants.withChild(for: "a") {
            expect([$0.user, "\($0.limit)", $0.greeting, $0.tenant], equals: ["none", "1", "hello none", "a"])
            expect($0[pool], equals: "pool of a")
        }
        expect(log.all, equals: ["open a"])
        await tenants.evictAll()
        expect(log.all, equals: ["open a", "close a"])
    }

    @Test("An operation has what the containers below the root set, down to the current one (laws 2, 11)")
    func carried() async throws {
        let tenants = container.children(by: \.tenant)
        container.limit = 2
        try await container.withChild {
            $0.user = "outer"
            $0.limit = 3
        } operation: { outer in
            outer.decorate(\.greeting) { greeting, _ in "\(greeting)!" }
            try await outer.withChild {
                $0.user = "ada"
                $0.tenant = "mine"
            } operation: { _ in
                await tenants.withChild(for: "a") {
                    expect([$0.user, "\($0.limit)", $0.tenant], equals: ["ada", "3", "a"])
                    expect($0.greeting, equals: "hello ada!")
                    expect($0[pool], equals: "pool of a")
                }
            }
        }
        await tenants.withChild(for: "a") {
            expect([$0.user, "\($0.limit)", $0.greeting], equals: ["none", "2", "hello none"])
            container.limit = 4
            expect($0.limit, equals: 4)
            _ = $0[pool]
        }
        expect(log.all, equals: ["open a"])
        await tenants.evictAll()
    }

    @Test("It has them also from a request of another root, and below one from which the children were made (law 2)")
    func carriedFromElsewhere() async throws {
        let service = container.child {
            $0.user = "service"
            $0.tenant = "the service itself"
        }
        let tenants = service.children(by: \.tenant)
        await tenants.withChild(for: "a") { expect([$0.user, $0.tenant], equals: ["service", "a"]) }
        let other = Container { $0.limit = 7 }
        for root in [service, other] {
            try await root.withChild {
                $0.user = "ada"
            } operation: { _ in
                await tenants.withChild(for: "a") {
                    expect([$0.user, "\($0.limit)", $0.tenant], equals: ["ada", "1", "a"])
                }
            }
        }
        await tenants.evictAll()
    }

    @Test("An operation within another one's has the values of both, and the resources of its own value (law 11)")
    func nested() async {
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "a") { outer in
            outer.user = "ada"
            _ = outer[pool]
            await tenants.withChild(for: "b") {
                expect([$0.user, $0.tenant, $0[pool]], equals: ["ada", "b", "pool of b"])
            }
            expect(outer.tenant, equals: "a")
        }
        await tenants.evictAll()
        expect(log.all.sorted(), equals: ["close a", "close b", "open a", "open b"])
    }

    @Test("The child of an operation is closed at its end, and a failure of that is reported (law 18)")
    func closed() async {
        struct Ended: Error {}
        let tenants = container.children(by: \.tenant)
        let reports = Log<String>()
        container.handleReports { reports.add($0) }
        let number = await tenants.withChild(for: "a") {
            _ = $0[pool]
            $0.onClose { [log] in
                log.add("end")
                throw Ended()
            }
            return 3
        }
        expect(number, equals: 3)
        await #expect(throws: Ended.self) {
            try await tenants.withChild(for: "a") {
                $0.onClose { [log] in log.add("end") }
                throw Ended()
            }
        }
        expect(log.all, equals: ["open a", "end", "end"])
        expect(reports.count, equals: 1)
        expect(reports.all.first?.hasPrefix("Fugu: closing a container failed in 1 place") == true, "\(reports.all)")
        await tenants.evictAll()
    }

    @Test("Evicting waits for the operations in progress, and for the closing after them", arguments: [false, true])
    func evictionWaits(_ ofAll: Bool) async {
        let tenants = container.children(by: \.tenant)
        let (runs, mayEnd) = (Gate(), Gate())
        async let operation: Void = tenants.withChild(for: "a") {
            _ = $0[pool]
            runs.open()
            await mayEnd.opened()
            log.add("ends")
        }
        await runs.opened()
        async let evicted: Void = {
            if ofAll { await tenants.evictAll() } else { await tenants.evict("a") }
            log.add("evicted")
        }()
        while await !tenants.values.isEmpty { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        expect(log.all, equals: ["open a"])
        mayEnd.open()
        _ = await (operation, evicted)
        expect(log.all, equals: ["open a", "ends", "close a", "evicted"])
    }

    @Test("Evicting from an operation, or from a teardown closure, waits for no operation", .timeLimit(.minutes(5)))
    func evictionWithin() async {
        let tenants = container.children(by: \.tenant)
        await tenants.withChild(for: "a") { a in
            _ = a[pool]
            await tenants.withChild(for: "b") { b in
                b.onClose {
                    await tenants.evict("b")
                    await tenants.evictAll()
                }
                await tenants.evict("a")
            }
            await tenants.withChild(for: "c") { _ in await tenants.evictAll() }
        }
        await expect(log.first(2), equals: ["open a", "close a"])
    }
}
