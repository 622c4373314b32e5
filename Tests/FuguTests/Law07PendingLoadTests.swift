import Fugu
import Support
import Testing

// Law 7: inside an update, a key that it resets or replaces gives what's published, and what isn't loaded loads as it does
// outside (laws 3, 6, 15, 16 and 28).
@Suite("Law 7: loading inside an update", .timeLimit(.minutes(1))) struct Law07PendingLoadTests {
    static let cases: [Case<Law07PendingLoadTests>] = [
        Case("A key that is reset there gives what is published, and what is loaded afterward is new (law 7)", reset),
        Case(
            "The closure of a feature that is replaced there runs only when all is published (laws 3 and 7)", replaced),
        Case(
            "A child's gives there what the child has, and a local one that of its container (laws 7, 15, 16)", inAChild
        ),
        Case(
            "Closers of what is reset there run at the end, and none run if the update throws (laws 7 and 28)", closers),
        Case(
            "Each closer of what is loaded in updates runs once, whether the updates throw or not (laws 7 and 28)",
            everyCloser),
        Case("A load that needs itself is found there, with the path (laws 6 and 7)", cycle),
        Case("In a closed container it is made for its reader alone, and reported (laws 7 and 28)", closed),
        Case(
            "What is loaded and reset there is observed like any other: one call with what stays (laws 7, 10)", observed
        ),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law07PendingLoadTests>) async throws {
        try await stated.run(self)
    }

    struct Number: Property { static var defaultValue: Int { 0 } }
    struct Tally: Property { static var defaultValue: Accounts { Accounts() } }
    struct Accounts: Sendable {
        let opened = Counter()
        let closed = Log<String>()
    }

    struct Opened: Feature {
        static func load(in container: any FeatureContainer) -> Witness {
            let tally = container[Tally.self]
            let number = tally.opened.add()
            container.onClose { tally.closed.add("opened \(number)") }
            return Witness()
        }
    }
    struct Above: Feature {
        static func load(in container: any FeatureContainer) -> Witness {
            let (tally, opened) = (container[Tally.self], container[Opened.self])
            container.onClose { tally.closed.add("above") }
            return Witness { withExtendedLifetime(opened) {} }
        }
    }
    struct FromNumber: Feature {
        let number: Int
        static func load(in container: any FeatureContainer) -> FromNumber {
            FromNumber(number: container[Number.self])
        }
    }
    struct Local: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Witness { Witness() }
    }
    struct Broken: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { try container[Broken.self] + 1 }
    }
    struct Failure: Error {}

    func reset() {
        let container = Container()
        container[Number.self] = 1
        let tally = container[Tally.self]
        let before = container[Opened.self]
        container.update { changes in
            changes.reset(Opened.self)
            changes.reset(Number.self)
            expect(changes[Opened.self], is: before)
            expect(changes[Number.self], equals: 1)
            expect(changes[FromNumber.self].number, equals: 1)
            expect(tally.opened.value, equals: 1)
        }
        expect(container[Opened.self] !== before)
        expect(tally.opened.value, equals: 2)
        expect(container[Number.self], equals: 0)
        expect(container[FromNumber.self].number, equals: 1)
    }

    func replaced() {
        let container = Container()
        let made = Counter()
        let inside = Log<Witness>()
        container.update { changes in
            changes.replace(Opened.self) { _ in
                made.add()
                return Witness()
            }
            for _ in 0..<3 { inside.add(changes[Opened.self]) }
            expect(made.value, equals: 0)
        }
        expect(inside.all[0], is: inside.all[2])
        expect(container[Tally.self].opened.value, equals: 1)
        expect(container[Opened.self] !== inside.all[0])
        expect(made.value, equals: 1)
    }

    func inAChild() {
        let root = Container()
        _ = root[FromNumber.self]
        let child = root.child {
            $0[Number.self] = 5
            $0[FromNumber.self] = FromNumber(number: -1)
        }
        let (above, before) = (root[Local.self], child[Local.self])
        child.update { changes in
            changes.reset(FromNumber.self)
            changes.reset(Local.self)
            expect(changes[FromNumber.self].number, equals: -1)
            expect(changes[Local.self], is: before)
        }
        expect(child[FromNumber.self].number, equals: 5)
        expect(root[FromNumber.self].number, equals: 0)
        expect(child[Local.self] !== before)
        expect(root[Local.self], is: above)
    }

    func closers() async throws {
        let container = Container()
        let tally = container[Tally.self]
        container.update { changes in
            let opened = changes[Opened.self]
            changes.reset(Opened.self)
            expect(changes[Opened.self], is: opened)
            expect(tally.closed.all, equals: [])
        }
        _ = container[Above.self]
        try? container.update { changes throws(Failure) in
            changes.reset(Opened.self)
            _ = changes[Above.self]
            throw Failure()
        }
        container.onClose { tally.closed.add("container") }
        try await finishing { try await container.close() }
        expect(tally.opened.value, equals: 2)
        expect(tally.closed.all, equals: ["opened 1", "above", "opened 2", "container"])
    }

    func everyCloser() async throws {
        let container = Container()
        let tally = container[Tally.self]
        for round in 0..<10 {
            try? container.update { changes throws(Failure) in
                changes.reset(Opened.self)
                _ = (changes[Opened.self], changes[Opened.self])
                if round % 2 == 0 { throw Failure() }
            }
        }
        try await finishing { try await container.close() }
        expect(tally.closed.all.sorted(), equals: (1...tally.opened.value).map { "opened \($0)" }.sorted())
    }

    func cycle() async throws {
        let path = try await finishing {
            let path = Log<[String]>()
            let container = Container()
            container.update { changes in
                changes.reset(Broken.self)
                do { _ = try changes[Broken.self] } catch { path.add((error as? LoadError)?.path ?? []) }
            }
            return path.all
        }
        expect(path, equals: [["Broken", "Broken"]])
    }

    @Test("A load that changes something through its handle stops there as it does outside (laws 7 and 15)")
    func writing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let key = FeatureKey { container in
                container[Number.self] = 99
                return 1
            }
            Container().update { changes in
                changes.reset(key)
                _ = changes[key]
            }
        }
        expectMessage(of: result, "Number", "while it loads")
    }

    func closed() async throws {
        let container = Container()
        let tally = container[Tally.self]
        try await container.close()
        let reports = container.logReports()
        container.update { changes in
            changes.reset(Opened.self)
            _ = changes[Opened.self]
        }
        expect(container.ifLoaded(Opened.self) == nil)
        expect(tally.opened.value, equals: 1)
        expect(reports.count == 1 && reports.all.first?.contains("Opened") == true, "\(reports.all)")
    }

    func observed() {
        let container = Container()
        let heard = Log<Int>()
        container[Number.self] = 3
        container.observe(FromNumber.self) { heard.add($0.number) }
        container.update { changes in
            changes.reset(FromNumber.self)
            _ = (changes[FromNumber.self], changes[FromNumber.self])
        }
        expect(heard.all, equals: [3])
    }
}
