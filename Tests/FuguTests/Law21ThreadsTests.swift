@testable import Fugu
import Support
import Testing

@Suite("Rules run once, without a lock, and never hang (law 21)")
struct Law21ThreadsTests {
    typealias Timeout = Law21RulesTests.Timeout
    typealias Label = Law21RulesTests.Label

    @Test("With many threads reading first, rules run once, and all see what they set (law 21)")
    func once() {
        for _ in 0..<20 {
            let runs = Counter()
            let container = Container()
            container.configureScopes { handle in
                runs.add()
                handle[Timeout.self] = 5
            }
            let scope = container.scope("/a")
            onThreads(8) { number in
                #expect((number % 2 == 0 ? scope : scope.child())[Timeout.self] == 5)
            }
            #expect(runs.value == 1)
        }
    }

    @Test("A load that waited for a scope's rules is not kept for that (laws 21 and 30)")
    func waitingLoad() {
        final class Weak: Sendable {
            weak let frame: Frame?
            init(_ frame: Frame?) { self.frame = frame }
        }
        let (began, goesOn) = (Gate(), Gate())
        let loads = Log<Weak>()
        let container = Container()
        container.handleReports { _ in }
        container.configureScopes { handle in
            began.open()
            goesOn.wait()
            handle[Timeout.self] = 5
        }
        let scope = container.scope("/a")
        let key = FeatureKey { _ in
            loads.add(Weak(Frame.current))
            return scope[Timeout.self]
        }
        let first = startThread { _ = scope[Timeout.self] }
        began.wait()
        let second = startThread { #expect(container[key] == 5) }
        scope.awaitScopeReaders(1)
        #expect(loads.all[0].frame != nil)
        goesOn.open()
        for thread in [first, second] { thread.wait() }
        #expect(loads.all[0].frame == nil)
    }

    @Test("Who reads a scope while its rules run waits for them; the same after an invalidation (law 21)")
    func waits() {
        let (began, goOn) = (Locked(Gate()), Locked(Gate()))
        let runs = Counter()
        let container = Container()
        container.configureScopes { handle in
            handle[Timeout.self] = 10 * runs.add()
            began.withLock { $0 }.open()
            goOn.withLock { $0 }.wait()
        }
        let scope = container.scope("/a")
        for round in 1...2 {
            let values = Log<Int>()
            let threads = (0..<3).map { _ in startThread { values.add(scope[Timeout.self]) } }
            began.withLock { $0 }.wait()
            scope.awaitScopeReaders(2)
            goOn.withLock { $0 }.open()
            threads.forEach { $0.wait() }
            #expect(values.all == [10 * round, 10 * round, 10 * round])
            #expect(runs.value == round)
            began.withLock { $0 = Gate() }
            goOn.withLock { $0 = Gate() }
            container.invalidateScopes()
        }
    }

    @Test("While rules run the rest of the family reads, writes and computes other scopes (law 21)")
    func noLock() {
        let (began, goOn) = (Gate(), Gate())
        let container = Container()
        container.configureScopes("/slow") { handle in
            began.open()
            goOn.wait()
            handle[Timeout.self] = 5
        }
        container.configureScopes("/fast") { $0[Timeout.self] = 1 }
        let slow = container.scope("/slow")
        let thread = startThread { _ = slow[Timeout.self] }
        began.wait()
        container[Label.self] = "written"
        slow[Label.self] = "code"
        #expect(container[Timeout.self] == 30)
        #expect(container.scope("/fast")[Timeout.self] == 1)
        #expect(container.child()[Label.self] == "written")
        #expect(container.scope("/slow") === slow)
        goOn.open()
        thread.wait()
        #expect((slow[Timeout.self], slow[Label.self]) == (5, "code"))
    }

    @Test("A rule may wait for another thread that reads the same container, or another scope (laws 4 and 21)")
    func waitsForOthers() {
        let container = Container()
        container.configureScopes("/other") { $0[Timeout.self] = 2 }
        container.configureScopes("/a") { [weak container] handle in
            guard let container else { return }
            handle[Timeout.self] = onAnotherThread { container.scope("/other")[Timeout.self] + container[Timeout.self] }
        }
        #expect(container.scope("/a")[Timeout.self] == 32)
    }

    @Test("Rules that are added while rules run are applied before the read returns (law 21)")
    func addedMeanwhile() {
        let (began, goOn) = (Gate(), Gate())
        let container = Container()
        container.configureScopes { handle in
            began.open()
            goOn.wait()
            handle[Timeout.self] = 5
        }
        let scope = container.scope("/a")
        let values = Log<Int>()
        let thread = startThread { values.add(scope[Timeout.self]) }
        began.wait()
        container.configureScopes { $0[Timeout.self] += 1 }
        goOn.open()
        thread.wait()
        #expect(values.all == [6])
        #expect(scope[Timeout.self] == 6)
    }

    @Test("A rule may change rules elsewhere, and an observer of what a rule set may do so here (law 21)")
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
        let scope = container.scope("/a")
        #expect(scope[Timeout.self] >= 1)
        #expect(scope[Timeout.self] == 2)
    }

    @Test("A scope that two threads invalidate and read is never seen without its rules (law 21)")
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
                    #expect(before <= label && label <= turn.value, "one new value was seen and then an old one")
                }
            }
        }
    }

    @Test("What a rule sets through its container after it has run is reported and changes nothing (law 21)")
    func late() {
        let kept = Log<any PropertyContainer>()
        let container = Container()
        let reports = container.logReports()
        container.configureScopes { kept.add($0) }
        let scope = container.scope("/a")
        #expect(scope[Timeout.self] == 30)
        kept.all[0][Timeout.self] = 5
        #expect(scope[Timeout.self] == 30)
        #expect(reports.count == 1 && reports.all[0].contains("Timeout"))
        kept.removeAll()
    }
}

@Suite("A rule that needs the scope it configures stops with a message, and does not hang (law 21)")
struct Law21TrapsTests {
    typealias Timeout = Law21RulesTests.Timeout

    @Test("A rule that reads its own scope is told so (law 21)")
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
        expectMessage(of: result, "/a", "configure it again without end")
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
