import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    var law1Retries: PropertyKey<Int> { .init(defaultValue: 3) }
    var law1Nickname: PropertyKey<String?> { .init() }
    var law1Doubled: FeatureKey<Int> { .init { container in container.law1Retries * 2 } }
}

/// Law 1: typed.
struct KeyTypeTests {}

extension KeyTypeTests {
    struct Limit: Property { static var defaultValue: Int? { 5 } }
    struct Nested: Property { static var defaultValue: Int?? { .some(nil) } }

    /// Sets and reads through a property, a feature, a child and a reset.
    private func check<Value: Equatable & Sendable>(_ first: Value, _ second: Value) {
        let container = Container()
        let child = container.child()
        let property = PropertyKey(defaultValue: first, id: UniqueID())
        let feature = FeatureKey(id: UniqueID()) { _ in first }
        expect(container[property], equals: first)
        expect(child[property], equals: first)
        expect(container[feature], equals: first)
        expect(child[feature], equals: first)
        for value in [second, first, second] {
            container[property] = value
            container[feature] = value
            expect(container[property], equals: value)
            expect(child[property], equals: value)
            expect(container[feature], equals: value)
            expect(child[feature], equals: value)
        }
        container.reset { _ in property }
        container.reset { _ in feature }
        expect(container[property], equals: first)
        expect(child[feature], equals: first)
    }

    private struct Three: Equatable { var (a, b, c): (UInt8, UInt8, UInt8) }
    private struct Seven: Equatable {
        var (a, b): (Int32, UInt16)
        var c: UInt8
    }
    private struct Nine: Equatable {
        var a: Int
        var b: UInt8
    }
    private struct Large: Equatable { var (a, b, c, d): (Int, Double, String, Int) }
    private struct Empty: Equatable {}
    private enum Choice: Equatable { case one, two(Int), three(String) }

    @Test("Values of every size and kind come out as they went in (law 1)")
    func kindsOfValues() {
        check(true, false)
        check(Int8.min, Int8.max)
        check(UInt16.max, 7)
        check(Int32.min, Int32.max)
        check(Int.min, Int.max)
        check(UInt64.max, 0)
        check(Float(1.5), -.infinity)
        check(Double.pi, -0.25)
        check(Character("🐡"), "é")
        check(Unicode.Scalar(0x1F421)!, "a")
        check("", String(repeating: "long enough to live on the heap ", count: 4))
        check([1, 2, 3], [])
        check(["a": [1]], ["b": []])
        check(1...3, 2...5)
        check(Three(a: 1, b: 2, c: 3), Three(a: 255, b: 254, c: 253))
        check(Seven(a: .min, b: 2, c: 3), Seven(a: 1, b: .max, c: .max))
        check(Nine(a: .max, b: 1), Nine(a: .min, b: 255))
        check(Large(a: 1, b: 2, c: "three", d: 4), Large(a: -1, b: -2, c: "minus three", d: -4))
        check(Empty(), Empty())
        check(Choice.one, .two(2))
        check(Choice.three("x"), .one)
        check(Int?.none, 5)
        check(Int32?.some(1), nil)
        check(String??.some(nil), "x")
        check(String??.none, .some(nil))
    }

    @Test("Classes, closures, types and existentials keep their own type (law 1)")
    func references() throws {
        let container = Container()
        let witness = Witness()
        let object = PropertyKey(defaultValue: Witness())
        container[object] = witness
        expect(container[object], is: witness)
        let closure = PropertyKey<@Sendable (Int) -> Int>(defaultValue: { $0 + 1 })
        expect(container[closure](1), equals: 2)
        container[closure] = { $0 * 10 }
        expect(container[closure](4), equals: 40)
        let type = PropertyKey<any Sendable.Type>(defaultValue: Int.self)
        container[type] = String.self
        expect(container[type] == String.self)
        let existential = PropertyKey<(any Error)?>()
        expect(container[existential] == nil)
        container[existential] = CancellationError()
        expect(container[existential] is CancellationError)
        let nothing = PropertyKey<Void>(defaultValue: ())
        container[nothing] = ()
        expect(container[nothing] == ())
    }

    @Test("A nil that was set is not the same as not set (law 1)")
    func optionals() {
        let container = Container()
        expect(container[Limit.self], equals: 5)
        container[Limit.self] = nil
        expect(container[Limit.self] == nil)
        expect(container.ifLoaded(Limit.self), equals: .some(nil))
        container[Limit.self] = 7
        expect(container[Limit.self], equals: 7)
        container.reset(Limit.self)
        expect(container[Limit.self], equals: 5)
        expect(container[Nested.self], equals: .some(nil))
        container[Nested.self] = .none
        expect(container[Nested.self], equals: .none)
        container[Nested.self] = .some(.some(1))
        expect(container[Nested.self], equals: 1)
    }

    @Test("A key declared in an extension is read and set as a member of its type (law 1)")
    func members() {
        let container = Container().unreported
        expect(container.law1Retries, equals: 3)
        expect(container.law1Nickname == nil)
        expect(container.law1Doubled, equals: 6)
        container.law1Retries += 1
        container.law1Nickname = "Fugu"
        container.law1Doubled = 100
        expect(container.law1Retries, equals: 4)
        expect(container.law1Nickname, equals: "Fugu")
        expect(container.law1Doubled, equals: 100)
        container.reset(\.law1Doubled)
        expect(container.law1Doubled, equals: 8)
    }

    struct Generic<T>: Property { static var defaultValue: String { "\(T.self)" } }

    @Test("Every type is a key of its own, and value keys are the same if they are copies (law 1)")
    func typesAsKeys() {
        // Every type is a separate key.
        do {
            let container = Container()
            container[Generic<Int>.self] = "set"
            expect(container[Generic<Int>.self], equals: "set")
            expect(container[Generic<String>.self], equals: "String")
        }
        // Value keys are the same if they are copies.
        do {
            let container = Container()
            let first = PropertyKey(defaultValue: 1)
            let second = PropertyKey(defaultValue: 1)
            let copy = first
            container[first] = 2
            expect(container[copy], equals: 2)
            expect(container[second], equals: 1)
            expect(first, equals: copy)
            expect(first != second)
            expect(Set([first, copy, second]).count, equals: 2)
            let feature = FeatureKey { _ in 1 }
            let otherFeature = FeatureKey { _ in 1 }
            expect(feature != otherFeature)
            expect(Set([feature, feature, otherFeature]).count, equals: 2)
        }
    }
}

extension ContainerKeys {
    fileprivate var plain: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var helped: PropertyKey<Int> { limit(2) }
    fileprivate var otherHelped: PropertyKey<Int> { limit(3) }
    fileprivate var secret: PropertyKey<String> { .init(defaultValue: "hush", isSecret: true) }
    fileprivate var doubled: FeatureKey<Int> { .init { $0.plain * 2 } }
    fileprivate func slot(_ number: Int) -> PropertyKey<Int> { .init(defaultValue: number, id: number) }
    fileprivate func feature(_ name: String) -> FeatureKey<String> { .init(id: name) { _ in name } }
}

/// Passes the place on.
private func limit(
    _ value: Int, member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
) -> PropertyKey<Int> {
    PropertyKey(defaultValue: value, member: member, fileID: fileID, line: line, column: column)
}

// Functions that don't.
private func careless(_ value: Int) -> PropertyKey<Int> { .init(defaultValue: 1) }
private func careless(optional value: Int) -> PropertyKey<Int?> { .init() }
private func tenant(_ id: String) -> FeatureKey<String> { .init { _ in id } }
extension ContainerKeys {
    fileprivate subscript(number: Int) -> FeatureKey<Int> { .init { _ in number } }
}

private class Base: Property {
    class var defaultValue: String { "base" }
}
private final class Sub: Base {
    override class var defaultValue: String { "sub" }
}
private class BaseFeature: Feature, @unchecked Sendable {
    class func load(in container: any FeatureContainer) -> BaseFeature { BaseFeature() }
}
private final class SubFeature: BaseFeature, @unchecked Sendable {}

/// Law 1: what makes keys the same.
struct KeyIdentityTests {
    let container = Container()
}

extension KeyIdentityTests {
    @Test(
        "A computed member is the same key at each use, a helper's is one for each caller, and one made in a function has its place (law 1)"
    )
    func members() async {
        // A computed member is the same key at each use, on every thread.
        do {
            expect(ContainerKeys().plain, equals: ContainerKeys().plain)
            expect(ContainerKeys().plain != ContainerKeys().helped)
            let keys = Log<PropertyKey<Int>>()
            await onThreads(4) { _ in
                for number in 0..<200 { keys.add(ContainerKeys().slot(number % 50 + 1_000)) }
            }
            expect(Set(keys.all).count, equals: 50)
        }
        // A helper that passes the place on makes a key for each caller.
        do {
            let container = Container()
            expect(container.helped, equals: 2)
            expect(container.otherHelped, equals: 3)
            container.helped = 5
            expect(container.helped, equals: 5)
            expect(container.otherHelped, equals: 3)
        }
        // A function without parameters may make a key, and so may a closure in it.
        do {
            let container = Container()
            let key = PropertyKey(defaultValue: 4)
            let keys = (0..<2).map { number in FeatureKey(id: number) { _ in number } }
            expect(container[key] == 4 && keys.map { container[$0] } == [0, 1])
        }
    }

    @Test("Keys of a loop are distinguished by their ids, of any type (law 1)")
    func ids() {
        let keys = (0..<300).map { ContainerKeys().slot($0) }
        expect(Set(keys).count, equals: 300)
        for (number, key) in keys.enumerated() where number % 2 == 0 { container[key] = -number }
        for number in 0..<300 {
            expect(container[ContainerKeys().slot(number)], equals: (number % 2 == 0 ? -number : number))
        }
        expect(container[ContainerKeys().feature("a")], equals: "a")
        expect(container[ContainerKeys().feature("b")], equals: "b")
        func mixed(_ id: some Hashable & Sendable) -> PropertyKey<Int> { PropertyKey(defaultValue: 0, id: id) }
        expect(Set([mixed(1), mixed(UInt8(1)), mixed("1"), mixed(1), mixed([1])]).count, equals: 4)
    }

    @Test("A class metatype is filed under the type that the source names (law 1)")
    func classMetatypes() {
        let type: Base.Type = Sub.self
        expect(container[type], equals: "base")
        container[type] = "set"
        expect(container[Base.self], equals: "set")
        expect(container[Sub.self as Base.Type], equals: "set")
        container.reset(type)
        expect(container[Base.self], equals: "base")
        let feature: BaseFeature.Type = SubFeature.self
        let made = container[feature]
        expect(container[BaseFeature.self], is: made)
        expect(container.ifLoaded(feature), is: made)
        container.reset(feature)
        expect(container.ifLoaded(BaseFeature.self) == nil)
        container.replace(feature) { _ in made }
        expect(container[BaseFeature.self], is: made)
    }

    @Test("Messages, graphs and descriptions call a key by its member (law 1)")
    func memberNames() {
        container.plain = 2
        container.secret = "s"
        container[ContainerKeys().slot(7)] = 8
        _ = container.doubled
        let names = container.graph.entries.map(\.name)
        expect(names.dropFirst(), equals: [#"\.doubled"#, #"\.plain"#, #"\.secret"#])
        expect(names.first?.hasPrefix("PropertyKey<Int> (FuguTests/KeyTests.swift:"), equals: true)
        expect(names.first?.hasSuffix("[7]"), equals: true)
        expect(container.graph.description.contains(#"\.doubled ← \.plain"#))
        expect(container.graph.dot.contains(#"label="\\.plain (set)""#))
    }

    @Test(
        "A function with parameters that makes keys without an id stops the program, whatever they're made from (law 1)"
    )
    func madeInFunction() async {
        let property = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = careless(1)
        }
        expectMessage(
            of: property, "Fugu: careless(_:) makes a key without an id at FuguTests/KeyTests.swift:",
            "PropertyKey<Int>(…, id: …)")
        let optional = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = careless(optional: 1)
        }
        expectMessage(of: optional, "Fugu: careless(optional:) makes a key without an id")
        let feature = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = tenant("a")
        }
        expectMessage(of: feature, "Fugu: tenant(_:) makes a key without an id", "FeatureKey<String>(…, id: …)")
        let byNumber = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ThisProcess.mustStopSoon()
            _ = ContainerKeys()[1]
        }
        expectMessage(of: byNumber, "Fugu: subscript(_:) makes a key without an id")
    }
}

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

/// Keys in three shapes: a member, a type, and a value.
struct KeyShapesTests {}

extension KeyShapesTests {
    @Test("The key of a type is the type, also where its instance is of another type or external (laws 1 and 19)")
    func sameKey() {
        // The key of a type is the type: what is set with one is read with the other.
        do {
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
        // The key of a type whose instance is of another type, and that is external.
        do {
            let container = Container.program()
            expect(container.voice.text, equals: "live")
            container.voice = Speaker(text: "set")
            expect(container[Voices.self].text, equals: "set")
            container.reset(\.voice)
            expect(container.ifLoaded(Voices.self) == nil)
            expect(container[FeatureKey(Voices.self)].text, equals: "live")
            expect(container.graph.entries.first { $0.name == "Voices" }?.isExternal, equals: true)
        }
    }

    @Test("The key of a type is replaced, decorated, contributed to, and modified like the type (laws 6 and 13)")
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

    @Test("A key is warmed up, explained, and checked by the type's name, and names a home and keyed children (law 11)")
    func inspection() async throws {
        // The key of a type is warmed up, explained, and checked by the type's name.
        do {
            let container = Container()
            try await container.warmUp { $0.load(\.sensor) }
            expect(container.ifLoaded(Sensor.self) != nil)
            expect(container.explain(\.sensor), equals: container.explain(Sensor.self))
            expect(container.explain(\.sensor).name, equals: "Sensor")
            let check = await Container().check(overriding: \.sensor) { $0.load(Names.self) }
            expect(check.overridden, equals: ["Sensor"])
        }
        // A key that is a value names a home and keyed children.
        do {
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
    }

    @Test(
        "A key that is a value is used like a type: observed, set, looked up, replaced, and decorated (laws 6, 9, and 13)"
    )
    func values() async throws {
        // A key that is a value is observed, followed, reset, modified, and looked up.
        do {
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
        // A feature's key that is a value is replaced, decorated, and contributed to.
        do {
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
    }

    private final class Witness: Sendable {
        let name: String
        init(_ name: String) { self.name = name }
    }
}
