import Fugu
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    fileprivate var user: PropertyKey<String> { .init(defaultValue: "none") }
    fileprivate var limit: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var greeting: FeatureKey<String> { .init { "hello \($0.user)" } }
}

@Suite("Children by key: each operation has a child of its own, below the one of its value")
struct KeyedChildrenOperationTests {
    private let pools = TenantPools()
    private let container = Container().unreported

    private var pool: FeatureKey<String> { pools.key }
    private var log: Log<String> { pools.log }

    @Test("What an operation sets is seen by no other, and what belongs to the value is shared (laws 14, 15)")
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

    @Test("An operation has what the containers below the root set, down to the current one (laws 15, 18)")
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

    @Test("It has them also from a request of another root, and below one from which the children were made (law 18)")
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

    @Test("An operation within another one's has the values of both, and the resources of its own value (law 15)")
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

    @Test("The child of an operation is closed at its end, and a failure of that is reported (law 28)")
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
