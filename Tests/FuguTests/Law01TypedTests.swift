import Fugu
import Support
import Testing

extension ContainerKeys {
    var law1Retries: PropertyKey<Int> { .init(defaultValue: 3) }
    var law1Nickname: PropertyKey<String?> { .init() }
    var law1Named: PropertyKey<Int> { .init("law1.named", defaultValue: 1) }
}

extension ContainerKeys {
    var law1Doubled: FeatureKey<Int> { .init { container in container.law1Retries * 2 } }
}

@Suite("Law 1: typed") struct Law01TypedTests {
    static let cases: [Case<Law01TypedTests>] = [
        Case("Classes, closures, types and existentials keep their own type (law 1)", references),
        Case("A nil that was set is not the same as not set (law 1)", optionals),
        Case("A key declared in an extension is read and set as a member of its type (law 1)", members),
        Case("Every type is a separate key (law 1)", typesAsKeys),
        Case("Many keys of one container keep their own values (law 1)", manyKeys),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law01TypedTests>) async throws { try await stated.run(self) }

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
        container.reset(property)
        container.reset(feature)
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

    func members() {
        let container = Container()
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

    func typesAsKeys() {
        let container = Container()
        container[Generic<Int>.self] = "set"
        expect(container[Generic<Int>.self], equals: "set")
        expect(container[Generic<String>.self], equals: "String")
    }

    @Test("Value keys are the same if they are copies, or have the same name and type (law 1)")
    func identityOfKeys() {
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
        expect(first.name == nil)
        container.law1Named = 9
        let sameName = PropertyKey("law1.named", defaultValue: 5)
        let otherType = PropertyKey("law1.named", defaultValue: "text")
        expect(sameName, equals: ContainerKeys().law1Named)
        expect(sameName.name, equals: "law1.named")
        expect(container[sameName], equals: 9)
        expect(container[otherType], equals: "text")
        let feature = FeatureKey { _ in 1 }
        let otherFeature = FeatureKey { _ in 1 }
        expect(feature != otherFeature)
        expect(Set([feature, feature, otherFeature]).count, equals: 2)
    }

    func manyKeys() {
        let container = Container()
        let keys = (0..<500).map { number in PropertyKey(defaultValue: number, id: number) }
        let texts = (0..<500).map { number in PropertyKey(defaultValue: "\(number)", id: number) }
        for (number, key) in keys.enumerated() where number % 2 == 0 { container[key] = -number }
        expect(keys.enumerated().allSatisfy { container[$1] == ($0 % 2 == 0 ? -$0 : $0) })
        expect(texts.enumerated().allSatisfy { container[$1] == "\($0)" })
        container.resetAll()
        expect(keys.enumerated().allSatisfy { container[$1] == $0 })
    }
}
