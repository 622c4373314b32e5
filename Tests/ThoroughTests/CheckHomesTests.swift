import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var first: PropertyKey<Int> { .init(defaultValue: 1) }
    fileprivate var second: PropertyKey<Int> { .init(defaultValue: 2) }
    fileprivate var third: PropertyKey<Int> { .init(defaultValue: 3) }
}

/// A random program: features of which each reads later ones and some of three properties.
private struct RandomProgram: Sendable, CustomStringConvertible {
    enum Kind: CaseIterable {
        case plain, throwing, async, external, externalThrowing, externalAsync, tested

        var isExternal: Bool { self != .plain && self != .throwing && self != .async }
        var canFail: Bool { self != .plain && self != .external && self != .tested }
        var isAsync: Bool { self == .async || self == .externalAsync }
    }
    struct Vertex: Sendable {
        var kind: Kind
        /// The index in `homes`.
        var home = 0
        var reads: [(vertex: Int, catches: Bool)] = []
        var properties: [Int] = []
        var isReplaced = false
        var isDecorated = false
        /// Whether a check doesn't load it.
        var isStoodIn: Bool { kind.isExternal && !isReplaced }
        var isFixed: Bool { home > 1 }
    }

    static let homes: [Home] = [.inferred, .local, .shared, .with(\.first), .with(\.second)]
    static var overrides: [PartialKeyPath<ContainerKeys>] { [\.first, \.second, \.third] }

    private(set) var vertices: [Vertex] = []
    private(set) var overridden: [Int] = []

    init(seed: UInt64, count: Int) {
        var random = SeededGenerator(seed: seed)
        overridden = (0..<3).filter { _ in random.happens(50) }
        // Where each will live: a declared home must be possible, or what can't throw would live elsewhere, too.
        var places: [Int: Place] = [:]
        var later: [Vertex] = []
        for index in (0..<count).reversed() {
            var vertex = Vertex(kind: Kind.allCases[random.below(Kind.allCases.count)])
            vertex.home = random.happens(50) ? 0 : random.below(Self.homes.count)
            // A home with a key that nobody sets is reported.
            if vertex.home > 2, !overridden.contains(vertex.home - 3) { vertex.home = 2 }
            vertex.isReplaced = vertex.kind.isExternal && random.happens(20)
            vertex.isDecorated = random.happens(10)
            let isInChild = vertex.home > 2 && overridden.contains(vertex.home - 3)
            let deepest: Place = vertex.home < 2 ? .local : isInChild ? .child : .root
            for property in 0..<3 where random.happens(25) {
                if deepest > .root || !overridden.contains(property) { vertex.properties.append(property) }
            }
            for other in index + 1..<count where random.happens(20) {
                let isReadable = vertex.kind.isAsync || !later[other - index - 1].kind.isAsync
                if isReadable, places[other]! <= deepest { vertex.reads.append((other, random.happens(70))) }
            }
            var place = vertex.reads.map { places[$0.vertex]! }.max() ?? .root
            if vertex.properties.contains(where: overridden.contains) { place = max(place, .child) }
            places[index] = vertex.home == 0 ? place : vertex.home == 1 ? .local : deepest
            later.insert(vertex, at: 0)
        }
        vertices = later
    }

    private enum Place: Comparable { case root, child, local }

    var description: String {
        let lines = vertices.enumerated().map { index, vertex in
            let home = [".inferred", ".local", ".shared", ".with(first)", ".with(second)"][vertex.home]
            let reads =
                vertex.reads.map { ($0.catches ? "try? " : "") + "\($0.vertex)" } + vertex.properties.map { "p\($0)" }
            return
                "\(index) \(vertex.kind) \(home)\(vertex.isReplaced ? " replaced" : "")\(vertex.isDecorated ? " decorated" : "")"
                + " reads \(reads.joined(separator: ", "))"
        }
        return "overrides \(overridden)\n" + lines.joined(separator: "\n")
    }

    /// The features that nothing reads.
    var roots: [Int] {
        let read = Set(vertices.flatMap { $0.reads.map(\.vertex) })
        return vertices.indices.filter { !read.contains($0) }
    }

    /// Whether a feature is, or is made with, one that a check doesn't load.
    func isBehindStandIn(_ index: Int) -> Bool {
        vertices[index].isStoodIn || vertices[index].reads.contains { isBehindStandIn($0.vertex) }
    }

    // MARK: The loads

    static let current = Locked(RandomProgram(seed: 0, count: 0))
    /// The features that were loaded, or for which something stood in.
    static let loaded = Locked<Set<Int>>([])

    static func vertex(_ index: Int) -> Vertex { current.withLock { $0.vertices[index] } }

    static func load(_ index: Int, in container: any FeatureContainer) throws {
        let vertex = begin(index, in: container)
        for (other, catches) in vertex.reads {
            do {
                try rows[other].read(vertex.kind(of: other), container)
            } catch  where catches || !vertex.kind.canFail {}
        }
    }

    static func loadAsync(_ index: Int, in container: any FeatureContainer) async throws {
        let vertex = begin(index, in: container)
        for (other, catches) in vertex.reads {
            do {
                try await rows[other].readAsync(vertex.kind(of: other), container)
            } catch  where catches {}
        }
    }

    private static func begin(_ index: Int, in container: any FeatureContainer) -> Vertex {
        loaded.withLock { _ = $0.insert(index) }
        let vertex = vertex(index)
        for property in vertex.properties {
            _ = property == 0 ? container.first : property == 1 ? container.second : container.third
        }
        return vertex
    }
}

extension RandomProgram.Vertex {
    fileprivate func kind(of other: Int) -> RandomProgram.Kind { RandomProgram.vertex(other).kind }
}

// MARK: The features

private protocol Number: Sendable, SendableMetatype { static var index: Int { get } }
extension Number { static var home: Home { RandomProgram.homes[RandomProgram.vertex(index).home] } }

private struct Plain<N: Number>: Feature {
    static var home: Home { N.home }
    static func load(in container: any FeatureContainer) -> Plain {
        try? RandomProgram.load(N.index, in: container)
        return Plain()
    }
}
private struct Throwing<N: Number>: ThrowingFeature {
    static var home: Home { N.home }
    static func load(in container: any FeatureContainer) throws -> Throwing {
        try RandomProgram.load(N.index, in: container)
        return Throwing()
    }
}
private struct Async<N: Number>: AsyncFeature {
    static var home: Home { N.home }
    static func load(in container: any FeatureContainer) async throws -> Async {
        try await RandomProgram.loadAsync(N.index, in: container)
        return Async()
    }
}
private struct Outside<N: Number>: Feature, External {
    static var home: Home { N.home }
    static var placeholder: Outside { Outside() }
    static func load(in container: any FeatureContainer) -> Outside {
        try? RandomProgram.load(N.index, in: container)
        return Outside()
    }
}
private struct ThrowingOutside<N: Number>: ThrowingFeature, External {
    static var home: Home { N.home }
    static func load(in container: any FeatureContainer) throws -> ThrowingOutside {
        try RandomProgram.load(N.index, in: container)
        return ThrowingOutside()
    }
}
private struct AsyncOutside<N: Number>: AsyncFeature, External {
    static var home: Home { N.home }
    static func load(in container: any FeatureContainer) async throws -> AsyncOutside {
        try await RandomProgram.loadAsync(N.index, in: container)
        return AsyncOutside()
    }
}
private struct Tested<N: Number>: Feature, External {
    static var home: Home { N.home }
    static func load(in container: any FeatureContainer) -> Tested {
        try? RandomProgram.load(N.index, in: container)
        return Tested()
    }
    /// Reads what the feature may not read.
    static func testValue(in container: any FeatureContainer) -> Tested {
        _ = (container.first, container.second)
        return Tested()
    }
}

/// The features with one number, one of each kind.
private struct Row: Sendable {
    let names: [RandomProgram.Kind: String]
    let read: @Sendable (RandomProgram.Kind, any FeatureContainer) throws -> Void
    let readAsync: @Sendable (RandomProgram.Kind, any FeatureContainer) async throws -> Void
    let list: @Sendable (RandomProgram.Kind, inout WarmUpList) -> Void
    /// Replaces and decorates the feature as the program does.
    let configure: @Sendable (RandomProgram.Vertex, Container) -> Void

    init<N: Number>(_: N.Type) {
        // Optimized, a private type's own text would be its mangled name.
        func name<K: ContainerKey>(_: K.Type) -> String { K._key.key.name }
        names = [
            .plain: name(Plain<N>.self), .throwing: name(Throwing<N>.self), .async: name(Async<N>.self),
            .external: name(Outside<N>.self), .externalThrowing: name(ThrowingOutside<N>.self),
            .externalAsync: name(AsyncOutside<N>.self), .tested: name(Tested<N>.self),
        ]
        let read: @Sendable (RandomProgram.Kind, any FeatureContainer) throws -> Void = { kind, container in
            switch kind {
            case .plain: _ = container[Plain<N>.self]
            case .throwing: _ = try container[Throwing<N>.self]
            case .external: _ = container[Outside<N>.self]
            case .externalThrowing: _ = try container[ThrowingOutside<N>.self]
            case .tested: _ = container[Tested<N>.self]
            case .async, .externalAsync: Issue.record("can't be read without waiting")
            }
        }
        self.read = read
        readAsync = { kind, container in
            switch kind {
            case .async: _ = try await container[Async<N>.self]
            case .externalAsync: _ = try await container[AsyncOutside<N>.self]
            default: try read(kind, container)
            }
        }
        list = { kind, list in
            switch kind {
            case .plain: list.load(Plain<N>.self)
            case .throwing: list.load(Throwing<N>.self)
            case .async: list.load(Async<N>.self)
            case .external: list.load(Outside<N>.self)
            case .externalThrowing: list.load(ThrowingOutside<N>.self)
            case .externalAsync: list.load(AsyncOutside<N>.self)
            case .tested: list.load(Tested<N>.self)
            }
        }
        configure = { vertex, container in
            if vertex.isReplaced {
                switch vertex.kind {
                case .external: container.replace(Outside<N>.self) { Outside<N>.load(in: $0) }
                case .externalThrowing:
                    container.replace(ThrowingOutside<N>.self) { try ThrowingOutside<N>.load(in: $0) }
                case .externalAsync:
                    container.replace(AsyncOutside<N>.self) { try await AsyncOutside<N>.load(in: $0) }
                case .tested: container.replace(Tested<N>.self) { Tested<N>.load(in: $0) }
                default: break
                }
            }
            guard vertex.isDecorated else { return }
            switch vertex.kind {
            case .plain: container.decorate(Plain<N>.self) { made, _ in made }
            case .throwing: container.decorate(Throwing<N>.self) { made, _ in made }
            case .async: container.decorate(Async<N>.self) { made, _ in made }
            case .external: container.decorate(Outside<N>.self) { made, _ in made }
            case .externalThrowing: container.decorate(ThrowingOutside<N>.self) { made, _ in made }
            case .externalAsync: container.decorate(AsyncOutside<N>.self) { made, _ in made }
            case .tested: container.decorate(Tested<N>.self) { made, _ in made }
            }
        }
    }
}

private enum N0: Number { static var index: Int { 0 } }
private enum N1: Number { static var index: Int { 1 } }
private enum N2: Number { static var index: Int { 2 } }
private enum N3: Number { static var index: Int { 3 } }
private enum N4: Number { static var index: Int { 4 } }
private enum N5: Number { static var index: Int { 5 } }
private enum N6: Number { static var index: Int { 6 } }
private enum N7: Number { static var index: Int { 7 } }
private let rows = [
    Row(N0.self), Row(N1.self), Row(N2.self), Row(N3.self), Row(N4.self), Row(N5.self), Row(N6.self), Row(N7.self),
]

// MARK: The comparison

@Suite("Checks and the real graphs") struct CheckHomesTests {
    /// What a check says, by the titles of its text.
    private struct Said {
        let text: String
        private var names: [String: Set<String>] = [:]

        init(_ text: String) {
            self.text = text
            var title = ""
            for line in text.split(separator: "\n") where !line.hasPrefix("    ") {
                guard line.hasPrefix("  ") else {
                    title = line.hasPrefix("lives where ") ? "lives where" : "\(line)"
                    continue
                }
                let name = line.dropFirst(2).prefix { $0 != ":" }
                names[title, default: []].insert("\(name)")
            }
        }

        subscript(title: String) -> Set<String> { names[title] ?? [] }
        var all: Set<String> { Set(names.values.joined()) }
    }

    /// Where features really live.
    private struct Real {
        var root: Set<String> = []
        var child: Set<String> = []
        var local: Set<String> = []

        init(_ graph: ContainerGraph) {
            for entry in graph.entries where entry.state == .loaded && entry.kind != .property {
                if entry.isLocal {
                    local.insert(entry.name)
                } else if entry.depth == 0 {
                    root.insert(entry.name)
                } else {
                    child.insert(entry.name)
                }
            }
        }
    }

    @Test("A check says where features really live, of random programs with external features and homes (law 11)")
    func random() async throws {
        var seen: [String: Int] = [:]
        let first = seeds(1, for: "checks")[0]
        for seed in first..<first + 3_000 {
            let program = RandomProgram(seed: seed, count: rows.count)
            RandomProgram.current.withLock { $0 = program }
            func list(_ list: inout WarmUpList) {
                for index in program.roots { rows[index].list(program.vertices[index].kind, &list) }
            }
            let root = Container.program().unreported
            for (row, vertex) in zip(rows, program.vertices) { row.configure(vertex, root) }
            RandomProgram.loaded.withLock { $0 = [] }
            // A parameter pack can't be made from an array.
            let keys = program.overridden.map { RandomProgram.overrides[$0] }
            let said: Said
            switch keys.count {
            case 0: said = Said("\(await root.check(loading: list))")
            case 1: said = Said("\(await root.check(overriding: keys[0], loading: list))")
            case 2: said = Said("\(await root.check(overriding: keys[0], keys[1], loading: list))")
            default: said = Said("\(await root.check(overriding: keys[0], keys[1], keys[2], loading: list))")
            }
            let reached = RandomProgram.loaded.withLock { $0 }
            let child = root.child { child in
                for index in program.overridden {
                    switch index {
                    case 0: child.first = child.first
                    case 1: child.second = child.second
                    default: child.third = child.third
                    }
                }
            }
            for index in program.roots {
                try? await rows[index].readAsync(program.vertices[index].kind, child)
            }
            let faults = compare(said, Real(child.graph), program, reached, &seen)
            if !faults.isEmpty {
                Issue.record(
                    "seed \(seed): \(faults.joined(separator: "; "))\n\(program)\n\(said.text)\n\(child.graph)")
            }
        }
        for title in ["root", "child", "local", "unknown in the root", "unknown in the child"] {
            expect(seen[title, default: 0] > 0, "no program had a feature \(title)")
        }
    }

    private func compare(
        _ said: Said, _ real: Real, _ program: RandomProgram, _ reached: Set<Int>, _ seen: inout [String: Int]
    ) -> [String] {
        let (root, child) = (said["lives in the root"], said["lives where"])
        let local = said["lives in each container that reads it"]
        let unknown = said["depends on features that weren't loaded"]
        var faults: [String] = []
        for (index, vertex) in program.vertices.enumerated() {
            let name = rows[index].names[vertex.kind]!
            let isBehind = program.isBehindStandIn(index)
            let lives = real.root.contains(name) || real.child.contains(name) || real.local.contains(name)
            func compare(_ said: Set<String>, _ real: Set<String>, _ words: String) {
                if said.contains(name) { seen[words, default: 0] += 1 }
                if said.contains(name), !real.contains(name), lives { faults.append("\(name) isn't \(words)") }
                if !said.contains(name), real.contains(name), reached.contains(index), !isBehind {
                    faults.append("\(name) is \(words)")
                }
            }
            compare(root, real.root, "root")
            compare(child, isBehind ? real.child.union(real.local) : real.child, "child")
            compare(local, real.local, "local")
            if unknown.contains(name) {
                if !isBehind || vertex.isStoodIn || vertex.isFixed || vertex.home == 1 {
                    faults.append("it is known where \(name) lives")
                }
                if real.root.contains(name) { seen["unknown in the root", default: 0] += 1 }
                if real.child.contains(name) { seen["unknown in the child", default: 0] += 1 }
            }
            if reached.contains(index), lives, !said.all.contains(name) { faults.append("\(name) isn't listed") }
        }
        return faults
    }
}
