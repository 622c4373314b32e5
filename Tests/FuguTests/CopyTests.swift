import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

@Suite("Law 18: copies") struct CopyTests {}

extension CopyTests {
    struct Name: Property { static var defaultValue: String { "default" } }
    struct Size: Property { static var defaultValue: Int { 1 } }
    struct Born: Property { static var defaultValue: Token { Token() } }
    final class Service: Feature, Sendable {
        let name: String
        init(_ name: String) { self.name = name }
        static func load(in container: any FeatureContainer) -> Service { Service(container[Name.self]) }
    }

    private static let held: [String: Drawing.Held] = ["name": .property(Name.self), "size": .property(Size.self)]

    @Test("A copy takes what was set in a container and its ancestors, nearest first (law 18)")
    func ancestors() {
        Drawing(
            """
            root      name=root size=2  → root 2
              child   name=child        → child 2
            copy      copying:child     → child 2
            """, Self.held, reading: { "\($0[Name.self]) \($0[Size.self])" })
    }

    @Test("Of several containers the last one wins (law 18)")
    func lastWins() {
        Drawing(
            """
            first     name=first size=3     → first 3
            second    name=second           → second 1
              below                         → second 1
            copy      copying:first,below   → second 3
            other     copying:second,first  → first 3
            """, Self.held, reading: { "\($0[Name.self]) \($0[Size.self])" })
    }

    @Test("A copy takes nothing that was loaded: its features see its own values (law 18)")
    func nothingLoaded() {
        let key = FeatureKey { Thing($0[Name.self], $0) }
        let family = Drawing(
            """
            original  name=original               → original: original
            """, Self.held
        ) { $0[key] }
        family.show(
            """
            original  name=original               → original kept: original
            copy      copying:original            → copy: original
            changed   copying:original name=copy  → changed: copy
            """)
    }

    @Test("A copy takes set and replaced features, and a replaced loader runs anew in it (law 18)")
    func sets() {
        let original = Container()
        let set = Service("set")
        let key = FeatureKey { _ in Token(1) }
        original[Service.self] = set
        original.replace({ _ in key }) { container in Token(container[Size.self]) }
        let before = original[key]
        let copy = Container(copying: original)
        copy[Size.self] = 9
        expect(copy[Service.self], is: set)
        expect(copy[key].number, equals: 9)
        expect(copy[key] !== before)
        expect(original[key], is: before)
        expect(before.number, equals: 1)
    }

    @Test("A replaced loader's instance does not count as set (law 18)")
    func loadedReplacement() {
        let original = Container()
        let key = FeatureKey { _ in Token(1) }
        original.replace({ _ in key }) { _ in Token(2) }
        let child = original.child()
        _ = child[key]
        let copy = Container(copying: child)
        expect(copy[key].number, equals: 2)
        expect(copy[key] !== original[key])
        copy.reset { _ in key }
        expect(copy[key].number, equals: 1)
    }

    @Test("Afterwards a copy and its originals are independent (law 18)")
    func independent() {
        let family = Drawing(
            """
            original  name=before       → before
            copy      copying:original  → before
            """, Self.held, reading: { $0[Name.self] })
        let heard = Counter()
        family["copy"].observe(Name.self) { _ in heard.add() }
        family.show(
            """
            original  name=after        → after
            copy                        → before
            """)
        expect(heard.value, equals: 0)
        family.show(
            """
            original  name=after        → after
            copy      name=copy         → copy
            """)
        family.show(
            """
            original  name=after        → after
            copy                        → default
            """)
    }

    @Test("A nil that was set is copied, and what was reset is not (laws 1, 18)")
    func nils() {
        struct Nickname: Property { static var defaultValue: String? { "none" } }
        let original = Container()
        original[Nickname.self] = nil
        original[Size.self] = 5
        original.reset(Size.self)
        let copy = Container(copying: original)
        expect(copy[Nickname.self] == nil)
        expect(copy[Size.self], equals: 1)
    }

    struct Login: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { container[Name.self] }
    }

    @Test("A copy of a closed container is open (laws 18 and 28)")
    func ofClosed() async throws {
        let original = Container()
        original[Name.self] = "set"
        try await original.close()
        try expect(Container(copying: original)[Login.self], equals: "set")
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
        expect(weakly == nil)
        expect(alive.value, equals: 1)
        copy.reset(Held.self)
        expect(alive.value, equals: 0)
    }
}

@Suite("Law 18: copies of decorations and contributions") struct CopyLayersTests {
    private let word = FeatureKey<String>(id: UniqueID()) { _ in "w" }
    private let list = FeatureKey<[String]>(id: UniqueID()) { _ in [] }
}

extension CopyLayersTests {
    struct Level: Property { static var defaultValue: Int { 1 } }

    /// Wraps the word, and adds to the list.
    private func add(_ name: String, to container: Container) {
        container.decorate({ _ in word }) { word, _ in "\(name)(\(word))" }
        container.contribute(to: { _ in list }) { _ in name }
    }

    private func root(_ name: String) -> Container {
        let container = Container()
        add(name, to: container)
        return container
    }

    private func child(_ name: String, of parent: Container = Container()) -> Container {
        parent.child { add(name, to: $0) }
    }

    private func words(_ containers: [Container]) -> [String] { containers.map { $0[word] } }

    @Test(
        "The layers of unrelated containers stack in the order of the containers, at whatever depth they are (law 18)")
    func unrelated() {
        for (first, second) in [
            (root("X"), root("Y")), (root("X"), child("Y")), (child("X"), root("Y")), (child("X"), child("Y")),
            (root("X"), Container().child().child { add("Y", to: $0) }),
        ] {
            let copy = Container(copying: first, second)
            expect(copy[word], equals: "Y(X(w))")
            expect(copy[list], equals: ["X", "Y"])
            expect(Container(copying: second, first)[list], equals: ["Y", "X"])
        }
        let three = Container(copying: child("1", of: root("0")), root("2"), child("4", of: child("3")))
        expect(three[word], equals: "4(3(2(1(0(w)))))")
        expect(three[list], equals: ["0", "1", "2", "3", "4"])
    }

    @Test("A layer that several of the containers have is copied once, where it is first (law 18)")
    func common() {
        let shop = root("A")
        let (one, two) = (child("B", of: shop), shop.child { $0[Level.self] = 3 })
        let grandchild = child("C", of: one)
        for copy in [
            Container(copying: one, two), Container(copying: two, one), Container(copying: one, one),
            Container(copying: one, shop), Container(copying: shop, one),
            Container(copying: Container(copying: one), shop), Container(copying: two, Container(copying: one)),
        ] {
            expect(copy[word], equals: "B(A(w))")
            expect(copy[list], equals: ["A", "B"])
        }
        for copy in [Container(copying: grandchild, one), Container(copying: one, grandchild, shop)] {
            expect(copy[word], equals: "C(B(A(w)))")
            expect(copy[list], equals: ["A", "B", "C"])
        }
        let siblings = Container(copying: one, child("D", of: shop))
        expect(siblings[word], equals: "D(B(A(w)))")
        expect(siblings[list], equals: ["A", "B", "D"])
    }

    @Test(
        "What a nearer or a later container set covers the layers before it, and those of its own are around it (law 18)"
    )
    func covers() {
        let (first, second) = (Container(), Container())
        first[word] = "s"
        add("X", to: first)
        expect(Container(copying: first, root("Y"))[word], equals: "Y(X(s))")
        second[word] = "t"
        expect(Container(copying: first, second)[word], equals: "t")
        let below = child("Y", of: second)
        expect(words([Container(copying: first, below), Container(copying: below, first)]), equals: ["Y(t)", "X(s)"])
        add("Z", to: second)
        expect(Container(copying: first, second)[word], equals: "Z(t)")
        // As for values, what an ancestor of the last container set wins.
        expect(Container(copying: child("B", of: first), first.child())[word], equals: "X(s)")
        let replaced = Container()
        replaced.replace({ _ in word }) { "r\($0[Level.self])" }
        let copy = Container(copying: root("X"), child("Y", of: replaced))
        copy[Level.self] = 5
        expect(copy[word], equals: "Y(r5)")
        let listed = child("B", of: root("A")).child { $0[list] = ["set"] }
        add("C", to: listed)
        expect(Container(copying: root("X"), listed, root("Y"))[list], equals: ["set", "C", "Y"])
    }

    @Test(
        "Elements and decorations of a list keep their order in a copy, whose decorations are around all its elements (law 18)"
    )
    func mixed() {
        func mixture(_ name: String) -> Container {
            let container = Container()
            func add(_ text: String) { container.contribute(to: { _ in list }) { _ in text } }
            add("\(name)1")
            add("\(name)2")
            container.decorate({ _ in list }) { list, _ in list.map { "[\($0)]" } }
            add("\(name)3")
            add("\(name)4")
            return container
        }
        let copy = Container(copying: mixture("a"), mixture("b"))
        expect(copy[list], equals: ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"].map { "[[\($0)]]" })
        let below = child("c", of: copy)
        expect(below[list], equals: copy[list] + ["c"])
        expect(Container(copying: below, copy)[list], equals: copy[list] + ["[[c]]"])
    }

    @Test("Layers of features that throw, or load asynchronously, stack in a copy (law 18)")
    func kinds() async throws {
        struct Login: ThrowingFeature {
            static func load(in container: any FeatureContainer) throws -> String { "l\(container[Level.self])" }
        }
        struct Session: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> String { "s\(container[Level.self])" }
        }
        func decorated(_ name: String, _ container: Container) -> Container {
            container.decorate(Login.self) { login, _ in "\(name)(\(login))" }
            container.decorate(Session.self) { session, _ in "\(name)(\(session))" }
            return container
        }
        let shop = decorated("A", Container())
        let containers = (decorated("B", shop.child()), decorated("C", Container().child { $0[Level.self] = 2 }))
        let copy = Container(copying: containers.0, containers.1, shop)
        try expect(copy[Login.self], equals: "C(B(A(l2)))")
        try await expect(copy[Session.self], equals: "C(B(A(s2)))")
        try await expect(decorated("D", copy.child())[Session.self], equals: "D(C(B(A(s2))))")
    }

    @Test("A reset of a copy removes all layers and leaves nothing of them (laws 18 and 20)")
    func resets() {
        let ended = Counter()
        do {
            let copy: Container
            do {
                let witness = Witness { ended.add() }
                let first = root("X")
                first.decorate({ _ in word }) { word, _ in
                    withExtendedLifetime(witness) { word }
                }
                copy = Container(copying: child("B", of: first), child("Y"))
            }
            expect(copy[word], equals: "Y(B(X(w)))")
            expect(copy[list], equals: ["X", "B", "Y"])
            copy.reset { _ in list }
            copy.reset { _ in word }
            expect(ended.value, equals: 1)
            expect(copy.graph.entries.isEmpty)
            expect(copy[word], equals: "w")
            expect(copy[list], equals: [])
            add("Z", to: copy)
            expect(copy[word], equals: "Z(w)")
            expect(copy[list], equals: ["Z"])
        }
    }

    @Test("A load that copies decorated containers was made from what they have (laws 15, 18, and 19)")
    func insideALoad() {
        let word = word
        let copied = FeatureKey(reloadsWhenInputsChange: true, id: UniqueID()) { _ in
            Container(copying: .current, .current)[word]
        }
        let container = root("X")
        let below = child("Y", of: container)
        expect(container[copied], equals: "X(w)")
        expect(below[copied], equals: "Y(X(w))")
        add("Z", to: container)
        expect(container[copied], equals: "Z(X(w))")
        below.reset { _ in word }
        expect(below[copied], equals: "Z(X(w))")
    }
}

@Suite("A copy takes what was set of every kind, at one moment (law 18)") struct CopyKindsTests {}

extension CopyKindsTests {
    struct Host: Property { static var defaultValue: String { "default" } }
    struct Port: Property { static var defaultValue: Int { 80 } }
    struct Limit: Property { static var defaultValue: Int? { 5 } }

    /// Knows from which values it was made, and which one it is.
    final class Client: Feature, Sendable {
        let address: String
        init(_ address: String) { self.address = address }
        static func load(in container: any FeatureContainer) -> Client {
            Client("\(container[Host.self]):\(container[Port.self])")
        }
    }

    @Test("A default that was evaluated is evaluated anew in the copy (law 18)")
    func defaults() {
        let counter = Counter()
        let key = PropertyKey(defaultValue: counter.add())
        let original = Container()
        expect(original[key], equals: 1)
        expect(Container(copying: original)[key], equals: 2)
    }

    @Test("Set instances and replaced loaders hide each other: the nearest wins, and then the latest (law 18)")
    func setAndReplaced() {
        let root = Container()
        root[Client.self] = Client("set")
        let child = root.child()
        child.replace(Client.self) { _ in Client("replaced") }
        let grandchild = child.child { $0[Client.self] = Client("set again") }
        expect(Container(copying: child)[Client.self].address, equals: "replaced")
        expect(Container(copying: grandchild)[Client.self].address, equals: "set again")
        expect(Container(copying: grandchild, child)[Client.self].address, equals: "replaced")
        expect(Container(copying: child, root)[Client.self].address, equals: "set")
    }

    @Test("A load that copies the container it reads from was made from what it took (laws 15 and 18)")
    func insideALoad() {
        final class Snapshot: Feature, Sendable {
            let copy: Container
            init(_ copy: Container) { self.copy = copy }
            static func load(in container: any FeatureContainer) -> Snapshot {
                Snapshot(Container(copying: Container.current))
            }
        }
        let root = Container()
        root[Host.self] = "root"
        let child = root.child { $0[Host.self] = "child" }
        expect(child[Snapshot.self].copy[Host.self], equals: "child")
        expect(root[Snapshot.self].copy[Host.self], equals: "root")
        expect(root.child()[Snapshot.self], is: root[Snapshot.self])
        expect(root.child { $0[Host.self] = "other" }[Snapshot.self].copy[Host.self], equals: "other")
    }

    @Test("A copy is of one moment: it never has half of an update, of a container or of its ancestors (laws 7 and 18)")
    func moment() {
        let root = Container()
        let original = root.child()
        onThreads(2) { number in
            for count in 1001...1300 {
                if number == 0 {
                    original.update { lower in
                        lower[Port.self] = count
                        root.update { $0[Limit.self] = count }
                    }
                } else {
                    let copy = Container(copying: original)
                    expect(copy[Limit.self], equals: (copy[Port.self] == 80 ? 5 : copy[Port.self]))
                }
            }
        }
    }
}

@Suite("A copy takes rules and what they set (laws 18 and 21)") struct CopyRulesTests {}

extension CopyRulesTests {
    struct Host: Property { static var defaultValue: String { "default" } }
    struct Trail: Property { static var defaultValue: [String] { [] } }

    @Test("A copy's own scopes are configured by the rules of what was copied, in order (laws 18 and 21)")
    func rules() {
        let (root, other) = (Container(), Container())
        root.configureScopes { $0[Trail.self].append("root") }
        let child = root.child()
        child.configureScopes("/a") { $0[Trail.self].append("child") }
        other.configureScopes { $0[Trail.self].append("other") }
        let copy = Container(copying: child, other)
        copy.configureScopes { $0[Trail.self].append("copy") }
        expect(copy.scope("/a")[Trail.self], equals: ["root", "child", "other", "copy"])
        expect(copy.scope("/b")[Trail.self], equals: ["root", "other", "copy"])
        expect(root.scope("/a")[Trail.self], equals: ["root"])
        expect(copy[Trail.self], equals: [])
    }

    @Test("Rules added afterwards stay where they were added (laws 18 and 21)")
    func independent() {
        let original = Container()
        let copy = Container(copying: original)
        original.configureScopes { $0[Host.self] = "original" }
        expect(copy.scope("/a")[Host.self], equals: "default")
    }

    @Test("A rule that reaches a copy by two ways was set once and runs once (laws 18 and 21)")
    func sharedAncestors() {
        let root = Container()
        root.configureScopes { $0[Trail.self].append("root") }
        let (left, right) = (root.child(), root.child())
        left.configureScopes { $0[Trail.self].append("left") }
        expect(Container(copying: root, left, right).scope("/a")[Trail.self], equals: ["left", "root"])
    }

    @Test("A copy of a scope has what its rules set, though nobody read the scope before (laws 18 and 21)")
    func scope() {
        let root = Container()
        root.configureScopes("/a") { $0[Host.self] = "rule" }
        let scope = root.scope("/a")
        let copy = Container(copying: scope)
        expect(copy[Host.self], equals: "rule")
        scope[Host.self] = "code"
        expect(Container(copying: scope)[Host.self], equals: "code")
        copy[Host.self] = "copy"
        expect(scope[Host.self], equals: "code")
    }
}
