import Fugu
import FuguInspection

/// The kind of feature that a vertex becomes.
final class Made: Sendable {
    let load: Int
    let needs: [Made]
    init(load: Int, needs: [Made]) {
        self.load = load
        self.needs = needs
    }
}

/// The world of one graph: loads report to it what they do, and it knows what they may.
final class World: Sendable {
    enum Place: Property {
        static var defaultValue: World? { nil }
    }

    /// One run of a vertex's load.
    struct Load {
        enum End: Equatable { case none, success, failure }
        let vertex: Int
        let home: String
        var end = End.none
        /// Loads of the same that ran at the same time for a while.
        var overlaps: [Int] = []
        /// Whether it is known to have been cancelled.
        var isCancelled = false
        var needs: [(vertex: Int, made: Made)] = []
    }

    struct State {
        var loads: [Load] = []
        var failuresLeft: [Int] = []
        /// Whose closers ran, in order.
        var closed: [Int] = []
        var violations: [String] = []
        /// The waiters of each vertex, for the watchdog.
        var waits: [String: [Int]] = [:]
    }

    let graph: RandomGraph
    private let state: Locked<State>

    init(_ graph: RandomGraph) {
        self.graph = graph
        state = Locked(State(failuresLeft: graph.vertices.map(\.failures)))
    }

    var now: State { state.withLock { $0 } }

    /// Read under the lock, not from a copy: of the counts by which a copy is known to be gone the thread sanitizer knows
    /// nothing.
    private func vertex(of id: Int) -> Int { state.withLock { $0.loads[id].vertex } }

    func violate(_ text: String) { state.withLock { $0.violations.append(text) } }

    /// The waiters and what they wait for, one line each.
    var waits: String {
        let waits = now.waits.filter { !$0.value.isEmpty }
        return waits.map { "  \($0.key) waits for V\($0.value.map(String.init).joined(separator: ", V"))" }.sorted()
            .joined(separator: "\n")
    }

    /// Reads a vertex on behalf of `who`.
    func read(_ vertex: Int, in container: any FeatureContainer, for who: String) async throws -> Made {
        state.withLock { $0.waits[who, default: []].append(vertex) }
        defer {
            state.withLock { state in
                guard let index = state.waits[who]?.firstIndex(of: vertex) else { return }
                state.waits[who]?.remove(at: index)
            }
        }
        return try await Self.readers[vertex](container)
    }

    /// The load of a vertex.
    func load(_ number: Int, _ container: any FeatureContainer) async throws -> Made {
        let vertex = graph.vertices[number]
        let home = vertex.readsTenant ? container[Tenant.self] : "root"
        let id = begin(number, home)
        container.onClose { [self] in state.withLock { $0.closed.append(id) } }
        do {
            try await suspend(vertex)
            let needs = try await read(vertex.needs, id, vertex.isParallel, container)
            try fail(number, id)
            try await suspend(vertex)
            await end(id, .success)
            return Made(load: id, needs: needs)
        } catch {
            await end(id, .failure)
            throw error
        }
    }

    private func suspend(_ vertex: RandomGraph.Vertex) async throws {
        for _ in 0..<vertex.suspensions {
            await Task.yield()
            if !vertex.isStubborn { try Task.checkCancellation() }
        }
    }

    private func read(
        _ needs: [Int], _ id: Int, _ isParallel: Bool, _ container: any FeatureContainer
    ) async throws -> [Made] {
        let who = "load \(id) of V\(vertex(of: id))"
        var made: [Made] = []
        if isParallel {
            try await withThrowingTaskGroup(of: (Int, Made).self) { group in
                for need in needs { group.addTask { (need, try await self.read(need, in: container, for: who)) } }
                for try await (need, one) in group {
                    note(need, one, id)
                    made.append(one)
                }
            }
        } else {
            for need in needs {
                let one = try await read(need, in: container, for: who)
                note(need, one, id)
                made.append(one)
            }
        }
        return made
    }

    private func note(_ need: Int, _ made: Made, _ id: Int) {
        state.withLock { $0.loads[id].needs.append((need, made)) }
    }

    private func begin(_ vertex: Int, _ home: String) -> Int {
        state.withLock { state in
            let id = state.loads.count
            var load = Load(vertex: vertex, home: home)
            for index in state.loads.indices {
                let other = state.loads[index]
                guard other.vertex == vertex, other.home == home, other.end == .none else { continue }
                load.overlaps.append(index)
                state.loads[index].overlaps.append(id)
            }
            state.loads.append(load)
            return id
        }
    }

    private func fail(_ vertex: Int, _ id: Int) throws {
        let fails = state.withLock { state in
            guard state.failuresLeft[vertex] > 0 else { return false }
            state.failuresLeft[vertex] -= 1
            return true
        }
        if fails { throw Boom("V\(vertex)") }
    }

    private func end(_ id: Int, _ end: Load.End) async {
        // Only a load whose last waiter has left may run beside another one. Its task learns of it at once, but perhaps a
        // moment after the other has begun, or before it begins itself.
        for _ in 0..<5_000 {
            if mayEnd(id, end) { return }
            try? await Task.sleep(for: .milliseconds(1))
        }
        violate("load \(id) of V\(vertex(of: id)) ran twice at a time")
        state.withLock { $0.loads[id].end = end }
    }

    /// Ends a load, unless it runs beside another one and neither is cancelled.
    private func mayEnd(_ id: Int, _ end: Load.End) -> Bool {
        let isCancelled = Task.isCancelled
        return state.withLock { state in
            if isCancelled { state.loads[id].isCancelled = true }
            let isAlone = state.loads[id].overlaps.allSatisfy { state.loads[$0].isCancelled }
            guard isCancelled || isAlone || ![.calm, .cancelling].contains(graph.mode) else { return false }
            state.loads[id].end = end
            return true
        }
    }
}

extension World {
    protocol Index: SendableMetatype {
        static var number: Int { get }
    }
    enum V0: Index { static var number: Int { 0 } }
    enum V1: Index { static var number: Int { 1 } }
    enum V2: Index { static var number: Int { 2 } }
    enum V3: Index { static var number: Int { 3 } }
    enum V4: Index { static var number: Int { 4 } }
    enum V5: Index { static var number: Int { 5 } }
    enum V6: Index { static var number: Int { 6 } }
    enum V7: Index { static var number: Int { 7 } }

    struct Vertex<I: Index>: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Made {
            try await container[Place.self]!.load(I.number, container)
        }
    }

    typealias Read = @Sendable (any FeatureContainer) async throws -> Made
    static let readers: [Read] = [
        { try await $0[Vertex<V0>.self] }, { try await $0[Vertex<V1>.self] }, { try await $0[Vertex<V2>.self] },
        { try await $0[Vertex<V3>.self] }, { try await $0[Vertex<V4>.self] }, { try await $0[Vertex<V5>.self] },
        { try await $0[Vertex<V6>.self] }, { try await $0[Vertex<V7>.self] },
    ]

    private static func change<I: Index>(_: Vertex<I>.Type) -> (@Sendable (Container, Made?) -> Void) {
        { container, made in
            if let made { container.set(Vertex<I>.self, to: made) } else { container.reset(Vertex<I>.self) }
        }
    }

    /// Sets a vertex, or resets it if it is given nothing.
    static let changes: [@Sendable (Container, Made?) -> Void] = [
        change(Vertex<V0>.self), change(Vertex<V1>.self), change(Vertex<V2>.self), change(Vertex<V3>.self),
        change(Vertex<V4>.self), change(Vertex<V5>.self), change(Vertex<V6>.self), change(Vertex<V7>.self),
    ]
}
