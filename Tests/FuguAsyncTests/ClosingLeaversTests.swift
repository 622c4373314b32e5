import Fugu
import FuguScopes
import Support
import Testing

@Suite("An instance that leaves early is closed (law 18)", .timeLimit(.minutes(5))) struct ClosingLeaversTests {}

extension ClosingLeaversTests {
    struct Source: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Source").add()
            container.onClose {
                stage.log.add("Source \(number)")
                try stage.mayFail("close Source")
            }
            return Thing("Source \(number)")
        }
    }
    struct Reader: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Reader").add()
            container.onClose { stage.log.add("Reader \(number)") }
            return Thing("Reader \(number)", parts: [try await container[Source.self]])
        }
    }

    @Test("Set over, replaced, reset: its closers run once and not again at the end (law 18)")
    func leaving() async throws {
        let changes: [@Sendable (Container) -> Void] = [
            { $0.set(Source.self, to: Thing("mine")) },
            { $0.replace(Source.self) { _ in Thing("replaced") } },
            { $0.reset(Source.self) },
            { $0.resetAll() },
        ]
        for change in changes {
            let container = Container()
            let log = container.stage.log
            _ = try await container[Source.self]
            change(container)
            await expect(log.first(1), equals: ["Source 1"])
            await container.untilClosersRan()
            try await container.close()
            expect(log.all, equals: ["Source 1"])
        }
    }

    struct PerTenant: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let (tenant, number) = (container[Tenant.self], stage.tally("PerTenant").add())
            container.onClose { stage.log.add("close \(number)") }
            await stage.gate("PerTenant \(number)").opened()
            return Thing("\(tenant) \(number)")
        }
    }

    @Test(
        "A reset above, or one that uncovers another loader, lets what a child loads meanwhile not be kept (laws 4, 12, 13, and 18)"
    )
    func resetAboveDuringLoad() async throws {
        // A reset or another loader above lets what a child loads meanwhile not be kept.
        do {
            let changes: [(change: @Sendable (Container) -> Void, next: String)] = [
                ({ $0.reset(PerTenant.self) }, "child 2"),
                // With the numbers of loads.
                ({ $0.resetAll() }, "child 1"),
                ({ $0.replace(PerTenant.self) { _ in Thing("replaced") } }, "replaced"),
            ]
            for (change, next) in changes {
                let container = Container()
                let stage = container.stage
                let child = container.child { $0[Tenant.self] = "child" }
                let reader = Task { try await child[PerTenant.self] }
                await stage.tally("PerTenant").reaches(1)
                change(container)
                for number in 1...2 { stage.gate("PerTenant \(number)").open() }
                try await expect(reader.value.name, equals: "child 1")
                // What isn't kept is released soon after its reader has it.
                await expect(stage.log.first(1), equals: ["close 1"])
                for number in 1...2 { child.stage.gate("PerTenant \(number)").open() }
                try await expect(child[PerTenant.self].name, equals: next)
                try await container.close()
            }
        }
        // A reset that uncovers another loader isn't ignored by what a child loads meanwhile.
        do {
            let container = Container()
            let stage = container.stage
            container.replace(PerTenant.self) { handle in
                let tenant = handle[Tenant.self]
                stage.tally("replaced").add()
                await stage.gate("replaced").opened()
                return Thing("replaced for \(tenant)")
            }
            let child = container.child { $0[Tenant.self] = "child" }
            let reader = Task { try await child[PerTenant.self] }
            await stage.tally("replaced").reaches(1)
            container.reset(PerTenant.self)
            stage.gate("replaced").open()
            try await expect(reader.value.name, equals: "replaced for child")
            stage.gate("PerTenant 1").open()
            try await expect(child[PerTenant.self].name, equals: "child 1")
            try await container.close()
        }
    }

    struct Live: AsyncFeature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (log, tenant) = (container.stage.log, container[Tenant.self])
            container.onClose { log.add(tenant) }
            return Thing(tenant)
        }
    }

    @Test(
        "Reloaded, uncovered, or set above: the closers of what goes run once, and what stays is not closed (laws 10 and 18)"
    )
    func reloaded() async throws {
        // Reloaded since an input changed: the closers of the old instance run.
        do {
            let container = Container()
            let log = container.stage.log
            _ = try await container[Live.self]
            container[Tenant.self] = "next"
            try await expect(container[Live.self].name, equals: "next")
            await expect(log.first(1), equals: ["root"])
            try await container.close()
            expect(log.all, equals: ["root", "next"])
        }
        // A child's copy whose override is reset is closed, the parent's stays.
        do {
            let root = Container().unreported
            let child = root.child { $0[Tenant.self] = "child" }
            let shared = try await root[Tenanted.self]
            try await expect(child[Tenanted.self].name, equals: "child")
            child.reset(Tenant.self)
            await expect(root.stage.log.first(1), equals: ["child"])
            try await expect(child[Tenanted.self], is: shared)
            try await root.close()
            expect(root.stage.log.all, equals: ["child", "root"])
        }
        // A child's copy that a set in the parent replaces stays or goes with its closers run once.
        do {
            let root = Container()
            let child = root.child { $0[Tenant.self] = "child" }
            _ = try await child[Tenanted.self]
            root.set(Tenanted.self, to: Thing("mine"))
            try await expect(child[Tenanted.self].name, equals: "mine")
            try await root.close()
            expect(root.stage.log.all, equals: ["child"])
        }
    }

    struct Tenanted: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (log, tenant) = (container.stage.log, container[Tenant.self])
            container.onClose { log.add(tenant) }
            return Thing(tenant)
        }
    }

    struct Overtaken: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("Overtaken") }
            await stage.gate("Overtaken").opened()
            return Thing("Overtaken")
        }
    }

    @Test(
        "Overtaken or reset during its load: who waits gets it, it is not kept, and its closers run (laws 4, 7, and 18)"
    )
    func overtaken() async throws {
        // Overtaken by a set during its load: its closers run.
        do {
            let container = Container()
            let stage = container.stage
            let reader = Task { try await container[Overtaken.self] }
            await container.untilWaiting(for: Overtaken.self, 1)
            container.set(Overtaken.self, to: Thing("mine"))
            stage.gate("Overtaken").open()
            try await expect(reader.value.name, equals: "mine")
            await expect(stage.log.first(1), equals: ["Overtaken"])
            try await container.close()
            expect(stage.log.all, equals: ["Overtaken"])
        }
        // Reset during its load: who waits gets it, it is not kept, and its closers run.
        do {
            let container = Container()
            let stage = container.stage
            let readers = (0..<4).map { _ in Task { try await container[Overtaken.self] } }
            await container.untilWaiting(for: Overtaken.self, 4)
            container.reset(Overtaken.self)
            stage.gate("Overtaken").open()
            let instance = try await readers[0].value
            for reader in readers { try await expect(reader.value, is: instance) }
            expect(container.ifLoaded(Overtaken.self) == nil)
            await expect(stage.log.first(1), equals: ["Overtaken"])
            try await container.close()
            expect(stage.log.all, equals: ["Overtaken"])
        }
        // Reset during its load, an instance that captured its handle is released and closed.
        do {
            let container = Container()
            let stage = container.stage
            let reader = Task { _ = try await container[Capturing.self] }
            await container.untilWaiting(for: Capturing.self, 1)
            container.reset(Capturing.self)
            stage.gate("Capturing").open()
            try await reader.value
            expect(Set(await stage.log.first(2)), equals: ["close", "released"])
        }
    }

    struct Capturing: AsyncFeature {
        final class Instance: Sendable {
            let handle: any FeatureContainer
            let log: Log<String>
            init(_ handle: any FeatureContainer) { (self.handle, log) = (handle, handle.stage.log) }
            deinit { log.add("released") }
        }
        static func load(in container: any FeatureContainer) async throws -> Instance {
            let stage = container.stage
            container.onClose { stage.log.add("close") }
            await stage.gate("Capturing").opened()
            return Instance(container)
        }
    }

    struct Failing: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("first") }
            container.onClose {
                stage.log.add("last")
                await stage.gate("closer").opened()
                throw Boom("closer")
            }
            throw Boom("load")
        }
    }

    @Test("A load that fails runs its own closers at once, last registered first; close() waits for them (law 18)")
    func failedLoad() async throws {
        let container = Container()
        let stage = container.stage
        let reports = container.logReports()
        let reader = Task { try await container[Failing.self] }
        await expect(stage.log.first(1), equals: ["last"])
        let closing = Task {
            try await container.close()
            stage.log.add("closed")
        }
        await giveOthersTime()
        expect(stage.log.all, equals: ["last"])
        stage.gate("closer").open()
        await #expect(throws: Boom("load")) { try await reader.value }
        try await closing.value
        expect(stage.log.all, equals: ["last", "first", "closed"])
        expect(reports.all.count, equals: 1)
        expect(reports.all.first?.contains("Failing"), equals: true)
        expect(reports.all.first?.contains("teardown closure"), equals: true)
    }

    @Test("Errors of its closers are reported, and may use the container in their deinit (laws 3 and 18)")
    func errorsAreReported() async throws {
        // Errors of its closers are reported.
        do {
            let container = Container()
            let reports = container.logReports()
            container.stage.fail("close Source")
            _ = try await container[Source.self]
            container.reset(Source.self)
            let report = await reports.first(1)
            expect(report.first?.contains("Source"), equals: true)
            try await container.close()
        }
        // Such an error may use the container in its deinit.
        do {
            let container = Container()
            let (reports, ended) = (container.logReports(), Counter())
            for index in 0..<3 {
                let key = FeatureKey(id: index) { handle in
                    handle.onClose { [unowned container] in
                        throw Failed(
                            witness: Witness {
                                container.reset(Tenant.self)
                                ended.add()
                            })
                    }
                    return index
                }
                _ = container[key]
                container.reset { _ in key }
            }
            await ended.reaches(3)
            expect(reports.all.count, equals: 3)
            try await container.close()
        }
    }

    struct Failed: Error { let witness: Witness }
}

// Law 18: the closers of an instance that leaves early run in a separate task. close() waits for those of what it closes, a
// second call too, and for nobody else's.
@Suite("A closing waits for its own early leavers alone (law 18)", .timeLimit(.minutes(5)))
struct ClosingSlowLeaverTests {}

extension ClosingSlowLeaverTests {
    /// Lives where it is asked for; its closer waits for a gate that is named like the tenant.
    struct Own: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Thing {
            let (stage, tenant) = (container.stage, container[Tenant.self])
            let number = stage.tally("made \(tenant)").add()
            container.onClose {
                stage.log.add("\(tenant) begins")
                stage.tally("began").add()
                await stage.gate(tenant).opened()
                stage.log.add("\(tenant) ends")
            }
            return Thing("\(tenant) \(number)")
        }
    }

    @Test("A request does not wait for what leaves another one, its parent, or a sibling's child (law 18)")
    func otherRequest() async throws {
        // A request with nothing to close does not wait for what leaves another one.
        do {
            let server = Container()
            let stage = server.stage
            let other = server.child { $0[Tenant.self] = "other" }
            _ = other[Own.self]
            other.reset(Own.self)
            await stage.tally("began").reaches(1)
            try await finishing {
                try await server.withChild {
                    $0[Tenant.self] = "request"
                } operation: {
                    _ = $0[Tenant.self]
                }
                try await server.child().close()
                try await server.child().close(deadline: .seconds(50))
                try await server.scope("/a").close()
            }
            expect(stage.log.all, equals: ["other begins"])
            stage.gate("other").open()
            try await finishing { try await server.close() }
            expect(stage.log.all, equals: ["other begins", "other ends"])
        }
        // Nor for what leaves its parent or a sibling's child, though it has its own closers to run.
        do {
            let server = Container()
            let stage = server.stage
            let cousin = server.child().child { $0[Tenant.self] = "cousin" }
            for container in [server, cousin] {
                _ = container[Own.self]
                container.reset(Own.self)
            }
            await stage.tally("began").reaches(1)
            try await finishing {
                try await server.withChild {
                    $0[Tenant.self] = "request"
                } operation: { request in
                    request.onClose { stage.log.add("request closed") }
                }
            }
            expect(stage.log.all.last, equals: "request closed")
            for name in ["root", "cousin"] { stage.gate(name).open() }
            try await finishing { try await server.close() }
            expect(Set(stage.log.all.suffix(3)).isSuperset(of: ["root ends", "cousin ends"]) || stage.log.count == 5)
        }
    }

    @Test("Its own leavers, and those of its children, it does wait for, and so does a second call (law 18)")
    func ownLeavers() async throws {
        let server = Container()
        let stage = server.stage
        let request = server.child { $0[Tenant.self] = "request" }
        let below = request.child()
        _ = below[Own.self]
        below.reset(Own.self)
        await stage.tally("began").reaches(1)
        let closings = (1...2).map { number in
            Task {
                try await request.close()
                stage.log.add("closed")
            }
        }
        await giveOthersTime()
        expect(stage.log.all, equals: ["request begins"])
        stage.gate("request").open()
        try await finishing { for closing in closings { try await closing.value } }
        expect(stage.log.all, equals: ["request begins", "request ends", "closed", "closed"])
    }

    struct Pool: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Counter {
            let (stage, out) = (container.stage, Counter())
            let name = container[Tenant.self]
            container.onClose {
                await stage.gate("given back to \(name)").opened()
                stage.log.add("\(name) closed with \(out.value) out")
            }
            return out
        }
    }

    @Test("A request that gives back as it closes is not kept from it by the pool that waits for it (law 18)")
    func drained() async throws {
        let server = Container()
        let stage = server.stage
        try await finishing {
            try await server.withChild { _ in
            } operation: { request in
                let pool = request[Pool.self]
                pool.add()
                request.onClose {
                    pool.add(-1)
                    stage.gate("given back to root").open()
                }
                // The old pool leaves early, and waits for what was taken out of it.
                server[Tenant.self] = "next"
                _ = request[Pool.self]
            }
        }
        stage.gate("given back to next").open()
        try await finishing { try await server.close() }
        expect(stage.log.all, equals: ["root closed with 0 out", "next closed with 0 out"])
    }

    @Test("A dependent that is still being released, or is kept, is closed before what it was made from (law 18)")
    func whileReleased() async throws {
        // A dependent that's still being released is closed before what it was made from.
        do {
            let container = Container()
            let (began, mayEnd, log) = (Gate(), Gate(), Log<String>())
            let input = FeatureKey { handle in
                handle.onClose { log.add("input") }
                return 1
            }
            let dependent = FeatureKey { handle in
                _ = handle[input]
                handle.onClose { log.add("dependent") }
                return Witness {
                    began.open()
                    mayEnd.wait()
                }
            }
            _ = container[dependent]
            let resetting = startThread { container.reset { _ in dependent } }
            await began.opened()
            try await finishing { try await container.close() }
            expect(log.all, equals: ["dependent", "input"])
            mayEnd.open()
            await resetting.opened()
            expect(log.count, equals: 2)
        }
        // So is one that an input's dependent keeps, though both have left.
        do {
            let container = Container().unreported
            let log = Log<String>()
            func key(_ name: String, _ input: FeatureKey<Int>?) -> FeatureKey<Int> {
                FeatureKey(id: name) { handle in
                    if let input { _ = handle[input] }
                    handle.onClose { log.add(name) }
                    return 1
                }
            }
            let first = key("first", nil)
            let second = key("second", first)
            let third = key("third", second)
            _ = container[third]
            container.reset { _ in second }
            container.reset { _ in first }
            try await finishing { try await container.close() }
            expect(log.all, equals: ["third", "second", "first"])
        }
    }

    struct Quick: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Thing {
            container.onClose { await Task.yield() }
            return Thing()
        }
    }

    @Test("Requests are closed beside others whose instances leave without end (law 18)")
    func withoutEnd() async throws {
        let server = Container()
        let (other, ended, left) = (server.child(), Gate(), Counter())
        let leaving = Task.detached {
            while !ended.isOpen {
                _ = other[Quick.self]
                other.reset(Quick.self)
                left.add()
                await Task.yield()
            }
        }
        await left.reaches(10)
        try await finishing {
            for _ in 0..<20 {
                try await server.withChild {
                    $0[Tenant.self] = "request"
                } operation: {
                    _ = $0[Quick.self]
                }
            }
        }
        ended.open()
        await leaving.value
        try await finishing { try await server.close() }
    }

    @Test("Closing a container ends even while its instances keep leaving (law 18)")
    func leavingWhileClosing() async throws {
        for _ in 0..<20 {
            let container = Container()
            let (closed, begun) = (Gate(), Counter())
            container.handleReports { _ in }
            let leaving = Task.detached {
                while !closed.isOpen {
                    _ = container[Quick.self]
                    container.reset(Quick.self)
                    begun.add()
                    await Task.yield()
                }
            }
            await begun.reaches(3)
            defer { closed.open() }
            try await finishing { try await container.close() }
            closed.open()
            await leaving.value
        }
    }

    @Test("The closers of instances that leave different containers run at the same time, each once (law 18)")
    func atTheSameTime() async throws {
        let root = Container()
        let (ran, gate) = (Counter(), Gate())
        let children = (0..<40).map { _ in root.child() }
        for (number, child) in children.enumerated() {
            let key = FeatureKey(home: .local, id: number) { handle in
                handle.onClose {
                    ran.add()
                    if number == 0 { await gate.opened() }
                }
                return number
            }
            _ = child[key]
            child.reset { _ in key }
        }
        try await finishing { await ran.reaches(40) }
        gate.open()
        try await finishing { try await root.close() }
        expect(ran.value, equals: 40)
    }

    @Test("However many families' leavers wait, one more family's is closed (laws 2 and 18)")
    func manyFamilies() async throws {
        let gate = Gate()
        let began = Counter()
        let roots = (0..<100).map { _ in Container() }
        let key = FeatureKey { handle in
            handle.onClose {
                began.add()
                await gate.opened()
            }
            return 1
        }
        for root in roots {
            _ = root[key]
            root.reset { _ in key }
        }
        try await finishing { await began.reaches(100) }
        gate.open()
        try await finishing { for root in roots { try await root.close() } }
    }
}
