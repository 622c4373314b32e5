import Support
import Testing

@testable import Fugu

@Suite("A closed container answers readers that outlive it (law 28)", .timeLimit(.minutes(5)))
struct Law28AfterClosingTests {
    static let cases: [Case<Law28AfterClosingTests>] = [
        Case(
            "An observer of a property still receives the default that a reset uncovers (laws 10 and 28)",
            uncoveredDefault),
        Case(
            "A plain feature that is not there is loaded for each reader alone and kept by nobody (law 28)",
            forItsReaderAlone),
        Case("Its dependencies are loaded for it alone as well, and reported with the path (law 28)", withWhatItNeeds),
        Case("Closers that it registers do not run, and the report says so (law 28)", closersDoNotRun),
        Case("A child made afterwards answers in the same way, with what it sets itself (law 28)", childOfTheClosed),
        Case("A throwing feature that it needs throws, with the way (law 28)", throwingOnesThrow),
        Case("The handle that such an instance keeps goes on answering (law 28)", keptHandle),
        Case("A strict container still refuses what reaches outside (laws 28 and 29)", strict),
        Case("While closers run, they are answered like all others, and the closing ends (law 28)", duringClosing),
        Case("Concurrent readers of a closed container each get their own instance (law 28)", many),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28AfterClosingTests>) async throws {
        try await stated.run(self)
    }

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

    private func closed() async throws -> (container: Container, reports: Log<String>) {
        let container = Container()
        let reports = container.logReports()
        container[Tenant.self] = "one"
        _ = container.stage
        try await container.close()
        return (container, reports)
    }

    func uncoveredDefault() async throws {
        let (container, _) = try await closed()
        let heard = Log<String>()
        let token = container.observe(Tenant.self) { heard.add($0) }
        container[Tenant.self] = "two"
        container.reset(Tenant.self)
        expect(heard.all, equals: ["two", Tenant.defaultValue])
        token.cancel()
    }

    func forItsReaderAlone() async throws {
        let (container, reports) = try await closed()
        let first = container[Logger.self]
        expect(first.tenant, equals: "one")
        expect(first !== container[Logger.self])
        expect(container.ifLoaded(Logger.self) == nil)
        expect(container.loadsUnderWay, equals: 0)
        expect(reports.all.count, equals: 2)
        expect(
            reports.all.first,
            equals: "Fugu: Logger was read after its container was closed. It was loaded for this read alone and isn't "
                + "kept.\nFix: read Logger before close(), or use a container that is still open.")
    }

    func withWhatItNeeds() async throws {
        let (container, reports) = try await closed()
        expect(container[Files.self].name, equals: "Files of one")
        expect(container.ifLoaded(Logger.self) == nil)
        expect(
            reports.all.map { $0.prefix { $0 != "." } },
            equals: [
                "Fugu: Logger was read after its container was closed",
                "Fugu: Files was read after its container was closed",
            ])
        expect(reports.all.first?.contains("\nPath: Files → Logger\n"), equals: true)
    }

    func closersDoNotRun() async throws {
        let (container, reports) = try await closed()
        _ = container[Files.self]
        expect(reports.all.last?.contains("Teardown closures that its load registered don't run"), equals: true)
        try await container.close()
        await container.untilClosersRan()
        expect(container.stage.log.all, equals: [])
    }

    func childOfTheClosed() async throws {
        let (container, _) = try await closed()
        let child = container.child { $0[Tenant.self] = "two" }
        expect(child[Files.self].name, equals: "Files of two")
        child[Logger.self] = Logger.Instance("set", child)
        expect(child[Files.self].name, equals: "Files of set")
        child.replace(Logger.self) { Logger.Instance("replaced for " + $0[Tenant.self], $0) }
        expect(child[Logger.self].tenant, equals: "replaced for two")
        expect(child[Logger.self] !== child[Logger.self])
    }

    func throwingOnesThrow() async throws {
        let (container, _) = try await closed()
        expect(container[Lenient.self].name, equals: "[\"Lenient\", \"Parsed\"]")
    }

    func keptHandle() async throws {
        let (container, _) = try await closed()
        let logger = container[Logger.self]
        container[Tenant.self] = "changed"
        expect(logger.handle[Tenant.self], equals: "changed")
        expect(logger.handle[Files.self].name, equals: "Files of changed")
    }

    struct Round: Feature {
        static func load(in container: any FeatureContainer) -> Thing { container[Trip.self] }
    }
    struct Trip: Feature {
        static func load(in container: any FeatureContainer) -> Thing { container[Round.self] }
    }

    @Test("One that needs itself stops the program with the path, at once (laws 6 and 28)")
    func cycle() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = Container()
            try await container.close()
            _ = container[Round.self]
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expect(text.contains("Round needs itself to load.\nPath: Round → Trip → Round, in "))
        expect(text.contains("Law28AfterClosingTests.swift:"))
    }

    struct Disk: Feature, External {
        static var placeholder: Thing { Thing("placeholder") }
        static func load(in container: any FeatureContainer) -> Thing { Thing("disk") }
    }

    func strict() async throws {
        let (container, _) = try await closed()
        let refused = Log<String>()
        container.makeStrict(Strictness { refused.add($0.error.path.joined()) })
        expect(container[Disk.self].name, equals: "placeholder")
        expect(refused.all, equals: ["Disk"])
        container.replace(Disk.self) { _ in Thing("double") }
        expect(container[Disk.self].name, equals: "double")
    }

    func duringClosing() async throws {
        let container = Container()
        let reports = container.logReports()
        let log = container.stage.log
        container.onClose { [unowned container] in log.add(container[Files.self].name) }
        try await container.close()
        expect(log.all, equals: ["Files of root"])
        expect(reports.all.count, equals: 2)
    }

    func many() async throws {
        let (container, reports) = try await closed()
        let things = await withTaskGroup(of: Thing.self) { group in
            for _ in 0..<100 { group.addTask { container[Files.self] } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        expect(Set(things.map { ObjectIdentifier($0) }).count, equals: 100)
        expect(reports.all.count, equals: 200)
        expect(container.loadsUnderWay, equals: 0)
    }
}
