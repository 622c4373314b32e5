import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

/// Law 2: copies.
struct CopyTests {}

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

    @Test(
        "A copy takes what was set in a container and its ancestors, the nearest first and the last container before others (law 2)"
    )
    func ancestors() {
        // A copy takes what was set in a container and its ancestors, nearest first.
        do {
            Drawing(
                """
                root      name=root size=2  → root 2
                  child   name=child        → child 2
                copy      copying:child     → child 2
                """, Self.held, reading: { "\($0[Name.self]) \($0[Size.self])" })
        }
        // Of several containers the last one wins.
        do {
            Drawing(
                """
                first     name=first size=3     → first 3
                second    name=second           → second 1
                  below                         → second 1
                copy      copying:first,below   → second 3
                other     copying:second,first  → first 3
                """, Self.held, reading: { "\($0[Name.self]) \($0[Size.self])" })
        }
    }

    @Test("A copy takes nothing that was loaded, nor what a replaced loader has made (law 2)")
    func nothingLoaded() {
        // A copy takes nothing that was loaded: its features see its own values.
        do {
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
        // A replaced loader's instance does not count as set.
        do {
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
    }

    @Test("A copy takes set and replaced features, and a replaced loader runs anew in it (law 2)")
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

    @Test("Afterwards a copy and its originals are independent (law 2)")
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

    @Test("A nil that was set is copied, and what was reset is not (laws 1, 2)")
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

    @Test("A copy of a closed container is open (laws 2 and 18)")
    func ofClosed() async throws {
        let original = Container()
        original[Name.self] = "set"
        try await original.close()
        try expect(Container(copying: original)[Login.self], equals: "set")
    }

    @Test("A copy does not keep its originals alive (laws 2, 7)")
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

/// Law 2: copies of decorations and contributions.
struct CopyLayersTests {
    private let word = FeatureKey<String>(id: UniqueID()) { _ in "w" }
    private let list = FeatureKey<[String]>(id: UniqueID()) { _ in [] }
}

extension CopyLayersTests {
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

    @Test("A decoration is copied like a replaced loader: the nearest wins, then the last container (law 2)")
    func order() {
        let shop = root("A")
        let (one, two) = (child("B", of: shop), shop.child())
        for (copy, text) in [
            (Container(copying: one), "B(A(w))"), (Container(copying: root("X"), one), "B(A(w))"),
            (Container(copying: one, root("X")), "X(w)"), (Container(copying: one, two), "A(w)"),
            (Container(copying: Container(copying: one), two.child()), "A(w)"),
        ] {
            expect(copy[word], equals: text)
            expect(copy[list].count, equals: text.count { $0 == "(" })
        }
        add("C", to: shop)
        expect(Container(copying: one)[word], equals: "B(A(w))")
        expect(Container(copying: two)[word], equals: "C(A(w))")
    }

    @Test("A reset of a copy removes all layers and leaves nothing of them (laws 2 and 13)")
    func resets() {
        let ended = Counter()
        let copy: Container
        do {
            let witness = Witness { ended.add() }
            let first = root("X")
            first.decorate({ _ in word }) { word, _ in
                withExtendedLifetime(witness) { word }
            }
            copy = Container(copying: child("B", of: first))
        }
        expect(copy[word], equals: "B(X(w))")
        expect(copy[list], equals: ["X", "B"])
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

    @Test("A load that copies decorated containers was made from what they have (laws 2, 11, and 12)")
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

/// A copy takes what was set of every kind, at one moment (law 2).
struct CopyKindsTests {}

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

    @Test("A default that was evaluated is evaluated anew in the copy (law 2)")
    func defaults() {
        let counter = Counter()
        let key = PropertyKey(defaultValue: counter.add())
        let original = Container()
        expect(original[key], equals: 1)
        expect(Container(copying: original)[key], equals: 2)
    }

    @Test("Set instances and replaced loaders hide each other: the nearest wins, and then the latest (law 2)")
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

    @Test("A load that copies the container it reads from was made from what it took (laws 2 and 11)")
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
}

/// A copy takes rules and what they set (laws 2 and 14).
struct CopyRulesTests {}

extension CopyRulesTests {
    struct Host: Property { static var defaultValue: String { "default" } }
    struct Trail: Property { static var defaultValue: [String] { [] } }

    @Test(
        "A copy's own scopes are configured by the rules of what was copied, in order, each once, and by no later ones (laws 2 and 14)"
    )
    func rules() {
        // A copy's own scopes are configured by the rules of what was copied, in order.
        do {
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
        // Rules added afterwards stay where they were added.
        do {
            let original = Container()
            let copy = Container(copying: original)
            original.configureScopes { $0[Host.self] = "original" }
            expect(copy.scope("/a")[Host.self], equals: "default")
        }
        // A rule that reaches a copy by two ways was set once and runs once.
        do {
            let root = Container()
            root.configureScopes { $0[Trail.self].append("root") }
            let (left, right) = (root.child(), root.child())
            left.configureScopes { $0[Trail.self].append("left") }
            expect(Container(copying: root, left, right).scope("/a")[Trail.self], equals: ["left", "root"])
        }
    }

    @Test("A copy of a scope has what its rules set, though nobody read the scope before (laws 2 and 14)")
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
