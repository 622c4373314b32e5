import Fugu
import Support
import Testing

private struct Unit: Property { static var defaultValue: String { "°C" } }

private struct Sensor: Feature {
    var degrees = 20
    static func load(in container: any FeatureContainer) -> Sensor { Sensor() }
}

private struct Report: Feature {
    let text: String
    static func load(in container: any FeatureContainer) -> Report {
        Report(text: "\(container.sensor.degrees) \(container.unit)")
    }
}

private struct Parsed: ThrowingFeature {
    var number = 1
    static func load(in container: any FeatureContainer) throws -> Parsed { Parsed() }
}

private struct Database: AsyncFeature {
    var name = "live"
    static func load(in container: any FeatureContainer) async throws -> Database { Database() }
}

extension ContainerKeys {
    fileprivate var unit: Unit.Type { Unit.self }
    fileprivate var sensor: Sensor.Type { Sensor.self }
    fileprivate var summary: Report.Type { Report.self }
    fileprivate var parsed: Parsed.Type { Parsed.self }
    fileprivate var database: Database.Type { Database.self }
}

private struct Reader {
    @Injected(\.unit) var unit
    @Injected(\.sensor) var sensor
    @Injected(\.sensor.degrees) var degrees
}

@Suite("A member of ContainerKeys that names a type") struct NamedTypesTests {
    static let cases: [Case<NamedTypesTests>] = [
        Case("reads and sets what the type does, in a load, too (law 1)", readsAndSets),
        Case("reads features that throw and suspend, and sets them (law 1)", throwingAndAsync),
        Case("is replaced, reset, modified, and looked up by its key path (laws 7 and 20)", changes),
        Case("is warmed up by its key path", warmUp),
        Case("is injected by its key path, and so is a member of it (law 15)", injected),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<NamedTypesTests>) async throws { try await stated.run(self) }

    func readsAndSets() {
        let container = Container()
        expect(container.unit, equals: "°C")
        expect(container[\.unit], equals: "°C")
        expect(container.sensor.degrees, equals: 20)
        container.unit = "K"
        container.sensor.degrees = 5
        expect(container[Unit.self], equals: "K")
        expect(container[Sensor.self].degrees, equals: 5)
        expect(container.summary.text, equals: "5 K")
        container[\.unit] = "°F"
        container[\.sensor].degrees = 9
        let handle: any FeatureContainer = container.child()
        expect(handle.unit, equals: "°F")
        expect(handle[\.sensor].degrees, equals: 9)
        let properties: any PropertyContainer = container
        properties[\.unit] = "K"
        properties.reset(\.unit)
        expect(container.unit, equals: "°C")
    }

    func throwingAndAsync() async throws {
        let container = Container()
        try expect(container.parsed.number, equals: 1)
        try expect(container[\.parsed].number, equals: 1)
        try await expect(container.database.name, equals: "live")
        try await expect(container[\.database].name, equals: "live")
        container.set(\.parsed, to: Parsed(number: 2))
        container.set(\.database, to: Database(name: "set"))
        expect(container.loaded(\.parsed).number, equals: 2)
        expect(container.loaded(\.database).name, equals: "set")
        container.replace(\.parsed) { _ in Parsed(number: 3) }
        container.replace(\.database) { _ in Database(name: "replaced") }
        try expect(container.parsed.number, equals: 3)
        try await expect(container[Database.self].name, equals: "replaced")
        container.reset(\.parsed)
        container.reset(\.database)
        expect(container.ifLoaded(\.parsed) == nil)
        expect(container.ifLoaded(\.database) == nil)
    }

    func changes() {
        let container = Container()
        container.replace(\.sensor) { _ in Sensor(degrees: 7) }
        expect(container.ifLoaded(\.sensor) == nil)
        expect(container.sensor.degrees, equals: 7)
        container.modify(\.sensor) { $0.degrees += 1 }
        container.modify(\.unit) { $0 += "!" }
        expect(container.ifLoaded(\.sensor)?.degrees, equals: 8)
        expect(container.ifLoaded(\.unit), equals: "°C!")
        container.reset(\.sensor)
        container.reset(\.unit)
        expect(container.sensor.degrees, equals: 20)
        expect(container.unit, equals: "°C")
        container.update {
            $0.unit = "K"
            $0[\.sensor] = Sensor(degrees: 1)
        }
        expect(container.unit, equals: "K")
        expect(container.sensor.degrees, equals: 1)
    }

    @Test("is observed, followed, and tracked by its key path (laws 10, 12, and 13)")
    @MainActor func observation() async {
        let container = Container()
        let heard = Log<String>()
        container.observe(\.unit) { heard.add($0) }
        container.observe(\.sensor, while: heard) { heard.add("\($0.degrees)") }
        container.unit = "K"
        container.sensor.degrees = 5
        expect(heard.all, equals: ["K", "20", "5"])
        container.observeOnMainActor(\.unit) { heard.add("main \($0)") }
        container.unit = "°F"
        await expect(heard.first(5), equals: ["K", "20", "5", "°F", "main °F"])
        for await unit in container.values(of: \.unit) {
            expect(unit, equals: "°F")
            break
        }
        expect(container.observable.unit, equals: "°F")
    }

    func warmUp() async throws {
        let container = Container()
        try await container.warmUp {
            $0.load(\.sensor)
            $0.load(\.parsed)
            $0.load(\.database)
        }
        expect(container.ifLoaded(Sensor.self) != nil)
        expect(container.ifLoaded(\.parsed) != nil)
        expect(container.loaded(\.database).name, equals: "live")
    }

    func injected() {
        let reader = Reader()
        Container.with {
            $0.unit = "K"
            $0.sensor.degrees = 3
        } operation: {
            expect(reader.unit, equals: "K")
            expect(reader.sensor.degrees, equals: 3)
            expect(reader.degrees, equals: 3)
        }
    }
}
