import FuguTesting
import Support
import Testing

@testable import Fugu

@Suite("A closed container answers readers that outlive it (law 18)", .timeLimit(.minutes(5)))
struct ClosingAfterwardsTests {}

extension ClosingAfterwardsTests {
    struct Logger: Feature {
        final class Instance: Sendable {
            let tenant: String
            let handle: any FeatureContainer
            init(_ tenant: String, _ handle: any FeatureContainer) {
                self.tenant = tenant
                self.handle = handle
            }
        }
        static func load(in container: any FeatureContainer) -> Instance { Instance(container[Tenant.self], container) }
    }
    struct Files: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            let log = container.stage.log
            let logger = container[Logger.self]
            container.onClose { log.add("closed") }
            container.onClose { log.add("closed, too") }
            return Thing("Files of \(logger.tenant)")
        }
    }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { Thing("Parsed") }
    }
    struct Lenient: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            do { return try container[Parsed.self] } catch { return Thing("\((error as? LoadError)?.path ?? [])") }
        }
    }

    struct Family: Sendable {
        weak let container: Container?
    }
    enum FamilyProperty: Property {
        static var defaultValue: Family { Family(container: nil) }
    }
    struct Refused: AsyncFeature {
        static let reads = Counter()
        static func load(in container: any FeatureContainer) async throws -> Int {
            let family = container[FamilyProperty.self].container!
            await reads.reaches(100)
            var refusals = 0
            for _ in 0..<2_000 {
                do { try await family.close() } catch is CloseError { refusals += 1 }
            }
            return refusals
        }
    }

    @Test("A closing that is refused closes nothing, for a moment either (law 18)")
    func refusedClosing() async throws {
        let container = Container()
        container[FamilyProperty.self] = Family(container: container)
        let (ended, failures) = (Gate(), Counter())
        let reader = startThread {
            while !ended.isOpen {
                container.reset(Parsed.self)
                do { _ = try container[Parsed.self] } catch { failures.add() }
                Refused.reads.add()
            }
        }
        try await expect(container[Refused.self], equals: 2_000)
        ended.open()
        await reader.opened()
        expect(failures.value, equals: 0)
    }

    private func closed() async throws -> (container: Container, reports: Log<String>) {
        let container = Container()
        let reports = container.logReports()
        container[Tenant.self] = "one"
        _ = container.stage
        try await container.close()
        return (container, reports)
    }

    @Test("An observer of a property still receives the default that a reset uncovers (laws 9 and 18)")
    func uncoveredDefault() async throws {
        let (container, _) = try await closed()
        let heard = Log<String>()
        let token = container.observe(Tenant.self) { heard.add($0) }
        container[Tenant.self] = "two"
        container.reset(Tenant.self)
        expect(heard.all, equals: ["two", Tenant.defaultValue])
        token.cancel()
    }

    @Test(
        "A plain feature that is not there is loaded once, reported, and released by another close(), as is a late closer (law 18)"
    )
    func loadedOnce() async throws {
        // A plain feature that is not there is loaded once, reported, and released by another close().
        do {
            let (container, reports) = try await closed()
            let first = container[Logger.self]
            expect(first.tenant, equals: "one")
            expect(first === container[Logger.self])
            expect(container.loadsUnderWay, equals: 0)
            expect(
                reports.all,
                equals: [
                    "Fugu: Logger was loaded through a container after close() was called on it, or on one above.\nFix: read Logger "
                        + "before close(), such as in the load of what needs it in its teardown closure, or use a container that is "
                        + "still open."
                ])
            try await container.close()
            expect(container.ifLoaded(Logger.self) == nil)
        }
        // So does a closer of the container that comes after close(), which is reported.
        do {
            let (container, reports) = try await closed()
            let ran = Counter()
            container.onClose { ran.add() }
            expect(reports.all, equals: [Messages.closerAfterClosing])
            expect(reports.all[0].contains("only another close() runs it"))
            for _ in 0..<2 {
                try await container.close()
                expect(ran.value, equals: 1)
            }
        }
    }

    @Test("What it needs is loaded as well, and reported with the path; what can throw throws (law 18)")
    func withWhatItNeeds() async throws {
        // Its dependencies are loaded as well, and reported with the path.
        do {
            let (container, reports) = try await closed()
            expect(container[Files.self].name, equals: "Files of one")
            expect(
                reports.all.map { $0.prefix { $0 != "." } },
                equals: [
                    "Fugu: Logger was loaded through a container after close() was called on it, or on one above"
                ])
            expect(reports.all.first?.contains("\nPath: Files → Logger\n"), equals: true)
        }
        // A throwing feature that it needs throws, with the way.
        do {
            let (container, _) = try await closed()
            expect(container[Lenient.self].name, equals: "[\"Lenient\", \"Parsed\"]")
        }
    }

    @Test("Closers that it registers never run (law 18)")
    func neverClosed() async throws {
        var (container, reports): (Container?, Log<String>) = try await closed()
        container!.replace(Logger.self) { handle in
            handle.onClose { handle.stage.log.add("closed") }
            return Logger.Instance("replaced", handle)
        }
        expect(container![Files.self].name, equals: "Files of replaced")
        let log = container!.stage.log
        container!.reset(Files.self)
        _ = container![Files.self]
        for _ in 0..<2 { try await container!.close() }
        container = nil
        await giveOthersTime()
        expect(log.all, equals: [])
        expect(reports.all.count, equals: 1)
    }

    @Test("A child made afterwards, and the handle that such an instance keeps, go on answering (law 18)")
    func childOfTheClosed() async throws {
        // A child made afterwards answers in the same way, with what it sets itself.
        do {
            let (container, _) = try await closed()
            let child = container.child { $0[Tenant.self] = "two" }
            expect(child[Files.self].name, equals: "Files of two")
            child[Logger.self] = Logger.Instance("set", child)
            child.reset(Files.self)
            expect(child[Files.self].name, equals: "Files of set")
            child.replace(Logger.self) { Logger.Instance("replaced for " + $0[Tenant.self], $0) }
            expect(child[Logger.self].tenant, equals: "replaced for two")
            expect(child[Logger.self] === child[Logger.self])
        }
        // The handle that such an instance keeps goes on answering.
        do {
            let (container, _) = try await closed()
            let logger = container[Logger.self]
            container[Tenant.self] = "changed"
            expect(logger.handle[Tenant.self], equals: "changed")
            expect(logger.handle[Files.self].name, equals: "Files of one")
        }
    }

    struct Round: Feature {
        static func load(in container: any FeatureContainer) -> Thing { container[Trip.self] }
    }
    struct Trip: Feature {
        static func load(in container: any FeatureContainer) -> Thing { container[Round.self] }
    }

    @Test("One that needs itself stops the program with the path, at once (laws 5 and 18)")
    func cycle() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = Container()
            try await container.close()
            _ = container[Round.self]
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Round needs itself to load.\nPath: Round → Trip → Round, in "))
        expect(text.contains("ClosingAfterwardsTests.swift:"))
    }

    struct Disk: Feature, External {
        static var placeholder: Thing { Thing("placeholder") }
        static func load(in container: any FeatureContainer) -> Thing { Thing("disk") }
    }

    @Test("A strict container still refuses what reaches outside (laws 18 and 19)")
    func strict() async throws {
        let (container, _) = try await closed()
        let refused = Log<String>()
        container.makeStrict(Strictness { refused.add($0.error.path.joined()) })
        expect(container[Disk.self].name, equals: "placeholder")
        expect(refused.all, equals: ["Disk"])
        container.replace(Disk.self) { _ in Thing("double") }
        expect(container[Disk.self].name, equals: "double")
    }

    @Test("While closers run, they are answered like all others, and what they load is closed, too (law 18)")
    func duringClosing() async throws {
        let container = Container()
        let reports = container.logReports()
        let log = container.stage.log
        container.onClose { [unowned container] in log.add(container[Files.self].name) }
        try await container.close()
        expect(log.all, equals: ["Files of root", "closed, too", "closed"])
        expect(reports.all.count, equals: 1)
    }

    @Test("Concurrent readers of a closed container get one instance (law 18)")
    func many() async throws {
        let (container, reports) = try await closed()
        let things = await withTaskGroup(of: Thing.self) { group in
            for _ in 0..<100 { group.addTask { container[Files.self] } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        expect(Set(things.map { ObjectIdentifier($0) }).count, equals: 1)
        expect(reports.all.count, equals: 1)
        expect(container.loadsUnderWay, equals: 0)
    }
}

@Suite("A closing that would wait for itself is found (law 18)", .timeLimit(.minutes(5))) struct ClosingReentryTests {}

extension ClosingReentryTests {
    /// The container that its closers close.
    enum TargetProperty: Property {
        static var defaultValue: @Sendable () async throws -> Void { {} }
    }
    struct Closing: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let (stage, close) = (container.stage, container[TargetProperty.self])
            container.onClose {
                stage.log.add("begin")
                defer { stage.log.add("end") }
                try await close()
            }
            return Thing(container[Tenant.self])
        }
    }

    private func failure(_ error: CloseError?) throws -> CloseError {
        let error = try #require(error)
        expect(error.code, equals: .teardownFailed)
        expect(error.failures.count, equals: 1)
        let failure = try #require(error.failures.first?.error as? CloseError)
        expect(failure.code, equals: .waitsForItself)
        expect(failure.failures.isEmpty)
        return failure
    }

    @Test(
        "A closer that waits for its own container, also through another or after leaving early, gets an error with a fix (law 18)"
    )
    func ownContainer() async throws {
        // A closer that waits for close() of its own container receives an error with a fix.
        do {
            let container = Container()
            container[TargetProperty.self] = { [unowned container] in try await container.close() }
            _ = try await container[Closing.self]
            let failure = try failure(await #expect(throws: CloseError.self) { try await container.close() })
            expect(failure.feature, equals: "Closing")
            expect(failure.description.contains("a teardown closure of Closing waits for close()"))
            expect(failure.description.contains("Fix: call close() from outside"))
            expect(container.stage.log.all, equals: ["begin", "end"])
            await #expect(throws: LoadError.self) { try await container[Closing.self] }
        }
        // So is a closer that comes back to its own container through another one's close().
        do {
            let (first, second) = (Container(), Container())
            first.onClose { [unowned second] in try await second.close() }
            second.onClose { [unowned first] in try await first.close() }
            let outer = try #require(await #expect(throws: CloseError.self) { try await first.close() })
            let inner = try #require(outer.failures.first?.error as? CloseError)
            let failure = try #require(inner.failures.first?.error as? CloseError)
            expect(failure.feature == nil)
            expect(failure.description.contains("a teardown closure of the container itself"))
        }
        // So is a closer of an instance that left early, for which every closing waits.
        do {
            let container = Container()
            container[TargetProperty.self] = { [unowned container] in try await container.close() }
            let reports = container.logReports()
            _ = try await container[Closing.self]
            container.reset(Closing.self)
            await expect(
                reports.first(1).first?.contains("a teardown closure of Closing waits for close()"), equals: true)
            try await container.close()
            expect(container.stage.log.all, equals: ["begin", "end"])
        }
    }

    @Test(
        "So is a child's closer that waits for its parent, whichever of the two is closed (law 18)",
        arguments: [true, false])
    func parent(closesChild: Bool) async throws {
        let root = Container()
        root[TargetProperty.self] = { [unowned root] in try await root.close() }
        let child = root.child { $0[Tenant.self] = "child" }
        _ = try await child[Closing.self]
        let sibling = root.child()
        sibling.onClose { root.stage.log.add("sibling") }
        let closed = closesChild ? child : root
        let failure = try failure(await #expect(throws: CloseError.self) { try await closed.close() })
        expect(failure.feature, equals: "Closing")
        // The error comes before anything else is closed.
        try await root.close()
        expect(root.stage.log.all.filter { $0 != "sibling" }, equals: ["begin", "end"])
        expect(root.stage.log.all.count, equals: 3)
    }

    struct ClosesWhileLoading: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            try await container[TargetProperty.self]()
            return Thing()
        }
    }

    @Test(
        "A load that waits for close() of its container gets the error, too; it may close what does not wait for it (law 18)"
    )
    func inALoad() async throws {
        // So is a load that waits for close() of the container it is made for.
        do {
            let container = Container()
            container[TargetProperty.self] = { [unowned container] in try await container.close() }
            let error = try #require(
                await #expect(throws: CloseError.self) { try await container[ClosesWhileLoading.self] })
            expect(error.code, equals: .waitsForItself)
            expect(error.feature, equals: "ClosesWhileLoading")
            expect(error.description.contains("the load of ClosesWhileLoading waits for close()"))
            // Nothing was closed by that.
            container[TargetProperty.self] = {}
            _ = try await container[ClosesWhileLoading.self]
        }
        // A load or a closer may close what does not wait for it: another family, its own child.
        do {
            let (container, other) = (Container(), Container())
            let child = container.child()
            container[TargetProperty.self] = { [unowned child] in
                try await other.close()
                try await child.close()
            }
            _ = try await container[ClosesWhileLoading.self]
            _ = try await container[Closing.self]
            try await container.close()
            expect(container.stage.log.all, equals: ["begin", "end"])
        }
    }
}

// Law 18: closings that wait for each other in tasks of their own aren't found, but end at a deadline.
@Suite("Closings that wait for one another end at their deadline (law 18)", .timeLimit(.minutes(5)))
struct ClosingCrosswiseTests {}

extension ClosingCrosswiseTests {
    /// Closes `containers` together, each of which closes the next as it closes, and returns the errors.
    private func closeInARing(_ containers: [Container]) async throws -> [CloseError] {
        let began = Counter()
        for (number, container) in containers.enumerated() {
            container.onClose { [next = containers[(number + 1) % containers.count]] in
                began.add()
                await began.reaches(containers.count)
                try await next.close(deadline: .milliseconds(20))
            }
        }
        return try await finishing {
            await withTaskGroup { group in
                for container in containers {
                    group.addTask { () -> CloseError? in
                        do {
                            try await container.close(deadline: .milliseconds(20))
                            return nil
                        } catch { return error as? CloseError }
                    }
                }
                return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
            }
        }
    }

    @Test(
        "Two or three containers whose closers close each other: one exceeds its deadline, and all are closed (law 18)")
    func two() async throws {
        // Two children whose closers close each other: at least one exceeds its deadline, and both are closed.
        do {
            let root = Container()
            let children = [root.child(), root.child()]
            let errors = try await closeInARing(children)
            expect(!errors.isEmpty && errors.allSatisfy { "\($0)".contains("was abandoned") }, "\(errors)")
            for child in children { #expect(throws: LoadError.self) { try child[Refused.self] } }
            try await finishing { try await root.close() }
        }
        // The same holds for a ring of three, and for separate families.
        do {
            let root = Container()
            try await expect(!closeInARing((0..<3).map { _ in root.child() }).isEmpty)
            try await expect(!closeInARing((0..<2).map { _ in Container() }).isEmpty)
        }
    }

    struct Refused: ThrowingFeature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }

    @Test("Two that close the same third one at once both wait for it, without an error (law 18)")
    func sameTarget() async throws {
        let root = Container()
        let (first, second, third) = (root.child(), root.child(), root.child())
        let (gate, log) = (Gate(), Log<String>())
        third.onClose {
            await gate.opened()
            log.add("third")
        }
        for container in [first, second] {
            container.onClose {
                try await third.close()
                log.add("after")
            }
        }
        let closing = Task {
            try await finishing {
                async let one: Void = first.close()
                async let two: Void = second.close()
                _ = try await (one, two)
            }
        }
        await giveOthersTime()
        expect(log.all, equals: [])
        gate.open()
        try await closing.value
        expect(log.all, equals: ["third", "after", "after"])
    }
}
