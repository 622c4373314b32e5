import Fugu
import Support
import Testing

@Suite(
    "A set, a replaced loader, and a reset end what layers of ancestors have loaded for the key (laws 7, 13, and 18)")
struct LayersResetTests {}

extension ContainerKeys {
    fileprivate var layeredWindow: MainActorFeatureKey<String> {
        .init { "window \($0[LayersResetTests.Address.self])" }
    }
    fileprivate var layeredList: FeatureKey<[String]> { .init { ["list \($0[LayersResetTests.Address.self])"] } }
}

extension LayersResetTests {
    struct Address: Property { static var defaultValue: String { "zero" } }

    enum Plain: Feature {
        static func load(in container: any FeatureContainer) -> String { "plain \(container[Address.self])" }
    }
    enum Throwing: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> String { "throwing \(container[Address.self])" }
    }
    enum Async: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> String {
            "async \(container[Address.self])"
        }
    }

    /// A way to declare a feature, with a layer to add to it.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let read: @MainActor (Container) async throws -> String
        let addLayer: @MainActor (Container) -> Void
        let set: @MainActor (Container) -> Void
        let replace: @MainActor (Container) -> Void
        let reset: @MainActor (Container) -> Void
        /// What the layer makes of an address.
        let layered: @Sendable (String) -> String
        let bare: @Sendable (String) -> String

        static let all = [
            Kind(
                testDescription: "decorated", read: { $0[Plain.self] },
                addLayer: { $0.decorate(Plain.self) { text, _ in "logged \(text)" } },
                set: { $0[Plain.self] = "mine" }, replace: { $0.replace(Plain.self) { _ in "mine" } },
                reset: { $0.reset(Plain.self) }, layered: { "logged plain \($0)" }, bare: { "plain \($0)" }),
            Kind(
                testDescription: "throwing, decorated", read: { try $0[Throwing.self] },
                addLayer: { $0.decorate(Throwing.self) { text, _ in "logged \(text)" } },
                set: { $0.set(Throwing.self, to: "mine") }, replace: { $0.replace(Throwing.self) { _ in "mine" } },
                reset: { $0.reset(Throwing.self) }, layered: { "logged throwing \($0)" }, bare: { "throwing \($0)" }),
            Kind(
                testDescription: "async, decorated", read: { try await $0[Async.self] },
                addLayer: { $0.decorate(Async.self) { text, _ in "logged \(text)" } },
                set: { $0.set(Async.self, to: "mine") }, replace: { $0.replace(Async.self) { _ in "mine" } },
                reset: { $0.reset(Async.self) }, layered: { "logged async \($0)" }, bare: { "async \($0)" }),
            Kind(
                testDescription: "of the main actor, decorated", read: { $0.layeredWindow },
                addLayer: { $0.decorate(\.layeredWindow) { text, _ in "logged \(text)" } },
                set: { $0.layeredWindow = "mine" }, replace: { $0.replace(\.layeredWindow) { _ in "mine" } },
                reset: { $0.reset(\.layeredWindow) }, layered: { "logged window \($0)" }, bare: { "window \($0)" }),
            Kind(
                testDescription: "with a contribution", read: { $0.layeredList.joined(separator: ", ") },
                addLayer: { $0.contribute(to: \.layeredList) { "added \($0[Address.self])" } },
                set: { $0.layeredList = ["mine"] }, replace: { $0.replace(\.layeredList) { _ in ["mine"] } },
                reset: { $0.reset(\.layeredList) }, layered: { "list \($0), added \($0)" }, bare: { "list \($0)" }),
            Kind(
                testDescription: "decorated twice, with a contribution",
                read: { $0.layeredList.joined(separator: ", ") },
                addLayer: {
                    $0.decorate(\.layeredList) { list, _ in list + ["a"] }
                    $0.contribute(to: \.layeredList) { "added \($0[Address.self])" }
                    $0.decorate(\.layeredList) { list, _ in list + ["b"] }
                },
                set: { $0.layeredList = ["mine"] }, replace: { $0.replace(\.layeredList) { _ in ["mine"] } },
                reset: { $0.reset(\.layeredList) }, layered: { "list \($0), a, added \($0), b" },
                bare: { "list \($0)" }),
        ]
    }

    enum Write: CaseIterable, Sendable { case set, replace, reset, setInUpdate, resetAll }

    /// A family of three, and the container that has the layer.
    private struct Three {
        let root = Container.program()
        let middle: Container
        let child: Container
        let reports: Log<String>

        init() {
            reports = root.logReports()
            middle = root.child()
            child = middle.child { $0[Address.self] = "one" }
        }

        /// The child, its parent, and its grandparent.
        var all: [Container] { [child, middle, root] }
    }

    @MainActor private func perform(_ write: Write, _ kind: Kind, in container: Container) {
        switch write {
        case .set: kind.set(container)
        case .replace: kind.replace(container)
        case .reset: kind.reset(container)
        case .setInUpdate:
            container.update { _ in
                kind.set(container)
                container[Address.self] = "between"
            }
        case .resetAll: container.resetAll()
        }
    }

    @Test(
        "A feature that a child resets is made of the child's inputs, wherever its layers come from (laws 10 and 13)",
        arguments: Kind.all, Write.allCases)
    @MainActor func resets(kind: Kind, write: Write) async throws {
        for layer in 0..<3 {
            let family = Three()
            kind.addLayer(family.all[layer])
            try await expect(kind.read(family.child), equals: kind.layered("one"))
            perform(write, kind, in: family.child)
            if [.set, .replace, .setInUpdate].contains(write) {
                try await expect(kind.read(family.child), equals: "mine")
            }
            family.child[Address.self] = "two"
            kind.reset(family.child)
            try await expect(kind.read(family.child), equals: layer == 0 ? kind.bare("two") : kind.layered("two"))
            expect(family.reports.all, equals: [], "layer \(layer)")
        }
    }

    @Test(
        "A set between a layer and a child ends what the layer has loaded in the child, too (laws 10 and 13)",
        arguments: Kind.all, [Write.set, .replace, .setInUpdate])
    @MainActor func between(kind: Kind, write: Write) async throws {
        for layer in 1..<3 {
            let family = Three()
            kind.addLayer(family.all[layer])
            try await expect(kind.read(family.child), equals: kind.layered("one"))
            perform(write, kind, in: family.middle)
            try await expect(kind.read(family.child), equals: "mine")
            family.child[Address.self] = "two"
            kind.reset(family.middle)
            try await expect(kind.read(family.child), equals: layer == 1 ? kind.bare("two") : kind.layered("two"))
            expect(family.reports.all, equals: [], "layer \(layer)")
        }
    }

    @Test(
        "A layer of its own on a child's set wraps that, and its reset uncovers what is made of the child's inputs (law 13)",
        arguments: Kind.all)
    @MainActor func layerOnSet(kind: Kind) async throws {
        let family = Three()
        kind.addLayer(family.root)
        _ = try await kind.read(family.child)
        kind.addLayer(family.child)
        _ = try await kind.read(family.child)
        kind.set(family.child)
        family.child[Address.self] = "two"
        kind.addLayer(family.child)
        _ = try await kind.read(family.child)
        kind.reset(family.child)
        try await expect(kind.read(family.child), equals: kind.layered("two"))
        expect(family.reports.all, equals: [])
    }

    @Test(
        "What a layer above has loaded here goes with a reset here, though the wrapper lives below (laws 10 and 13)",
        arguments: Kind.all)
    @MainActor func wrapperBelow(kind: Kind) async throws {
        let family = Three()
        kind.addLayer(family.root)
        family.child.reset(Address.self)
        family.middle[Address.self] = "one"
        // The child has one of its own of the outermost layer alone.
        kind.addLayer(family.child)
        _ = try await kind.read(family.child)
        family.middle[Address.self] = "two"
        kind.reset(family.middle)
        kind.reset(family.child)
        try await expect(kind.read(family.child), equals: kind.layered("two"))
    }

    @Test(
        "A reset in a container leaves what the layers of an ancestor have loaded above and below (law 13)",
        arguments: Kind.all)
    @MainActor func othersStay(kind: Kind) async throws {
        let family = Three()
        kind.addLayer(family.root)
        let below = family.child.child { $0[Address.self] = "below" }
        func all() async throws -> [String] {
            var all: [String] = []
            for container in [family.root, family.child, below] { all.append(try await kind.read(container)) }
            return all
        }
        try await expect(all(), equals: ["zero", "one", "below"].map(kind.layered))
        for container in [family.root, family.child, below] { container[Address.self] += "!" }
        kind.reset(family.child)
        // Nothing reloads, so what stays is of the former inputs.
        try await expect(all(), equals: ["zero", "one!", "below"].map(kind.layered))
    }

    /// What has closers and says how many live.
    final class Connection: Feature, Sendable {
        struct Alive: Property { static var defaultValue: Counter { Counter() } }
        struct Closed: Property { static var defaultValue: Log<String> { Log() } }
        let address: String
        private let token: Token
        init(_ address: String, _ alive: Counter) { (self.address, token) = (address, Token(alive: alive)) }
        static func load(in container: any FeatureContainer) -> Connection {
            let (address, closed) = (container[Address.self], container[Closed.self])
            container.onClose { closed.add(address) }
            return Connection(address, container[Alive.self])
        }
    }

    @Test(
        "What a layer wrapped is released at the write, and closed then, not at the end (laws 7 and 18)",
        arguments: Write.allCases)
    func closes(write: Write) async throws {
        for layer in 0..<3 {
            let family = Three()
            let (alive, closed) = (Counter(), Log<String>())
            (family.root[Connection.Alive.self], family.root[Connection.Closed.self]) = (alive, closed)
            family.all[layer].decorate(Connection.self) {
                Connection("logged \($0.address)", $1[Connection.Alive.self])
            }
            expect(family.child[Connection.self].address, equals: "logged one")
            switch write {
            case .set: family.child[Connection.self] = Connection("mine", alive)
            case .replace: family.child.replace(Connection.self) { _ in Connection("mine", alive) }
            case .reset: family.child.reset(Connection.self)
            case .setInUpdate: family.child.update { $0[Connection.self] = Connection("mine", alive) }
            case .resetAll: family.child.resetAll()
            }
            expect(alive.value, equals: [.set, .setInUpdate].contains(write) ? 1 : 0)
            // Each `close()` waits for the closures of what left the container, so ask one that runs no others.
            try await family.root.child().close()
            expect(await closed.first(1), equals: ["one"])
        }
    }

    enum Slow: AsyncFeature {
        struct Gates: Property { static var defaultValue: [Gate] { [] } }
        static func load(in container: any FeatureContainer) async throws -> String {
            let (address, gates) = (container[Address.self], container[Gates.self])
            if address == "one" {
                gates[0].open()
                await gates[1].opened()
            }
            return "slow \(address)"
        }
    }

    @Test(
        "A write during a load of what a layer wraps keeps none of it (laws 4 and 13)",
        arguments: [Write.set, .replace, .reset], [0, 1])
    func during(write: Write, place: Int) async throws {
        let family = Three()
        let gates = [Gate(), Gate()]
        family.root[Slow.Gates.self] = gates
        family.root.decorate(Slow.self) { text, _ in "logged \(text)" }
        async let first = family.child[Slow.self]
        await gates[0].opened()
        let written = family.all[place]
        switch write {
        case .set: written.set(Slow.self, to: "mine")
        case .replace: written.replace(Slow.self) { _ in "mine" }
        default: family.child.reset(Slow.self)
        }
        family.child[Address.self] = "two"
        if write != .reset { try await expect(family.child[Slow.self], equals: "mine") }
        gates[1].open()
        _ = try await first
        if write != .reset { try await expect(family.child[Slow.self], equals: "mine") }
        written.reset(Slow.self)
        try await expect(family.child[Slow.self], equals: "logged slow two")
    }
}
