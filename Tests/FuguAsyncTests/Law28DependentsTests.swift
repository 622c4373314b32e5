import Fugu
import Support
import Testing

@Suite("An instance is closed when nothing loaded from it remains (law 28)", .timeLimit(.minutes(5)))
struct Law28DependentsTests {
    static let cases: [Case<Law28DependentsTests>] = [
        Case("It waits until nothing that was loaded from it remains (law 28)", waitsForDependents),
        Case(
            "An instance that left early but is still needed is closed by close(), after its dependents (law 28)",
            closedAtTheEnd),
        Case(
            "A load that read an input before and after its reset keeps both instances from being closed (law 28)",
            readTwice),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law28DependentsTests>) async throws {
        try await stated.run(self)
    }

    private typealias Source = Law28EarlyLeaversTests.Source
    private typealias Reader = Law28EarlyLeaversTests.Reader

    func waitsForDependents() async throws {
        let container = Container()
        let log = container.stage.log
        _ = try await container[Reader.self]
        container.reset(Source.self)
        await container.untilClosersRan()
        expect(log.all, equals: [])
        try await expect(container[Source.self].name, equals: "Source 2")
        container.reset(Reader.self)
        await expect(log.first(2), equals: ["Reader 1", "Source 1"])
        try await container.close()
        expect(log.all, equals: ["Reader 1", "Source 1", "Source 2"])
    }

    func closedAtTheEnd() async throws {
        let container = Container()
        let log = container.stage.log
        _ = try await container[Reader.self]
        container.reset(Source.self)
        _ = try await container[Source.self]
        try await container.close()
        expect(log.all.firstIndex(of: "Reader 1")! < log.all.firstIndex(of: "Source 1")!)
        expect(Set(log.all), equals: ["Reader 1", "Source 1", "Source 2"])
        expect(log.all.count, equals: 3)
    }

    struct ReadsTwice: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let first = try await container[Source.self]
            stage.gate("read once").open()
            await stage.gate("read again").opened()
            return Thing("ReadsTwice", parts: [first, try await container[Source.self]])
        }
    }

    func readTwice() async throws {
        let container = Container()
        let stage = container.stage
        let reader = Task { try await container[ReadsTwice.self] }
        await stage.gate("read once").opened()
        container.reset(Source.self)
        stage.gate("read again").open()
        try await expect(reader.value.parts.map(\.name), equals: ["Source 1", "Source 2"])
        container.reset(Source.self)
        await container.untilClosersRan()
        expect(stage.log.all, equals: [])
        container.reset(ReadsTwice.self)
        expect(Set(await stage.log.first(2)), equals: ["Source 1", "Source 2"])
    }

    /// Resumes where the test says, on an actor that the test can hold up.
    @globalActor actor Stall {
        static let shared = Stall()
    }
    struct OnStall: AsyncFeature {
        @Stall static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            container.onClose { stage.log.add("OnStall") }
            return Thing("OnStall", parts: [try await container[Gated.self]])
        }
    }
    struct Gated: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            let stage = container.stage
            let number = stage.tally("Gated").add()
            container.onClose { stage.log.add("Gated \(number)") }
            await stage.gate("Gated \(number)").opened()
            return Thing("Gated \(number)")
        }
    }

    @Test("Reset after its load, before a depending load resumes: what that load got is not closed (law 28)")
    func resetBeforeDependentResumes() async throws {
        let container = Container()
        let stage = container.stage
        stage.gate("Gated 2").open()
        let dependent = Task { try await container[OnStall.self] }
        await container.untilWaiting(for: Gated.self, 1)
        let hold = Law27FailureTests.Hold()
        let stall = Task { @Stall in
            stage.gate("stalled").open()
            hold.wait()
        }
        await stage.gate("stalled").opened()
        stage.gate("Gated 1").open()
        while container.ifLoaded(Gated.self) == nil { await Task.yield() }
        container.reset(Gated.self)
        await container.untilClosersRan()
        hold.release()
        await stall.value
        let used = try await dependent.value.parts[0].name
        await container.untilClosersRan()
        expect(!stage.log.all.contains(used))
        try await container.close()
        let end = stage.log.all
        expect(end.firstIndex(of: "OnStall")! < end.firstIndex(of: used)!)
        expect(Set(end).count, equals: end.count)
    }
}
