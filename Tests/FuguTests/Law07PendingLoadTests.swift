import Fugu
import Support
import Testing

// Law 7: inside an update, a key whose reset or replacement is pending loads as it would outside: once, refused where it
// is refused, its closers beside it (laws 3, 6, 15, 16 and 28).
@Suite("Law 7: loading inside an update", .timeLimit(.minutes(1))) struct Law07PendingLoadTests {
    static let cases: [Case<Law07PendingLoadTests>] = [
        Case(
            "A feature that is reset there loads once, however often it is read inside and afterwards (laws 3 and 7)",
            once),
        Case("A feature that is replaced there loads once, by the new closure (laws 3 and 7)", replaced),
        Case(
            "A child's loads there with what the child overrides, never the parent's version (laws 7 and 16)", inAChild),
        Case(
            "A local feature that is reset there is made for the container that updates, and for no other (laws 7, 15)",
            local),
        Case(
            "A load doesn't see keys that the update sets or resets beside its own; later loads do (law 7)",
            seesWhatIsPublished),
        Case(
            "Its closers stand beside it: they run when it is reset, after those of what was made from it (laws 7, 28)",
            closers),
        Case(
            "Each closer of what is loaded in updates runs once, whether the updates throw or not (laws 7 and 28)",
            everyCloser),
        Case("A load that needs itself is found there, with the path (laws 6 and 7)", cycle),
        Case("In a closed container it is made for its reader alone, and reported (laws 7 and 28)", closed),
        Case("It is observed like any other: one call with what stays (laws 7 and 10)", observed),
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

    func once() {
        let container = Container()
        let tally = container[Tally.self]
        _ = container[Opened.self]
        let inside = Log<Witness>()
        container.update { changes in
            changes.reset(Opened.self)
            for _ in 0..<3 { inside.add(changes[Opened.self]) }
        }
        expect(inside.all[0] === inside.all[1] && inside.all[1] === inside.all[2])
        expect(tally.opened.value, equals: 2)
        expect(container[Opened.self], is: inside.all[0])
        expect(tally.opened.value, equals: 2)
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
        }
        expect(made.value == 1 && inside.all[0] === inside.all[2])
        expect(container[Opened.self], is: inside.all[0])
        expect(made.value, equals: 1)
    }

    func inAChild() {
        let root = Container()
        _ = root[FromNumber.self]
        let child = root.child {
            $0[Number.self] = 5
            $0[FromNumber.self] = FromNumber(number: -1)
        }
        child.update { changes in
            changes.reset(FromNumber.self)
            expect(changes[FromNumber.self].number, equals: 5)
        }
        expect(child[FromNumber.self].number, equals: 5)
        expect(root[FromNumber.self].number, equals: 0)
    }

    func local() {
        let root = Container()
        let child = root.child()
        let (above, before) = (root[Local.self], child[Local.self])
        child.update { changes in
            changes.reset(Local.self)
            let inside = changes[Local.self]
            expect(inside !== before)
            expect(inside !== above)
            expect(inside, is: changes[Local.self])
        }
        expect(child[Local.self] !== before)
        expect(root[Local.self], is: above)
    }

    func seesWhatIsPublished() {
        let container = Container()
        container[Number.self] = 1
        expect(container[FromNumber.self].number, equals: 1)
        container.update { changes in
            changes[Number.self] = 2
            changes.reset(FromNumber.self)
            expect(changes[FromNumber.self].number, equals: 1)
        }
        container.reset(FromNumber.self)
        expect(container[FromNumber.self].number, equals: 2)
    }

    func closers() async throws {
        let container = Container()
        let tally = container[Tally.self]
        container.update { changes in
            changes.reset(Opened.self)
            _ = changes[Opened.self]
        }
        _ = container[Above.self]
        container.onClose { tally.closed.add("container") }
        try await finishing { try await container.close() }
        expect(tally.opened.value, equals: 1)
        expect(tally.closed.all, equals: ["above", "opened 1", "container"])
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
