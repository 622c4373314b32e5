import Fugu
import Support
import Testing

@Suite("Law 18: copies") struct Law18CopiesTests {
    struct Name: Property { static var defaultValue: String { "default" } }
    struct Size: Property { static var defaultValue: Int { 1 } }
    struct Born: Property { static var defaultValue: Token { Token() } }
    final class Service: Feature, Sendable {
        let name: String
        init(_ name: String) { self.name = name }
        static func load(in container: any FeatureContainer) -> Service { Service(container[Name.self]) }
    }

    @Test("A copy takes what was set in a container and its ancestors, nearest first (law 18)")
    func ancestors() {
        let root = Container()
        root[Name.self] = "root"
        root[Size.self] = 2
        let child = root.child { $0[Name.self] = "child" }
        let copy = Container(copying: child)
        #expect(copy[Name.self] == "child" && copy[Size.self] == 2)
    }

    @Test("Of several containers the last one wins (law 18)")
    func lastWins() {
        let first = Container()
        first[Name.self] = "first"
        first[Size.self] = 3
        let secondRoot = Container()
        secondRoot[Name.self] = "second"
        #expect(Container(copying: first, secondRoot.child())[Name.self] == "second")
        #expect(Container(copying: first, secondRoot.child())[Size.self] == 3)
        #expect(Container(copying: secondRoot, first)[Name.self] == "first")
    }

    @Test("A copy takes nothing that was loaded: its features see its own values (law 18)")
    func nothingLoaded() {
        let original = Container()
        original[Name.self] = "original"
        let loaded = original[Service.self]
        let born = original[Born.self]
        let copy = Container(copying: original)
        copy[Name.self] = "copy"
        #expect(copy[Service.self].name == "copy" && copy[Service.self] !== loaded)
        #expect(copy[Born.self] !== born)
        #expect(original[Service.self] === loaded)
    }

    @Test("A copy takes set and replaced features, and a replaced loader runs anew in it (law 18)")
    func sets() {
        let original = Container()
        let set = Service("set")
        let key = FeatureKey { _ in Token(1) }
        original[Service.self] = set
        original.replace(\.[key]) { container in Token(container[Size.self]) }
        let before = original[key]
        let copy = Container(copying: original)
        copy[Size.self] = 9
        #expect(copy[Service.self] === set)
        #expect(copy[key].number == 9 && copy[key] !== before)
        #expect(original[key] === before && before.number == 1)
    }

    @Test("A replaced loader's instance does not count as set (law 18)")
    func loadedReplacement() {
        let original = Container()
        let key = FeatureKey { _ in Token(1) }
        original.replace(\.[key]) { _ in Token(2) }
        let child = original.child()
        _ = child[key]
        let copy = Container(copying: child)
        #expect(copy[key].number == 2 && copy[key] !== original[key])
        copy.reset(\.[key])
        #expect(copy[key].number == 1)
    }

    @Test("Afterwards a copy and its originals are independent (law 18)")
    func independent() {
        let original = Container()
        original[Name.self] = "before"
        let copy = Container(copying: original)
        let heard = Counter()
        copy.observe(Name.self) { _ in heard.add() }
        original[Name.self] = "after"
        #expect(copy[Name.self] == "before" && heard.value == 0)
        copy[Name.self] = "copy"
        #expect(original[Name.self] == "after")
        copy.reset(Name.self)
        #expect(copy[Name.self] == "default" && original[Name.self] == "after")
    }

    @Test("A nil that was set is copied, and what was reset is not (laws 1, 18)")
    func nils() {
        struct Nickname: Property { static var defaultValue: String? { "none" } }
        let original = Container()
        original[Nickname.self] = nil
        original[Size.self] = 5
        original.reset(Size.self)
        let copy = Container(copying: original)
        #expect(copy[Nickname.self] == nil && copy[Size.self] == 1)
    }

    @Test("A copy does not keep its originals alive (laws 8, 18)")
    func lifetimes() {
        let alive = Counter()
        struct Held: Property { static var defaultValue: Token? { nil } }
        var original: Container? = Container()
        original![Held.self] = Token(1, alive: alive)
        let copy = Container(copying: original!)
        weak let weakly = original
        original = nil
        #expect(weakly == nil && alive.value == 1)
        copy.reset(Held.self)
        #expect(alive.value == 0)
    }
}
