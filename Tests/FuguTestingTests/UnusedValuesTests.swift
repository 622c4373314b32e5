import Fugu
import FuguConfiguration
import FuguFoundation
import FuguTesting
import StrictnessCases
import Support
import Testing

struct UnusedValuesTests {
    private func unused(_ name: String) -> String {
        "Fugu: \(name) was set for this test but never read.\nFix: remove it, or find out why the test doesn't reach it."
    }

    @Sendable private static func setEverything(_ container: Container) {
        container[Number.self] = 5
        container.port = 1
        container[Mailer.self] = Mailer(name: "double")
        container.printer = "double"
        container.replace(Account.self) { Account(signup: $0[Signup.self]) }
        container.set(Network.Socket.self, to: Network.Socket(name: "double"))
        container.set(Database.self, to: Database(name: "double"))
    }

    private static let reporting = ContainerTrait.container(reportsUnusedValues: true) { setEverything($0) }

    @Test("On request, a value that a trait set and nothing read is reported by name (law 29)")
    func nothingRead() async throws {
        let found = await issues {
            try await runCase(Self.reporting) {}
        }
        let names = ["Account", "Database", "Mailer", "Number", "Socket", #"\.port"#, #"\.printer"#]
        expect(found.map(\.text), equals: names.map(unused))
        try await runCase(.container { Self.setEverything($0) }) {}
    }

    @Test("A value that was read isn't reported, however it was read (law 29)")
    func allRead() async throws {
        try await runCase(Self.reporting) {
            let container = Container.current
            expect(container.child().child()[Number.self], equals: 5)
            container.modify(\.port) { $0 += 1 }
            expect(container.port, equals: 2)
            expect(container[Account.self].signup.mailer.name, equals: "double")
            await expect(Task.detached { container.printer }.value, equals: "double")
            let socket = try container[Network.Socket.self]
            let database = try await container[Database.self]
            expect(socket.name, equals: "double")
            expect(database.name, equals: "double")
        }
    }

    @Test(
        "A watched value is set like any other: it wins over what is loaded, reaches children and copies, and can be reset (laws 14, 18, 20, 23)"
    )
    func stillSets() async throws {
        try await runCase(Self.reporting) {
            let container = Container.current
            expect(Container(copying: container)[Mailer.self].name, equals: "double")
            expect(container.child { $0[Number.self] = 6 }[Doubled.self].value, equals: 12)
            expect(container[Doubled.self].value, equals: 10)
            container.reset(Number.self)
            expect(container[Number.self], equals: 0)
            try container.apply(DictionarySource(["strictness.port": 99], name: "server"))
            expect(container.port, equals: 1)
            container.reset(\.port)
            expect(container.port, equals: 99)
            _ = (container.printer, container[Account.self])
            _ = (try container[Network.Socket.self], try await container[Database.self])
        }
    }

    @Test("A watched value is there before its first read, for what loads nothing, too (laws 24, 25, 27, and 29)")
    func isThere() async throws {
        let checks: [@Sendable (Container) throws -> Void] = [
            { expect(try $0.property("strictness.port", as: Int.self), equals: 1) },
            { expect(try $0.require(\.port), equals: 1) },
            { expect($0.ifLoaded(\.port), equals: 1) },
            { expect($0.child().ifLoaded(\.port), equals: 1) },
            { container in
                container.declareCheck(of: \.port, "must be 1") { $0.port == 1 }
                try container.validate()
            },
            { container in
                let seen = Log<Int>()
                _ = container.observe(\.port) { seen.add($0) }
                container.port = 2
                expect(seen.all, equals: [2])
            },
            { container in
                // Neither counts as a read.
                try container.validate(\.port)
                expect(container.explain(\.port).description, equals: "strictness.port = 1 (set by code)")
                expect(container.port, equals: 1)
                expect(container.explain(\.port).description, equals: "strictness.port = 1 (set by code)")
            },
        ]
        for check in checks {
            try await runCase(.container(reportsUnusedValues: true) { $0.port = 1 }) { try check(.current) }
        }
        let features = ContainerTrait.container(reportsUnusedValues: true) {
            $0.printer = "double"
            $0.set(Database.self, to: Database(name: "double"))
        }
        try await runCase(features) {
            expect(Container.current.ifLoaded(\.printer), equals: "double")
            expect(Container.current.loaded(Database.self).name, equals: "double")
        }
    }

    @Test("What a trait decorated or added to a list is read in a copy, too (laws 18 and 29)")
    func layersInCopy() async throws {
        let word = FeatureKey<String>(id: UniqueID()) { _ in "w" }
        let list = FeatureKey<[String]>(id: UniqueID()) { _ in [] }
        let trait = ContainerTrait.container(reportsUnusedValues: true) {
            $0.decorate({ _ in word }) { word, _ in "X(\(word))" }
            $0.contribute(to: { _ in list }) { _ in "added" }
        }
        try await runCase(trait) {
            let copy = Container(copying: .current, .current)
            copy.contribute(to: { _ in list }) { _ in "in the copy" }
            copy.decorate({ _ in list }) { list, _ in list + ["last"] }
            expect(copy[word], equals: "X(w)")
            expect(copy[list], equals: ["added", "in the copy", "last"])
        }
    }

    @Test("A value that an inner trait sets again isn't reported for the outer one (law 29)")
    func overridden() async throws {
        let outer = ContainerTrait.container(reportsUnusedValues: true) {
            $0[Number.self] = 1
            $0[Mailer.self] = Mailer(name: "outer")
        }
        let found = await issues {
            try await runCase(outer, .container { $0[Number.self] = 2 }) { _ = Container.current[Number.self] }
        }
        expect(found.map(\.text), equals: [unused("Mailer")])
        let inner = ContainerTrait.container(reportsUnusedValues: true) { $0[Number.self] = 2 }
        let both = await issues {
            try await runCase(outer, inner) { _ = Container.current[Mailer.self] }
        }
        expect(both.map(\.text), equals: [unused("Number")])
    }

    @Test("The standard doubles aren't reported, except for those that were set again (law 29)")
    func standardDoubles() async throws {
        let trait = ContainerTrait.container(reportsUnusedValues: true) {
            $0[Number.self] = 1
            $0.timestamp = .constant(1)
            $0.useStandardDoubles()
            $0.clock = .immediate
            $0.uuid = .incrementing
        }
        let found = await issues { try await runCase(trait) {} }
        expect(found.map(\.text), equals: ["Number", #"\.clock"#, #"\.uuid"#].map(unused))
    }

    @Test("A test that throws gets no report of unused values as well")
    func throwing() async {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await runCase(Self.reporting) { throw Stop() }
        }
    }
}
