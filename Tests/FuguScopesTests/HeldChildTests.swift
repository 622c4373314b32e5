import Fugu
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    fileprivate var visitor: PropertyKey<String> { .init(defaultValue: "none") }
}

@Suite("A child by key that's held: open until its handle is closed or released", .timeLimit(.minutes(5)))
struct HeldChildTests {
    private let pools = TenantPools()
    private let container = Container()

    @Test("It's open while others evict it, or use more than the capacity, and is closed with its handle (law 18)")
    func open() async {
        let tenants = container.children(by: \.tenant, capacity: 1)
        let tenant = await tenants.hold("a")
        expect(tenant.container[pools.key], equals: "pool of a")
        await tenants.withChild(for: "b") { _ = $0[pools.key] }
        async let evicted: Void = tenants.evict("a")
        while await !tenants.values.isEmpty { await Task.yield() }
        expect(pools.log.all.filter { $0.hasSuffix("a") }, equals: ["open a"])
        expect(tenant.container[pools.key], equals: "pool of a")
        await tenant.close()
        await evicted
        expect(pools.log.all.last, equals: "close a")
        await tenants.withChild(for: "a") { _ = $0[pools.key] }
        expect(pools.log.all.last, equals: "open a")
        await tenants.evictAll()
    }

    @Test("A handle that's let go without a call is closed in a task, once for many calls (laws 7, 18)")
    func released() async {
        let tenants = container.children(by: \.tenant)
        var body: (@Sendable () async -> String)?
        do {
            let tenant = await tenants.hold("a")
            tenant.container.onClose { [log = pools.log] in log.add("end") }
            body = { [pools] in
                await tenant.close()
                await tenant.close()
                return tenant.container[pools.key]
            }
            _ = tenant.container[pools.key]
        }
        // The client has gone: nobody writes the stream.
        _ = body
        body = nil
        await expect(pools.log.first(2), equals: ["open a", "end"])
        await tenants.evict("a")
        expect(pools.log.all, equals: ["open a", "end", "close a"])
        let twice = await tenants.hold("a")
        await twice.close()
        await twice.close()
        await tenants.evict("a")
    }

    @Test("Its container has what the request had set, shares what belongs to the value, and isn't current by itself")
    func values() async throws {
        let tenants = container.children(by: \.tenant)
        let tenant = try await container.withChild {
            $0.visitor = "ada"
        } operation: { request in
            let tenant = await tenants.hold("a")
            expect(Container.current, is: request)
            return tenant
        }
        expect([tenant.container.visitor, tenant.container.tenant], equals: ["ada", "a"])
        await tenants.withChild(for: "a") { expect($0[pools.key] + $0.visitor, equals: "pool of anone") }
        expect(tenant.container[pools.key], equals: "pool of a")
        expect(pools.log.all, equals: ["open a"])
        await tenant.close()
        await tenants.evictAll()
    }

    @Test(
        "Closing the parent closes it, and its handle can still be closed; a failure of a closing is reported (law 18)")
    func parent() async throws {
        struct Ended: Error {}
        let reports = Log<String>()
        container.handleReports { reports.add($0) }
        let tenants = container.children(by: \.tenant)
        let failing = await tenants.hold("b")
        failing.container.onClose { throw Ended() }
        await failing.close()
        expect(reports.all.map { $0.hasPrefix("Fugu: closing a container failed in 1 place") }, equals: [true])
        let tenant = await tenants.hold("a")
        _ = tenant.container[pools.key]
        try await container.close()
        expect(pools.log.all, equals: ["open a", "close a"])
        await tenant.close()
        expect(reports.count, equals: 1)
    }
}
