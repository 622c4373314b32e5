import Fugu
import Support
import Testing

@Suite("A copy takes what was set of every kind, at one moment (law 18)")
struct Law18KindsTests {
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

    @Test("Values set in the last container's ancestors win over those set in an earlier container (law 18)")
    func ancestorOfTheLast() {
        let parent = Container()
        parent[Host.self] = "parent of the last"
        let first = Container()
        first[Host.self] = "first"
        #expect(Container(copying: first, parent.child())[Host.self] == "parent of the last")
    }

    @Test("A default that was evaluated is evaluated anew in the copy (law 18)")
    func defaults() {
        let counter = Counter()
        let key = PropertyKey(defaultValue: counter.add())
        let original = Container()
        #expect(original[key] == 1)
        #expect(Container(copying: original)[key] == 2)
    }

    @Test("A feature that was set is taken as it is, whatever its kind (law 18)")
    func isSet() async throws {
        let original = Container()
        let client = Client("set")
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

    @Test("Set instances and replaced loaders hide each other: the nearest wins, and then the latest (law 18)")
    func setAndReplaced() {
        let root = Container()
        root[Client.self] = Client("set")
        let child = root.child()
        child.replace(Client.self) { _ in Client("replaced") }
        let grandchild = child.child { $0[Client.self] = Client("set again") }
        #expect(Container(copying: child)[Client.self].address == "replaced")
        #expect(Container(copying: grandchild)[Client.self].address == "set again")
        #expect(Container(copying: grandchild, child)[Client.self].address == "replaced")
        #expect(Container(copying: child, root)[Client.self].address == "set")
    }

    @Test("A set instance is released when the last copy that has it resets it (laws 8 and 18)")
    func release() {
        struct Held: Property { static var defaultValue: Witness? { nil } }
        let ended = Counter()
        let original = Container()
        original[Held.self] = Witness { ended.add() }
        let copy = Container(copying: original)
        original.reset(Held.self)
        #expect(ended.value == 0)
        copy.reset(Held.self)
        #expect(ended.value == 1)
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
        #expect(child[Snapshot.self].copy[Host.self] == "child")
        #expect(root[Snapshot.self].copy[Host.self] == "root")
        #expect(root.child()[Snapshot.self] === root[Snapshot.self])
        #expect(root.child { $0[Host.self] = "other" }[Snapshot.self].copy[Host.self] == "other")
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
                    #expect(copy[Limit.self] == (copy[Port.self] == 80 ? 5 : copy[Port.self]))
                }
            }
        }
    }
}
