import Fugu
import Support
import Testing

// Law 28: close() runs every closer. Outside a load, a closer belongs to the container and runs last.
@Suite("No closer is dropped (law 28)", .timeLimit(.minutes(1))) struct Law28LateClosersTests {
    static let cases: [Case<Law28LateClosersTests>] = [
        Case(
            "A closer that a closer of the container registers runs before close() returns (law 28)",
            registeredByTheContainers),
        Case("So is what an instance's closer registers with the container (law 28)", registeredByAnInstances),
        Case("A closer registered after closing runs at the next call of close(), once (law 28)", registeredAfterwards),
        Case(
            "Of what threads register while the container closes, every closer has run after one more close() (law 28)",
            registeredMeanwhile),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28LateClosersTests>) async throws {
        try await stated.run(self)
    }

    func registeredByTheContainers() async throws {
        let container = Container()
        let log = Log<String>()
        container.onClose { [unowned container] in
            log.add("first")
            container.onClose {
                log.add("second")
                container.onClose { log.add("third") }
            }
        }
        try await finishing { try await container.close() }
        expect(log.all, equals: ["first", "second", "third"])
    }

    func registeredByAnInstances() async throws {
        let container = Container()
        let log = Log<String>()
        let key = FeatureKey { [unowned container] handle in
            handle.onClose {
                log.add("instance")
                container.onClose { log.add("registered") }
            }
            return 1
        }
        _ = container[key]
        container.onClose { log.add("container") }
        try await finishing { try await container.close() }
        expect(log.all.first == "instance" && log.all.count == 3, "\(log.all)")
        expect(Set(log.all), equals: ["instance", "container", "registered"])
    }

    func registeredAfterwards() async throws {
        let container = Container()
        let ran = Counter()
        try await container.close()
        container.onClose { ran.add() }
        try await finishing { try await container.close() }
        expect(ran.value, equals: 1)
        try await finishing { try await container.close() }
        expect(ran.value, equals: 1)
    }

    func registeredMeanwhile() async throws {
        for _ in 0..<60 {
            let container = Container()
            let (registered, ran) = (Counter(), Counter())
            let threads = (0..<3).map { _ in
                startThread {
                    for _ in 0..<20 {
                        registered.add()
                        container.onClose { ran.add() }
                    }
                }
            }
            try await finishing { try await container.close() }
            for thread in threads { await thread.opened() }
            try await finishing { try await container.close() }
            expect(ran.value, equals: registered.value)
        }
    }

    @Test("Every closer of every instance has run, whatever was read, reset and closed meanwhile (law 28)")
    func everyCloser() async throws {
        struct Number: Property { static var defaultValue: Int { 0 } }
        let (opened, closed) = (Counter(), Log<Int>())
        let base = FeatureKey(home: .local) { handle in
            let number = opened.add()
            handle.onClose { closed.add(number) }
            return number
        }
        let top = FeatureKey { handle in
            _ = (handle[base], handle[Number.self])
            let number = opened.add()
            handle.onClose { closed.add(number) }
            return number
        }
        for round in 0..<30 {
            let root = Container()
            root.handleReports { _ in }
            let children = (0..<3).map { number in root.child { $0[Number.self] = number } }
            let threads = children.enumerated().map { number, child in
                startThread {
                    for step in 0..<40 {
                        _ = child[top]
                        if step % 3 == number { child.reset(base) }
                        if step % 5 == number { root.reset(top) }
                    }
                }
            }
            for thread in threads { await thread.opened() }
            try await finishing {
                async let first: Void = children[0].close()
                if round % 2 == 0 { try await children[1].close() }
                try await root.close()
                try await first
            }
            expect(closed.all.sorted(), equals: Array(1...opened.value), "round \(round)")
        }
    }
}
