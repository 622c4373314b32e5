import Fugu
import Support
import Testing

@Suite("A copy takes what was set of every kind, at one moment (law 18)")
struct Law18KindsTests {
    static let cases: [Case<Law18KindsTests>] = [
        Case(
            "Values set in the last container's ancestors win over those set in an earlier container (law 18)",
            ancestorOfTheLast),
        Case("A default that was evaluated is evaluated anew in the copy (law 18)", defaults),
        Case("A feature that was set is taken as it is, whatever its kind (law 18)", isSet),
        Case(
            "A replaced feature is loaded anew by its new loader, which sees the copy, of every kind (law 18)", replaced
        ),
        Case(
            "Set instances and replaced loaders hide each other: the nearest wins, and then the latest (law 18)",
            setAndReplaced),
        Case("A set instance is released when the last copy that has it resets it (laws 8 and 18)", release),
        Case("A load that copies the container it reads from was made from what it took (laws 15 and 18)", insideALoad),
        Case(
            "A copy is of one moment: it never has half of an update, of a container or of its ancestors (laws 7 and 18)",
            moment),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law18KindsTests>) async throws { try await stated.run(self) }

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

    func ancestorOfTheLast() {
        let parent = Container()
        parent[Host.self] = "parent of the last"
        let first = Container()
        first[Host.self] = "first"
        expect(Container(copying: first, parent.child())[Host.self], equals: "parent of the last")
    }

    func defaults() {
        let counter = Counter()
        let key = PropertyKey(defaultValue: counter.add())
        let original = Container()
        expect(original[key], equals: 1)
        expect(Container(copying: original)[key], equals: 2)
    }

    func isSet() async throws {
        let original = Container()
        let client = Client("set")
        original[Client.self] = client
        original.set(Login.self, to: Login(user: "ada"))
        original.set(Session.self, to: Session(user: "grace"))
        let copy = Container(copying: original.child())
        expect(copy[Client.self], is: client)
        try expect(copy[Login.self].user, equals: "ada")
        try await expect(copy[Session.self].user, equals: "grace")
    }

    func replaced() async throws {
        let original = Container()
        original[Host.self] = "original"
        original.replace(Client.self) { Client("double of \($0[Host.self])") }
        original.replace(Login.self) { Login(user: $0[Host.self]) }
        original.replace(Session.self) { Session(user: $0[Host.self]) }
        let first = original[Client.self]
        let copy = Container(copying: original)
        copy[Host.self] = "copy"
        expect(copy[Client.self].address, equals: "double of copy")
        try expect(copy[Login.self].user, equals: "copy")
        try await expect(copy[Session.self].user, equals: "copy")
        expect(original[Client.self], is: first)
    }

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

    func release() {
        struct Held: Property { static var defaultValue: Witness? { nil } }
        let ended = Counter()
        let original = Container()
        original[Held.self] = Witness { ended.add() }
        let copy = Container(copying: original)
        original.reset(Held.self)
        expect(ended.value, equals: 0)
        copy.reset(Held.self)
        expect(ended.value, equals: 1)
    }

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
