import Fugu
import Support
import Testing

@Suite("Warming up", .timeLimit(.minutes(5))) struct WarmUpTests {}

extension WarmUpTests {
    struct Plain: Feature {
        static func load(in container: any FeatureContainer) -> Thing {
            container.stage.tally("Plain").add()
            return Thing("Plain")
        }
    }
    static let key = FeatureKey { container in
        container.stage.tally("key").add()
        return Thing("key")
    }
    struct Parsed: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing {
            container.stage.tally("Parsed").add()
            try container.stage.mayFail("Parsed")
            return Thing("Parsed")
        }
    }
    struct Database: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Database").add()
            container.stage.gate("Database begun").open()
            await container.stage.gate("Search begun").opened()
            try container.stage.mayFail("Database")
            return Thing("Database", parts: [try container[Parsed.self]])
        }
    }
    struct Search: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            container.stage.tally("Search").add()
            container.stage.gate("Search begun").open()
            await container.stage.gate("Database begun").opened()
            await container.stage.gate("Search").opened()
            return Thing("Search", parts: [try await container[Database.self]])
        }
    }
    struct Ranking: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            Thing("Ranking", parts: [try await container[Search.self]])
        }
    }

    @Test("Loads any mix of kinds, each once, in parallel as far as their inputs allow")
    func mix() async throws {
        let container = Container()
        let stage = container.stage
        stage.gate("Search").open()
        // Database and Search each wait until the other has begun.
        try await container.warmUp {
            $0.load(Ranking.self)
            $0.load(Search.self)
            $0.load(Database.self)
            $0.load(Parsed.self)
            $0.load(Plain.self)
            $0.load { _ in WarmUpTests.key }
            $0.load(Plain.self)
        }
        let ranking = try #require(container.ifLoaded(Ranking.self))
        expect(ranking.parts[0], is: container.ifLoaded(Search.self))
        expect(container.ifLoaded(Plain.self) != nil)
        expect(container.ifLoaded { _ in WarmUpTests.key } != nil)
        for name in ["Plain", "key", "Parsed", "Database", "Search"] { expect(stage.tally(name).value, equals: 1) }
    }

    @Test("One error names every failure with its way, in the order of the list; all else is loaded")
    func failures() async throws {
        let container = Container()
        let stage = container.stage
        stage.gate("Search").open()
        stage.gate("Database begun").open()
        stage.fail("Database")
        let error = try #require(
            await #expect(throws: WarmUpError.self) {
                try await container.warmUp {
                    $0.load(Plain.self)
                    $0.load(Ranking.self)
                    $0.load(Broken.self)
                    $0.load(Round.self)
                    $0.load(Parsed.self)
                }
            })
        expect(
            error.failures.map(\.path), equals: [["Ranking", "Search", "Database"], ["Broken"], ["Round", "Round"]])
        expect(error.failures[0].error as? Boom == Boom("Database"))
        expect(error.failures[1].error as? Boom == Boom("Broken"))
        expect(error.failures[2].error is LoadError)
        expect(error.description.contains("3 features couldn't be loaded"))
        expect(error.description.contains("Ranking → Search → Database: Database"))
        expect(container.ifLoaded(Plain.self) != nil)
        expect(container.ifLoaded(Parsed.self) != nil)
        try await container.warmUp { $0.load(Ranking.self) }
        expect(container.ifLoaded(Ranking.self) != nil)
    }

    struct Broken: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Thing { throw Boom("Broken") }
    }
    struct Round: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing { try await container[Round.self] }
    }

    @Test("Every failure has its whole way, also of those that wait for one and the same load")
    func sharedFailure() async throws {
        let container = Container()
        container.stage.gate("Search").open()
        container.stage.gate("Database begun").open()
        container.stage.fail("Database", times: 100)
        let error = try #require(
            await #expect(throws: WarmUpError.self) {
                try await container.warmUp {
                    $0.load(Ranking.self)
                    $0.load(Search.self)
                }
            })
        expect(error.failures.map(\.path), equals: [["Ranking", "Search", "Database"], ["Search", "Database"]])
    }

    struct Forgiving: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            do { return try container[Broken.self] } catch { throw Boom("its own") }
        }
    }
    struct Retrying: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Thing {
            _ = try? container[Broken.self]
            return try await container[Forgiving.self]
        }
    }

    @Test("The way ends with the load that threw the error: one that swallowed another's is not led past")
    func swallowed() async throws {
        let container = Container()
        let error = try #require(
            await #expect(throws: WarmUpError.self) {
                try await container.warmUp {
                    $0.load(Forgiving.self)
                    $0.load(Retrying.self)
                }
            })
        expect(error.failures.map(\.path), equals: [["Forgiving"], ["Retrying", "Forgiving"]])
        expect(error.failures.map { $0.error as? Boom }, equals: [Boom("its own"), Boom("its own")])
    }

    private typealias Progress = (feature: String, error: (any Error)?, finished: Int, total: Int)

    @Test("Progress says after each feature how many of how many have finished, and how long it took")
    func progress() async throws {
        let container = Container()
        let reported = Locked<[Progress]>([])
        let tally = Counter()
        let warmUp = Task {
            try await container.warmUp {
                let progress = (feature: $0, error: $1, finished: $2, total: $3)
                reported.withLock { $0.append(progress) }
                tally.add()
            } _: {
                $0.load(Plain.self)
                $0.load(Search.self)
                $0.load(Database.self)
            }
        }
        await tally.reaches(2)
        let first = reported.withLock { $0 }
        expect(Set(first.map(\.feature)), equals: ["Plain", "Database"])
        expect(first.map(\.finished), equals: [1, 2])
        container.stage.gate("Search").open()
        try await warmUp.value
        let all = reported.withLock { $0 }
        expect(all.map(\.total), equals: [3, 3, 3])
        expect(all.last?.feature, equals: "Search")
        expect(all.last?.finished, equals: 3)
    }

    @Test("A failure is progress, too, and differs from a success by its error")
    func failureIsProgress() async throws {
        let reported = Locked<[Progress]>([])
        await #expect(throws: WarmUpError.self) {
            try await Container().warmUp {
                let progress = (feature: $0, error: $1, finished: $2, total: $3)
                reported.withLock { $0.append(progress) }
            } _: {
                $0.load(Broken.self)
                $0.load(Plain.self)
                $0.load(Round.self)
            }
        }
        let all = reported.withLock { $0 }
        let errors = Dictionary(uniqueKeysWithValues: all.map { ($0.feature, $0.error) })
        expect(errors["Broken"] as? Boom == Boom("Broken"))
        expect(errors["Round"] is LoadError)
        expect(errors["Plain"].map { $0 == nil }, equals: true)
        expect(all.last?.finished, equals: 3)
        expect(all.count { $0.error != nil }, equals: 2)
    }

    @Test("Loads that are under way are joined, and what is there is left alone")
    func joins() async throws {
        let container = Container()
        let mine = Thing("mine")
        container[Plain.self] = mine
        container.stage.gate("Database begun").open()
        let reader = Task { try await container[Search.self] }
        await container.untilWaiting(for: Search.self, 1)
        let warmUp = Task {
            try await container.warmUp {
                $0.load(Search.self)
                $0.load(Plain.self)
            }
        }
        await container.untilWaiting(for: Search.self, 2)
        container.stage.gate("Search").open()
        try await warmUp.value
        try await expect(reader.value, is: container.ifLoaded(Search.self))
        expect(container[Plain.self], is: mine)
        expect(container.stage.tally("Search").value, equals: 1)
        expect(container.stage.tally("Plain").value, equals: 0)
    }

    struct Size: Property { static var defaultValue: Int { 1 } }

    @Test("What is loaded anew, since an input changed meanwhile, is there afterward (law 4)")
    func changedDuringLoad() async throws {
        let container = Container()
        let loads = Counter()
        container.replace(Database.self) { [unowned container] handle in
            _ = handle[Size.self]
            if loads.add() == 1 { container[Size.self] = 2 }
            return Thing("\(handle[Size.self])")
        }
        try await container.warmUp { $0.load(Database.self) }
        expect(container.loaded(Database.self).name == "2" && loads.value == 2)
    }

    @Test("Nothing to load is done at once; a closed container refuses what can throw")
    func edges() async throws {
        let container = Container()
        try await container.warmUp { _ in }
        try await container.close()
        let error = try #require(
            await #expect(throws: WarmUpError.self) { try await container.warmUp { $0.load(Broken.self) } })
        expect(error.failures.map(\.path), equals: [["Broken"]])
        expect(error.failures.first?.error is LoadError)
    }

    @Test("Observers hear of a load's changes by the end of the warm-up (law 9)")
    func changesAreHeard() async throws {
        let container = Container()
        let heard = Log<String>()
        container.observe(Tenant.self) { heard.add($0) }
        let changing = FeatureKey { _ in
            container[Tenant.self] = "changed"
            return Thing()
        }
        try await container.warmUp { $0.load { _ in changing } }
        expect(heard.all, equals: ["changed"])
    }
}
