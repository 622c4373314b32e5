import Fugu
import Support
import Testing

@Suite("A copy takes what was set (law 18)")
struct Law18CopiesTests {
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

    struct Unset: Error {}
    struct Login: ThrowingFeature {
        let user: String
        static func load(in container: any FeatureContainer) throws -> Login { throw Unset() }
    }
    struct Session: AsyncFeature {
        let user: String
        static func load(in container: any FeatureContainer) async throws -> Session { throw Unset() }
    }

    @Test("A copy has what was set in a container and in its ancestors, nearest first (law 18)")
    func ancestors() {
        let root = Container()
        root[Host.self] = "root"
        root[Port.self] = 1
        let child = root.child { $0[Host.self] = "child" }
        let grandchild = child.child()
        let copy = Container(copying: grandchild)
        #expect(copy[Host.self] == "child")
        #expect(copy[Port.self] == 1)
        #expect(Container(copying: root)[Host.self] == "root")
    }

    @Test("The last container wins, and what it did not set comes from the earlier ones (law 18)")
    func priorities() {
        let (global, local) = (Container(), Container())
        global[Host.self] = "global"
        global[Port.self] = 1
        local[Host.self] = "local"
        #expect(Container(copying: global, local)[Host.self] == "local")
        #expect(Container(copying: global, local)[Port.self] == 1)
        #expect(Container(copying: local, global)[Host.self] == "global")
        #expect(Container(copying: global, local, Container())[Host.self] == "local")
    }

    @Test("What the last container's ancestors set wins over what an earlier container set itself (law 18)")
    func ancestorOfTheLast() {
        let parent = Container()
        parent[Host.self] = "parent of the last"
        let first = Container()
        first[Host.self] = "first"
        #expect(Container(copying: first, parent.child())[Host.self] == "parent of the last")
    }

    @Test("A nil that was set is copied, a value that was reset is not (law 18)")
    func nilAndReset() {
        let original = Container()
        original[Limit.self] = nil
        original[Port.self] = 1
        original.reset(Port.self)
        let copy = Container(copying: original)
        #expect(copy[Limit.self] == nil)
        #expect(copy[Port.self] == 80)
        let base = Container()
        base[Limit.self] = 7
        #expect(Container(copying: base, original)[Limit.self] == nil)
    }

    @Test("Nothing that was loaded is taken: features load anew and see the copy's values (law 18)")
    func loaded() {
        let original = Container()
        original[Host.self] = "original"
        let first = original[Client.self]
        let copy = Container(copying: original)
        #expect(copy.ifLoaded(Client.self) == nil)
        copy[Port.self] = 8080
        #expect(copy[Client.self].address == "original:8080")
        #expect(original[Client.self] === first)
    }

    @Test("A default that was evaluated is evaluated anew in the copy (law 18)")
    func defaults() {
        let counter = Support.Counter()
        let key = PropertyKey(defaultValue: counter.add())
        let original = Container()
        #expect(original[key] == 1)
        #expect(Container(copying: original)[key] == 2)
    }

    @Test("A swapped feature is taken as it is, of every kind (law 18)")
    func swapped() async throws {
        let original = Container()
        let client = Client("swapped")
        original[Client.self] = client
        original.set(Login.self, to: Login(user: "ada"))
        original.set(Session.self, to: Session(user: "grace"))
        let copy = Container(copying: original.child())
        #expect(copy[Client.self] === client)
        #expect(try copy[Login.self].user == "ada")
        #expect(try await copy[Session.self].user == "grace")
    }

    @Test("A replaced feature is loaded anew by its new loader, which sees the copy, of every kind (law 18)")
    func replaced() async throws {
        let original = Container()
        original[Host.self] = "original"
        original.replace(Client.self) { Client("double of \($0[Host.self])") }
        original.replace(Login.self) { Login(user: $0[Host.self]) }
        original.replace(Session.self) { Session(user: $0[Host.self]) }
        let first = original[Client.self]
        let copy = Container(copying: original)
        copy[Host.self] = "copy"
        #expect(copy[Client.self].address == "double of copy")
        #expect(try copy[Login.self].user == "copy")
        #expect(try await copy[Session.self].user == "copy")
        #expect(original[Client.self] === first)
    }

    @Test("What a replaced loader made is not taken for a swap: the copy resets to the feature's own loader (law 18)")
    func replacedAndLoaded() {
        let original = Container()
        original.replace(Client.self) { _ in Client("double") }
        let child = original.child()
        let double = child[Client.self]
        let copy = Container(copying: child)
        #expect(copy[Client.self].address == "double" && copy[Client.self] !== double)
        copy.reset(Client.self)
        #expect(copy[Client.self].address == "default:80")
    }

    @Test("Swapping and replacing hide each other, the nearest and the last winning (law 18)")
    func swappedAndReplaced() {
        let root = Container()
        root[Client.self] = Client("swapped")
        let child = root.child()
        child.replace(Client.self) { _ in Client("replaced") }
        let grandchild = child.child { $0[Client.self] = Client("swapped again") }
        #expect(Container(copying: child)[Client.self].address == "replaced")
        #expect(Container(copying: grandchild)[Client.self].address == "swapped again")
        #expect(Container(copying: grandchild, child)[Client.self].address == "replaced")
        #expect(Container(copying: child, root)[Client.self].address == "swapped")
    }

    @Test("Afterwards they are independent, either way (law 18)")
    func independent() {
        let original = Container()
        original[Host.self] = "before"
        let heard = Support.Log<String>()
        original.observe(Host.self) { heard.add($0) }
        let copy = Container(copying: original)
        copy[Host.self] = "copy"
        #expect(original[Host.self] == "before")
        original[Host.self] = "after"
        #expect(copy[Host.self] == "copy")
        copy.reset(Host.self)
        #expect(copy[Host.self] == "default")
        #expect(heard.all == ["after"])
    }

    @Test("A copy keeps nothing alive but what was set (law 18)")
    func lifetime() {
        var original: Container? = Container()
        let ended = Support.Counter()
        original![Client.self] = Client("swapped")
        let key = FeatureKey { _ in Witness { ended.add() } }
        _ = original![key]
        weak let gone = original
        let copy = Container(copying: original!)
        original = nil
        #expect(gone == nil)
        #expect(ended.value == 1)
        #expect(copy[Client.self].address == "swapped")
    }

    @Test("What was set goes when the last copy that has it resets it (laws 8 and 18)")
    func release() {
        struct Held: Property { static var defaultValue: Witness? { nil } }
        let ended = Support.Counter()
        let original = Container()
        original[Held.self] = Witness { ended.add() }
        let copy = Container(copying: original)
        original.reset(Held.self)
        #expect(ended.value == 0)
        copy.reset(Held.self)
        #expect(ended.value == 1)
    }

    @Test("A copy is of one moment: it never has half of an update, of a container or of its ancestors (laws 7 and 18)")
    func moment() {
        let root = Container()
        let original = root.child()
        onThreads(2) { number in
            for count in 1...300 {
                if number == 0 {
                    original.update { lower in
                        lower[Port.self] = count
                        root.update { $0[Limit.self] = count }
                    }
                } else {
                    let copy = Container(copying: original)
                    #expect(copy[Limit.self] == (copy[Port.self] == 80 ? 5 : copy[Port.self]))
                }
            }
        }
    }
}

@Suite("A copy takes rules and what they set (laws 18 and 21)")
struct Law18RulesTests {
    typealias Host = Law18CopiesTests.Host
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
        #expect(copy.scope("/a")[Trail.self] == ["root", "child", "other", "copy"])
        #expect(copy.scope("/b")[Trail.self] == ["root", "other", "copy"])
        #expect(root.scope("/a")[Trail.self] == ["root"])
        #expect(copy[Trail.self] == [])
    }

    @Test("Rules added afterwards stay where they were added (laws 18 and 21)")
    func independent() {
        let original = Container()
        let copy = Container(copying: original)
        original.configureScopes { $0[Host.self] = "original" }
        #expect(copy.scope("/a")[Host.self] == "default")
    }

    @Test("A rule that reaches a copy by two ways was set once and runs once (laws 18 and 21)")
    func sharedAncestors() {
        let root = Container()
        root.configureScopes { $0[Trail.self].append("root") }
        let (left, right) = (root.child(), root.child())
        left.configureScopes { $0[Trail.self].append("left") }
        #expect(Container(copying: root, left, right).scope("/a")[Trail.self] == ["left", "root"])
    }

    @Test("A copy of a scope has what its rules set, though nobody read the scope before (laws 18 and 21)")
    func scope() {
        let root = Container()
        root.configureScopes("/a") { $0[Host.self] = "rule" }
        let scope = root.scope("/a")
        let copy = Container(copying: scope)
        #expect(copy[Host.self] == "rule")
        scope[Host.self] = "code"
        #expect(Container(copying: scope)[Host.self] == "code")
        copy[Host.self] = "copy"
        #expect(scope[Host.self] == "code")
    }
}
