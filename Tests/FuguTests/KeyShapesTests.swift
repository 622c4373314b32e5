import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

private struct Sensor: Feature {
    var degrees = 20
    static func load(in container: any FeatureContainer) -> Sensor { Sensor() }
}

private protocol Voice: Sendable { var text: String { get } }

private struct Speaker: Voice { var text = "live" }

private enum Voices: Feature, External {
    static func load(in container: any FeatureContainer) -> any Voice { Speaker() }
    static var placeholder: any Voice { Speaker(text: "placeholder") }
}

private enum Names: Feature {
    static func load(in container: any FeatureContainer) -> [String] { ["first"] }
}

extension ContainerKeys {
    fileprivate var unit: PropertyKey<String> { .init(defaultValue: "°C") }
    fileprivate var sensor: FeatureKey<Sensor> { .init(Sensor.self) }
    fileprivate var voice: FeatureKey<any Voice> { .init(Voices.self) }
    fileprivate var second: FeatureKey<Sensor> { .init { _ in Sensor(degrees: 2) } }
    fileprivate var names: FeatureKey<[String]> { .init(Names.self) }
}

private func limit(of user: String) -> PropertyKey<Int> { PropertyKey(defaultValue: 1, id: user) }

private func room(_ number: Int) -> FeatureKey<String> {
    FeatureKey(reloadsWhenInputsChange: true, id: number) { "room \(number), \($0[limit(of: "ada")])" }
}

private struct Reader {
    @Injected(\.sensor) var sensor
    @Injected(\.sensor.degrees) var degrees
}

@Suite("Keys in three shapes: a member, a type, and a value") struct KeyShapesTests {}

extension KeyShapesTests {
    @Test("The key of a type is the type: what is set with one is read with the other (law 1)")
    func sameKey() {
        let container = Container()
        expect(container.sensor.degrees, equals: 20)
        container.sensor.degrees = 5
        expect(container[Sensor.self].degrees, equals: 5)
        container[Sensor.self].degrees = 9
        expect(container.sensor.degrees, equals: 9)
        expect(container[FeatureKey(Sensor.self)].degrees, equals: 9)
        expect(container.second.degrees, equals: 2)
        expect(FeatureKey(Sensor.self), equals: ContainerKeys().sensor)
        expect(FeatureKey(Sensor.self) != ContainerKeys().second)
        let handle: any FeatureContainer = container.child { $0.sensor = Sensor(degrees: 1) }
        expect(handle[Sensor.self].degrees, equals: 1)
        expect(Container.with(container) { Reader().degrees + Reader().sensor.degrees }, equals: 18)
    }

    @Test("The key of a type whose instance is of another type, and that is external (laws 1 and 29)")
    func otherType() {
        let container = Container.program()
        expect(container.voice.text, equals: "live")
        container.voice = Speaker(text: "set")
        expect(container[Voices.self].text, equals: "set")
        container.reset(\.voice)
        expect(container.ifLoaded(Voices.self) == nil)
        expect(container[FeatureKey(Voices.self)].text, equals: "live")
        expect(container.graph.entries.first { $0.name == "Voices" }?.isExternal, equals: true)
    }

    @Test("The key of a type is replaced, decorated, contributed to, and modified like the type (laws 7 and 20)")
    func changes() {
        let container = Container()
        container.replace(\.sensor) { _ in Sensor(degrees: 7) }
        expect(container[Sensor.self].degrees, equals: 7)
        container.decorate({ _ in FeatureKey(Sensor.self) }) { sensor, _ in Sensor(degrees: sensor.degrees + 1) }
        expect(container[Sensor.self].degrees, equals: 8)
        container.modify(\.sensor) { $0.degrees += 1 }
        expect(container[Sensor.self].degrees, equals: 9)
        container.reset { _ in FeatureKey(Sensor.self) }
        expect(container[Sensor.self].degrees, equals: 20)
        container.contribute(to: \.names) { _ in "second" }
        expect(container[Names.self], equals: ["first", "second"])
        container.update { $0.sensor = Sensor(degrees: 1) }
        expect(container[Sensor.self].degrees, equals: 1)
    }

    @Test("The key of a type is warmed up, explained, and checked by the type's name")
    func inspection() async throws {
        let container = Container()
        try await container.warmUp { $0.load(\.sensor) }
        expect(container.ifLoaded(Sensor.self) != nil)
        expect(container.explain(\.sensor), equals: container.explain(Sensor.self))
        expect(container.explain(\.sensor).name, equals: "Sensor")
        let check = await Container().check(overriding: \.sensor) { $0.load(Names.self) }
        expect(check.overridden, equals: ["Sensor"])
    }

    @Test("A key that is a value is observed, followed, reset, modified, and looked up (laws 10, 12, and 20)")
    func values() async {
        let container = Container()
        let heard = Log<Int>()
        container.observe({ _ in limit(of: "ada") }) { heard.add($0) }
        container[limit(of: "ada")] = 2
        container[limit(of: "eve")] = 9
        container.modify({ _ in limit(of: "ada") }) { $0 += 1 }
        expect(container.ifLoaded { _ in limit(of: "ada") }, equals: 3)
        for await value in container.values(of: { _ in limit(of: "ada") }) {
            expect(value, equals: 3)
            break
        }
        expect("\(container.explain { _ in limit(of: "ada") })".contains("is 3"))
        container.reset { _ in limit(of: "ada") }
        expect(container[limit(of: "ada")], equals: 1)
        expect(heard.all, equals: [2, 3, 1])
        expect(container[limit(of: "eve")], equals: 9)
    }

    @Test("A feature's key that is a value is replaced, decorated, and contributed to (laws 7 and 10)")
    func featureValues() async throws {
        let container = Container()
        let heard = Log<String>()
        container.observe({ _ in room(1) }) { heard.add($0) }
        try await container.warmUp { $0.load { _ in room(1) } }
        container[limit(of: "ada")] = 2
        container.decorate({ _ in room(1) }) { room, _ in room + "!" }
        container.replace({ _ in room(2) }) { _ in "replaced" }
        expect(container[room(1)], equals: "room 1, 2!")
        expect(container[room(2)], equals: "replaced")
        expect(container[room(3)], equals: "room 3, 2")
        expect(heard.all, equals: ["room 1, 1", "room 1, 2", "room 1, 2!"])
        let list = FeatureKey(id: UniqueID()) { _ in ["first"] }
        container.contribute(to: { _ in list }) { _ in "second" }
        expect(container[list], equals: ["first", "second"])
    }

    @Test("A key that is a value names a home and keyed children (law 15)")
    func homes() async {
        let container = Container()
        let tenant = PropertyKey(defaultValue: "nobody", id: UniqueID())
        let pool = FeatureKey(home: .with({ _ in tenant }), id: UniqueID()) { Witness($0[tenant]) }
        let tenants = container.children(by: { _ in tenant }, capacity: 2)
        for name in ["acme", "zoo"] {
            let names = await tenants.withChild(for: name) { [$0[pool].name, $0.child()[pool].name] }
            expect(names, equals: [name, name])
        }
        expect(container[pool].name, equals: "nobody")
    }

    private final class Witness: Sendable {
        let name: String
        init(_ name: String) { self.name = name }
    }
}
