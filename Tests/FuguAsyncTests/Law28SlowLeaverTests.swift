import Fugu
import Support
import Testing

// Law 28: the closers of an instance that leaves early run in a separate task, those of a family one after the
// other. close() waits for those of what it closes, a second call too, and for nobody else's.
@Suite("A closing waits for its own early leavers alone (law 28)", .timeLimit(.minutes(1)))
struct Law28SlowLeaverTests {
    static let cases: [Case<Law28SlowLeaverTests>] = [
        Case(
            "Nor for what leaves its parent or a sibling's child, though it has its own closers to run (law 28)",
            parentsLeaver),
        Case(
            "Its own leavers, and those of its children, it does wait for, and so does a second call (law 28)",
            ownLeavers),
        Case(
            "A request that gives back as it closes is not kept from it by the pool that waits for it (law 28)", drained
        ),
        Case("So is one that an input's dependent keeps, though both have left (law 28)", whileKept),
        Case("Closing a container ends even while its instances keep leaving (law 28)", leavingWhileClosing),
        Case("However many families' leavers wait, one more family's is closed (laws 2 and 28)", manyFamilies),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28SlowLeaverTests>) async throws {
        try await stated.run(self)
    }

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

    @Test("A request with nothing to close does not wait for what leaves another one (law 28)")
    func otherRequest() async throws {
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

    func parentsLeaver() async throws {
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

    @Test("A dependent that's still being released is closed before what it was made from (law 28)")
    func whileReleased() async throws {
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
        let resetting = startThread { container.reset(dependent) }
        await began.opened()
        try await finishing { try await container.close() }
        expect(log.all, equals: ["dependent", "input"])
        mayEnd.open()
        await resetting.opened()
        expect(log.count, equals: 2)
    }

    func whileKept() async throws {
        let container = Container()
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
        container.reset(second)
        container.reset(first)
        try await finishing { try await container.close() }
        expect(log.all, equals: ["third", "second", "first"])
    }

    struct Quick: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Thing {
            container.onClose { await Task.yield() }
            return Thing()
        }
    }

    @Test("Requests are closed beside others whose instances leave without end (law 28)")
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

    @Test("The closers of leavers of one family run one after the other, each once (law 28)")
    func oneAfterTheOther() async throws {
        let root = Container()
        let stage = root.stage
        let (running, overlapping, ran) = (Counter(), Counter(), Counter())
        let children = (0..<40).map { _ in root.child() }
        for (number, child) in children.enumerated() {
            let key = FeatureKey(home: .local, id: number) { handle in
                handle.onClose {
                    if running.add() > 1 { overlapping.add() }
                    await Task.yield()
                    if number == 0 { await stage.gate("first").opened() }
                    ran.add()
                    running.add(-1)
                }
                return number
            }
            _ = child[key]
            child.reset(key)
        }
        await giveOthersTime()
        expect(ran.value, equals: 0)
        stage.gate("first").open()
        try await finishing {
            await ran.reaches(40)
            try await root.close()
        }
        expect(ran.value, equals: 40)
        expect(running.value, equals: 0)
        expect(overlapping.value, equals: 0)
    }

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
            root.reset(key)
        }
        try await finishing { await began.reaches(100) }
        gate.open()
        try await finishing { for root in roots { try await root.close() } }
    }
}
