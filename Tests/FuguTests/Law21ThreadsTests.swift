import Fugu
import Support
import Testing

@Suite("Rules run once, without a lock, and never hang (law 21)", .timeLimit(.minutes(1)))
struct Law21ThreadsTests {
    static let cases: [Case<Law21ThreadsTests>] = [
        Case("With many threads asking for a scope first, rules run once, and all see what they set (law 21)", once),
        Case("While rules run the rest of the family reads, writes and makes other scopes (law 21)", noLock),
        Case("A value that code sets in a scope while its rules run again stays and wins (law 21)", setMeanwhile),
        Case(
            "A rule may wait for another thread that reads the same container, or another scope (laws 4 and 21)",
            waitsForOthers),
        Case(
            "Rules that are added while rules run are applied before configureScopes returns (law 21)", addedMeanwhile),
        Case(
            "A rule may change rules elsewhere, and an observer of what a rule set may do so here (law 21)",
            changesElsewhere),
        Case("A scope that two threads invalidate and read is never seen without its rules (law 21)", torn),
        Case("A set through a rule's container after the rule has run is reported and changes nothing (law 21)", late),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law21ThreadsTests>) async throws { try await stated.run(self) }

    typealias Timeout = Law21RulesTests.Timeout
    typealias Label = Law21RulesTests.Label

    func once() {
        for _ in 0..<20 {
            let runs = Counter()
            let container = Container()
            container.configureScopes { handle in
                runs.add()
                handle[Timeout.self] = 5
            }
            let scopes = Log<Container>()
            onThreads(8) { number in
                let scope = container.scope("/a")
                scopes.add(scope)
                expect((number % 2 == 0 ? scope : scope.child())[Timeout.self], equals: 5)
            }
            expect(runs.value, equals: 1)
            expect(Set(scopes.all.map(ObjectIdentifier.init)).count, equals: 1)
        }
    }

    @Test(
        "A reader that asks for a scope while its rules run gets it afterward; the same after an invalidation (law 21)")
    func waits() async throws {
        let (began, goOn) = (Locked(Gate()), Locked(Gate()))
        let runs = Counter()
        let container = Container()
        container.configureScopes { handle in
            handle[Timeout.self] = 10 * runs.add()
            began.withLock { $0 }.open()
            goOn.withLock { $0 }.wait()
        }
        let (scopes, values) = (Log<Container>(), Log<Int>())
        let threads = (0..<3).map { _ in
            startThread {
                let scope = container.scope("/a")
                scopes.add(scope)
                values.add(scope[Timeout.self])
            }
        }
        try await began.withLock { $0 }.openedUnlessCancelled()
        expect(values.all, equals: [])
        goOn.withLock { $0 }.open()
        for thread in threads { try await thread.openedUnlessCancelled() }
        expect(values.all, equals: [10, 10, 10])
        expect(runs.value, equals: 1)
        began.withLock { $0 = Gate() }
        goOn.withLock { $0 = Gate() }
        let invalidated = startThread { container.invalidateScopes() }
        try await began.withLock { $0 }.openedUnlessCancelled()
        // Nobody waits for rules in the middle of a read.
        expect(scopes.all[0][Timeout.self], equals: 10)
        expect(!invalidated.isOpen)
        goOn.withLock { $0 }.open()
        try await invalidated.openedUnlessCancelled()
        expect(scopes.all[0][Timeout.self], equals: 20)
        expect(runs.value, equals: 2)
    }

    func noLock() async throws {
        let (began, goOn) = (Gate(), Gate())
        let container = Container()
        container.configureScopes("/slow") { handle in
            began.open()
            goOn.wait()
            handle[Timeout.self] = 5
        }
        container.configureScopes("/fast") { $0[Timeout.self] = 1 }
        let slow = Log<Container>()
        let thread = startThread { slow.add(container.scope("/slow")) }
        try await began.openedUnlessCancelled()
        container[Label.self] = "written"
        expect(container[Timeout.self], equals: 30)
        expect(container.scope("/fast")[Timeout.self], equals: 1)
        expect(container.child()[Label.self], equals: "written")
        goOn.open()
        try await thread.openedUnlessCancelled()
        expect((slow.all[0][Timeout.self], slow.all[0][Label.self]) == (5, "written"))
        expect(container.scope("/slow"), is: slow.all[0])
    }

    func setMeanwhile() async throws {
        let (began, goOn, runs) = (Gate(), Gate(), Counter())
        let container = Container()
        container.configureScopes { handle in
            if runs.add() == 2 {
                began.open()
                goOn.wait()
            }
            handle[Timeout.self] = runs.value
        }
        let scope = container.scope("/a")
        let thread = startThread { container.invalidateScopes() }
        try await began.openedUnlessCancelled()
        scope[Timeout.self] = 100
        goOn.open()
        try await thread.openedUnlessCancelled()
        expect(scope[Timeout.self], equals: 100)
        scope.reset(Timeout.self)
        expect(scope[Timeout.self], equals: 2)
    }

    func waitsForOthers() {
        let container = Container()
        container.configureScopes("/other") { $0[Timeout.self] = 2 }
        container.configureScopes("/a") { [weak container] handle in
            guard let container else { return }
            handle[Timeout.self] = onAnotherThread { container.scope("/other")[Timeout.self] + container[Timeout.self] }
        }
        expect(container.scope("/a")[Timeout.self], equals: 32)
    }

    func addedMeanwhile() async throws {
        let (began, goOn, once) = (Gate(), Gate(), Counter())
        let container = Container()
        container.configureScopes { handle in
            if once.add() == 1 {
                began.open()
                goOn.wait()
            }
            handle[Timeout.self] = 5
        }
        let (scopes, values) = (Log<Container>(), Log<Int>())
        let making = startThread { scopes.add(container.scope("/a")) }
        try await began.openedUnlessCancelled()
        let adding = startThread {
            container.configureScopes { $0[Timeout.self] += 1 }
            values.add(container.scope("/a")[Timeout.self])
        }
        goOn.open()
        for thread in [making, adding] { try await thread.openedUnlessCancelled() }
        expect(values.all == [6] && scopes.all[0][Timeout.self] == 6)
    }

    func changesElsewhere() {
        let (container, other) = (Container(), Container())
        let child = container.child()
        let runs = Counter()
        container.configureScopes("/a") { [unowned container] in
            other.invalidateScopes()
            child.configureScopes { _ in }
            container[Label.self] = "changed"
            $0[Timeout.self] = runs.add()
        }
        container.observe(Label.self) { [unowned container] _ in container.invalidateScopes() }
        expect(container.scope("/a")[Timeout.self], equals: 2)
    }

    func torn() {
        let container = Container()
        let turn = Counter()
        container.configureScopes { handle in
            let turn = turn.add()
            handle[Timeout.self] = turn
            handle[Label.self] = "\(turn)"
        }
        let scope = container.scope("/a")
        onThreads(3) { number in
            for _ in 0..<300 {
                if number == 0 {
                    container.invalidateScopes()
                } else {
                    let before = scope[Timeout.self]
                    let label = Int(scope[Label.self]) ?? -1
                    expect(before <= label && label <= turn.value, "one new value was seen and then an old one")
                }
            }
        }
    }

    func late() {
        let kept = Log<any PropertyContainer>()
        let container = Container()
        let reports = container.logReports()
        container.configureScopes { kept.add($0) }
        let scope = container.scope("/a")
        expect(scope[Timeout.self], equals: 30)
        kept.all[0][Timeout.self] = 5
        expect(scope[Timeout.self], equals: 30)
        expect(reports.count == 1 && reports.all[0].contains("Timeout"))
        kept.removeAll()
    }
}

@Suite("A rule that needs the scope it configures stops with a message, and does not hang (law 21)")
struct Law21TrapsTests {
    typealias Timeout = Law21RulesTests.Timeout

    @Test("A rule that reads its own scope stops with a message (law 21)")
    func ownScope() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.configureScopes("/a/*") { [unowned container] in
                $0[Timeout.self] = container.scope("/a/b")[Timeout.self]
            }
            _ = container.scope("/a/b")[Timeout.self]
        }
        expectMessage(of: result, "/a/b", "reads that scope while it is being configured")
    }

    @Test("So is a rule that reads its own scope through a feature, or a child of the scope (law 21)")
    func throughAFeature() async {
        struct Client: Feature {
            static func load(in container: any FeatureContainer) -> Client {
                _ = container[Timeout.self]
                return Client()
            }
        }
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let container = Container()
            container.configureScopes { [unowned container] _ in
                _ = container.scope("/a").child()[Client.self]
            }
            _ = container.scope("/a")[Timeout.self]
        }
        expectMessage(of: result, "/a", "reads that scope while it is being configured")
    }

    @Test("So is a rule that adds rules for its own scope, or invalidates it (law 21)", arguments: [true, false])
    func withoutEnd(adds: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [adds] in
            ThisProcess.mustStopSoon()
            let container = Container()
            container.configureScopes("/a") { [unowned container] _ in
                if adds { container.configureScopes { _ in } } else { container.invalidateScopes() }
            }
            _ = container.scope("/a")[Timeout.self]
        }
        expectMessage(of: result, "/a", "configure that scope again without end")
    }

    @Test("So are two rules that read each other's scopes, on one thread and on two (law 21)", arguments: [1, 2])
    func eachOther(threads: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [threads] in
            ThisProcess.mustStopSoon()
            let container = Container()
            let barrier = threads == 2 ? Barrier(of: 2) : nil
            for (mine, other) in [("/a", "/b"), ("/b", "/a")] {
                container.configureScopes(mine) { [unowned container] in
                    barrier?.wait()
                    $0[Timeout.self] = container.scope(other)[Timeout.self]
                }
            }
            onThreads(threads) { number in _ = container.scope(number == 0 ? "/a" : "/b")[Timeout.self] }
        }
        expectMessage(of: result, "/", "reads that scope while it is being configured")
    }
}
