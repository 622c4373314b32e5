@testable import Fugu
import Support
import Testing

@Suite("Law 8: after a container was released") struct Law08AfterEndTests {
    static let cases: [Case<Law08AfterEndTests>] = [
        Case("A property read gives its default and is reported (law 8)", property),
        Case("The error names the load that reads (law 8)", reader),
        Case("Throwing and async features throw LoadError (law 8)", throwing),
        Case("A change is reported and does nothing (law 8)", changes),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law08AfterEndTests>) async throws {
        try await stated.run(self)
    }

    struct Name: Property { static var defaultValue: String { "default" } }
    struct Greeting: Feature {
        static func load(in container: any FeatureContainer) -> String { "hello" }
    }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 1 }
    }
    struct Report: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Int { 2 }
    }
    struct Fetched: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Int { 1 }
    }
    /// Keeps its handle.
    struct Keeper: Feature {
        let container: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Keeper { Keeper(container: container) }
    }

    func property() {
        let (keeper, reports) = {
            let container = Container()
            container[Name.self] = "set"
            return (container[Keeper.self], container.logReports())
        }()
        expect(keeper.container[Name.self], equals: "default")
        expect(reports.count, equals: 1)
        expect(reports.all.first?.contains("Name was read after its container was released"), equals: true)
    }

    @Test("A plain feature stops with a message that names it (law 8)")
    func feature() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let keeper = Container()[Keeper.self]
            _ = keeper.container[Greeting.self]
        }
        expectMessage(
            of: result, "Greeting was read after its container was released", "Fix: keep the Container as long as")
    }

    @Test("A feature that was loaded before stops with a message too, since it is released (law 8)")
    func loadedFeature() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            let keeper = {
                let container = Container()
                _ = container[Greeting.self]
                return container[Keeper.self]
            }()
            _ = keeper.container[Greeting.self]
        }
        expectMessage(of: result, "Greeting was read after its container was released")
    }

    func reader() {
        let keeper = Container()[Keeper.self]
        let container = Container()
        container.replace(Report.self) { _ in try keeper.container[Parsed.self] }
        let error = #expect(throws: LoadError.self) { try container[Report.self] }
        expect(error?.path, equals: ["Report", "Parsed"])
        expect(error?.description.contains("released.\nPath: Report → Parsed, in reader() at FuguTests/"), equals: true)
    }

    func throwing() async {
        let keeper = Container()[Keeper.self]
        let error = #expect(throws: LoadError.self) { try keeper.container[Parsed.self] }
        expect(error?.code, equals: .containerGone)
        expect(error?.path, equals: ["Parsed"])
        let text = error?.description ?? ""
        expect(text.hasPrefix("Fugu: Parsed was read after its container was released.\nPath: Parsed, in "))
        expect(text.contains(" at FuguTests/Law08AfterEndTests.swift:"))
        let late = await #expect(throws: LoadError.self) { try await keeper.container[Fetched.self] }
        expect(late?.code, equals: .containerGone)
        expect(late?.path, equals: ["Fetched"])
    }

    func changes() {
        let (keeper, reports) = {
            let container = Container()
            return (container[Keeper.self], container.logReports())
        }()
        keeper.container[Name.self] = "late"
        expect(reports.all.first?.contains("Name was changed after its container was released"), equals: true)
        expect(keeper.container[Name.self], equals: "default")
    }

    /// Holds its handle, and is read through it.
    struct Service: Feature {
        static let ended = Counter()
        let container: any FeatureContainer
        let witness = Witness { ended.add() }
        static func load(in container: any FeatureContainer) -> Service { Service(container: container) }
    }

    @Test("Many short-lived containers with captured handles leave no memory behind (law 8)")
    func memory() async throws {
        // In a separate process, since other tests allocate and free memory meanwhile.
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            func use(_ count: Int) async {
                await onThreads(2) { _ in
                    for number in 0..<count / 2 {
                        let container = Container()
                        container[Name.self] = "this is the name of container \(number)"
                        _ = container[Service.self].container[Name.self]
                    }
                }
            }
            let count = rounds(100_000, few: 15_000)
            await use(count / 5)
            let before = ThisProcess.residentBytes
            await use(count)
            let after = ThisProcess.residentBytes
            precondition(Service.ended.value == count / 5 * 6)
            guard let before, let after else { return print("the resident size is unknown here") }
            print("resident size before \(before / 1024) KiB, after \(count) containers \(after / 1024) KiB")
            // A leak would take 100 bytes for each.
            precondition(ThisProcess.isThreadSanitized || after - before < 40 * count)
        }
        print(String(decoding: result.standardOutputContent, as: UTF8.self), terminator: "")
    }
}
