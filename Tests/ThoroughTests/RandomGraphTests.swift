import Foundation
import FuguInspection
import Support
import Testing

@testable import Fugu

private enum Tenant: Property { static var defaultValue: String { "root" } }

extension Container {
    /// Returns when no closer of an instance that left early is under way.
    fileprivate func untilClosersRan() async {
        let root = node.ancestor(at: 0)
        while root.family.lock.withLock({ token in
            root.subtree(token).contains { $0.storage[token].rare?.closing.runs.isEmpty == false }
        }) {
            await Task.yield()
        }
    }
}

@Suite("Random graphs of async features") struct RandomGraphTests {}

extension RandomGraphTests {
    /// `FUGU_GRAPHS=…` makes as many graphs.
    @Test("Random graphs with failures and cancellations end, load nothing twice and close all once (laws 4, 5, 18)")
    func graphs() async {
        let given = ProcessInfo.processInfo.environment["FUGU_GRAPHS"].flatMap { UInt64($0) }
        await run(seeds: 0..<(given ?? 2_000))
    }

    /// Runs a graph for each seed, some at a time, and ends even if one of them does not.
    private func run(seeds: Range<UInt64>) async {
        let (next, done, running) = (Locked(seeds.lowerBound), Counter(), Locked<[UInt64: World]>([:]))
        let (over, faulty) = (Gate(), Counter())
        let lanes = 4
        for _ in 0..<lanes {
            Task.detached {
                while let seed = next.withLock({ next -> UInt64? in
                    guard next < seeds.upperBound else { return nil }
                    defer { next += 1 }
                    return next
                }) {
                    let world = World(RandomGraph(seed: seed))
                    running.withLock { $0[seed] = world }
                    let faults = await world.run()
                    running.withLock { _ = $0.removeValue(forKey: seed) }
                    if !faults.isEmpty, faulty.add() <= 10 {
                        Issue.record("seed \(seed), \(world.graph.mode): \(faults.joined(separator: "; "))")
                    }
                    if done.add() == seeds.count { over.open() }
                }
            }
        }
        watch(done, running, over)
        await over.opened()
        expect(faulty.value, equals: 0)
        expect(done.value, equals: seeds.count)
    }

    /// Ends the test when no graph has ended for ten minutes, and prints who waits for whom.
    ///
    /// Other tests may keep the pool's threads busy for long.
    private func watch(_ done: Counter, _ running: Locked<[UInt64: World]>, _ over: Gate) {
        Thread.detachNewThread {
            var (last, still) = (-1, 0)
            while !over.isOpen {
                Thread.sleep(forTimeInterval: 0.5)
                still = done.value == last ? still + 1 : 0
                last = done.value
                guard still > 1_200 else { continue }
                for (seed, world) in running.withLock({ $0 }) {
                    print("seed \(seed), \(world.graph.mode), does not end:\n\(world.waits)")
                }
                over.open()
            }
        }
    }
}

extension World {
    /// Lets the readers read and disturbs them.
    ///
    /// Returns what was wrong.
    func run() async -> [String] {
        let root = Container.program()
        let reports = root.logReports()
        root[Place.self] = self
        let containers = (0..<graph.containers).map { index in
            let container = index == 0 ? root : root.child()
            if let tenant = graph.tenants[index] { container[Tenant.self] = tenant }
            return container
        }
        // Releasing a container closes nothing.
        defer { withExtendedLifetime(containers) {} }
        let readers = graph.readers.enumerated().map { index, reader in
            Task {
                for _ in 0..<reader.suspensions { await Task.yield() }
                return try await self.read(reader.vertex, in: containers[reader.container], for: "reader \(index)")
            }
        }
        for disturbance in graph.disturbances {
            await Task.yield()
            await disturb(disturbance, readers, containers)
        }
        var answers: [Answer] = []
        for (reader, task) in zip(graph.readers, readers) {
            answers.append(Answer(reader: reader, result: await task.result))
        }
        let closedBefore = now.closed
        do { try await root.close() } catch { violate("close: \(error)") }
        if graph.mode == .churning { await root.untilClosersRan() }
        // That instances with closers are made again for children, and that others stay as they are, is what these graphs are about.
        let expected = ["loads again for a child container", "keeps the old value"]
        for report in reports.all where !expected.contains(where: report.contains) { violate("reported: \(report)") }
        return verdict(on: answers, closedBefore: closedBefore)
    }

    private func disturb(
        _ disturbance: RandomGraph.Disturbance, _ readers: [Task<Loaded, any Error>], _ containers: [Container]
    ) async {
        switch disturbance {
        case .cancel(let reader): readers[reader].cancel()
        case .reset(let vertex, let container): Self.changes[vertex](containers[container], nil)
        case .set(let vertex, let container): Self.changes[vertex](containers[container], Loaded(load: -1, needs: []))
        case .setTenant(let container): containers[container][Tenant.self] = "tenant \(container)"
        case .resetTenant(let container): containers[container].reset(Tenant.self)
        case .close(let container): do { try await containers[container].close() } catch { violate("close: \(error)") }
        }
    }
}

/// The features to load, their readers, and the mishaps meanwhile.
struct RandomGraph: Sendable {
    static let vertexLimit = 8

    /// One feature.
    struct Vertex: Sendable {
        var needs: [Int] = []
        /// Whether it reads its needs at once instead of one after the other.
        var isParallel = false
        /// Whether each tenant has its own.
        var readsTenant = false
        /// How many of its loads fail, the first ones.
        var failures = 0
        /// Whether its load goes on when it is cancelled.
        var isStubborn = false
        /// How often its load suspends.
        var suspensions = 0
    }

    /// One task that reads.
    struct Reader: Sendable {
        let vertex: Int
        let container: Int
        let suspensions: Int
        let isCancelled: Bool
    }

    /// Something that the test does while the readers run.
    enum Disturbance: Sendable {
        case cancel(reader: Int)
        case reset(vertex: Int, container: Int)
        case set(vertex: Int, container: Int)
        case setTenant(container: Int)
        case resetTenant(container: Int)
        case close(container: Int)
    }

    enum Mode: CaseIterable, Sendable {
        /// Nothing is cancelled.
        case calm
        /// Readers are cancelled.
        case cancelling
        /// Some features need themselves.
        case cyclic
        /// Features and their inputs are set and reset, containers closed.
        case churning
    }

    let seed: UInt64
    let mode: Mode
    var vertices: [Vertex]
    var readers: [Reader] = []
    var disturbances: [Disturbance] = []
    /// The root and children; those with a tenant have their own copies.
    let containers = 3
    let tenants: [Int: String] = [1: "one"]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        mode = Mode.allCases[Int(seed % UInt64(Mode.allCases.count))]
        vertices = Array(repeating: Vertex(), count: 2 + random.below(Self.vertexLimit - 1))
        addVertices(&random)
        addReaders(&random)
    }

    private mutating func addVertices(_ random: inout SeededGenerator) {
        let (failing, parallel) = (random.happens(50) ? 30 : 0, random.happens(50) ? 50 : 0)
        let density = 20 + random.below(50)
        for index in vertices.indices.reversed() {
            var vertex = Vertex()
            for other in vertices.indices where other > index && random.happens(density) { vertex.needs.append(other) }
            vertex.needs.shuffle(using: &random)
            vertex.isParallel = random.happens(parallel)
            vertex.readsTenant = random.happens(15) || vertex.needs.contains { vertices[$0].readsTenant }
            vertex.failures = random.happens(failing) ? 1 + random.below(2) : 0
            vertex.isStubborn = random.happens(30)
            vertex.suspensions = random.below(4)
            vertices[index] = vertex
        }
        guard mode == .cyclic else { return }
        let high = random.below(vertices.count)
        vertices[high].needs.append(random.below(high + 1))
        // If it reads the tenant, so must each feature that needs it: the model derives homes from this.
        for _ in vertices {
            for index in vertices.indices where vertices[index].needs.contains(where: { vertices[$0].readsTenant }) {
                vertices[index].readsTenant = true
            }
        }
    }

    private mutating func addReaders(_ random: inout SeededGenerator) {
        let cancelled = mode == .calm ? 0 : 30
        for index in 0..<(2 + random.below(7)) {
            let reader = Reader(
                vertex: random.happens(60) ? 0 : random.below(vertices.count), container: random.below(containers),
                suspensions: random.below(3), isCancelled: random.happens(cancelled))
            readers.append(reader)
            if reader.isCancelled { disturbances.append(.cancel(reader: index)) }
        }
        if mode == .churning {
            for _ in 0..<random.below(6) { addChurn(&random) }
            if random.happens(30) { disturbances.append(.close(container: random.below(containers))) }
        }
        disturbances.shuffle(using: &random)
    }

    private mutating func addChurn(_ random: inout SeededGenerator) {
        let (vertex, container) = (random.below(vertices.count), random.below(containers))
        switch random.below(5) {
        case 0, 1: disturbances.append(.reset(vertex: vertex, container: container))
        case 2: disturbances.append(.set(vertex: vertex, container: container))
        case 3: disturbances.append(.setTenant(container: container))
        default: disturbances.append(.resetTenant(container: container))
        }
    }

    /// Whether nothing can make a load stop early, so that every begun load counts.
    var isStrict: Bool {
        mode == .calm && !(vertices.contains(where: \.isParallel) && vertices.contains { $0.failures > 0 })
    }

    /// The home that the model expects for a feature that is read in a container.
    func home(of vertex: Int, askedIn container: Int) -> String {
        vertices[vertex].readsTenant ? tenants[container] ?? "root" : "root"
    }

    /// The features that need themselves, directly or through others.
    var round: Set<Int> { Set(vertices.indices.filter { reach(of: $0).contains($0) }) }

    /// All that a feature needs.
    func reach(of vertex: Int) -> Set<Int> {
        var seen: Set<Int> = []
        var open = vertices[vertex].needs
        while let next = open.popLast() {
            if seen.insert(next).inserted { open += vertices[next].needs }
        }
        return seen
    }
}

/// The kind of feature that a vertex becomes.
final class Loaded: Sendable {
    let load: Int
    let needs: [Loaded]
    init(load: Int, needs: [Loaded]) {
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
        /// Whether it is known to have been cancelled, or to fail because a need has: later readers don't join it.
        var isLeft = false
        var needs: [(vertex: Int, made: Loaded)] = []
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
    func read(_ vertex: Int, in container: any FeatureContainer, for who: String) async throws -> Loaded {
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
    func load(_ number: Int, _ container: any FeatureContainer) async throws -> Loaded {
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
            return Loaded(load: id, needs: needs)
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
    ) async throws -> [Loaded] {
        let who = "load \(id) of V\(vertex(of: id))"
        var made: [Loaded] = []
        if isParallel {
            try await withThrowingTaskGroup(of: (Int, Loaded).self) { group in
                for need in needs { group.addTask { (need, try await self.readNeed(need, id, container, for: who)) } }
                for try await (need, one) in group {
                    note(need, one, id)
                    made.append(one)
                }
            }
        } else {
            for need in needs {
                let one = try await readNeed(need, id, container, for: who)
                note(need, one, id)
                made.append(one)
            }
        }
        return made
    }

    private func readNeed(
        _ need: Int, _ id: Int, _ container: any FeatureContainer, for who: String
    ) async throws -> Loaded {
        do { return try await read(need, in: container, for: who) } catch {
            state.withLock { $0.loads[id].isLeft = true }
            throw error
        }
    }

    private func note(_ need: Int, _ made: Loaded, _ id: Int) {
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
        // Only a load whose last waiter has left, or of which a need has failed, may run beside another one. Its task learns of
        // it at once, but perhaps a moment after the other has begun, or before it begins itself.
        for _ in 0..<5_000 {
            if mayEnd(id, end) { return }
            try? await Task.sleep(for: .milliseconds(1))
        }
        violate("load \(id) of V\(vertex(of: id)) ran twice at a time")
        state.withLock { $0.loads[id].end = end }
    }

    /// Ends a load, unless it runs beside another one, and readers may join both.
    private func mayEnd(_ id: Int, _ end: Load.End) -> Bool {
        let isCancelled = Task.isCancelled
        return state.withLock { state in
            if isCancelled { state.loads[id].isLeft = true }
            let isAlone = state.loads[id].overlaps.allSatisfy { state.loads[$0].isLeft }
            guard state.loads[id].isLeft || isAlone || ![.calm, .cancelling].contains(graph.mode) else { return false }
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
        static func load(in container: any FeatureContainer) async throws -> Loaded {
            try await container[Place.self]!.load(I.number, container)
        }
    }

    typealias Read = @Sendable (any FeatureContainer) async throws -> Loaded
    static let readers: [Read] = [
        { try await $0[Vertex<V0>.self] }, { try await $0[Vertex<V1>.self] }, { try await $0[Vertex<V2>.self] },
        { try await $0[Vertex<V3>.self] }, { try await $0[Vertex<V4>.self] }, { try await $0[Vertex<V5>.self] },
        { try await $0[Vertex<V6>.self] }, { try await $0[Vertex<V7>.self] },
    ]

    private static func change<I: Index>(_: Vertex<I>.Type) -> (@Sendable (Container, Loaded?) -> Void) {
        { container, made in
            if let made { container.set(Vertex<I>.self, to: made) } else { container.reset(Vertex<I>.self) }
        }
    }

    /// Sets a vertex, or resets it if it is given nothing.
    static let changes: [@Sendable (Container, Loaded?) -> Void] = [
        change(Vertex<V0>.self), change(Vertex<V1>.self), change(Vertex<V2>.self), change(Vertex<V3>.self),
        change(Vertex<V4>.self), change(Vertex<V5>.self), change(Vertex<V6>.self), change(Vertex<V7>.self),
    ]
}

/// How a reader ended.
struct Answer: Sendable {
    let reader: RandomGraph.Reader
    let result: Result<Loaded, any Error>
}

extension World {
    /// Events that the laws forbid.
    func verdict(on answers: [Answer], closedBefore: [Int]) -> [String] {
        let state = now
        var faults = state.violations
        for (id, load) in state.loads.enumerated() {
            let count = state.closed.count { $0 == id }
            if count != 1 { faults.append("the closer of load \(id) of V\(load.vertex) ran \(count) times") }
        }
        if graph.mode != .churning { faults += faultsOfOrder(state) }
        faults += answers.flatMap { judge($0) }
        switch graph.mode {
        case .calm, .cancelling:
            faults += faultsOfIdentity(state, answers, closedBefore)
            if graph.isStrict { faults += faultsOfNumber(state) }
        case .cyclic, .churning: break
        }
        return faults
    }

    /// Dependents are closed before their inputs.
    private func faultsOfOrder(_ state: State) -> [String] {
        var place: [Int: Int] = [:]
        for (index, id) in state.closed.enumerated() { place[id] = index }
        return state.loads.enumerated().flatMap { id, load in
            load.needs.compactMap { need in
                guard let own = place[id], let other = place[need.made.load], own > other else { return nil }
                return "load \(id) of V\(load.vertex) was closed after V\(need.vertex), which it was made from"
            }
        }
    }

    private func judge(_ answer: Answer) -> [String] {
        let vertex = answer.reader.vertex
        let round = graph.round
        let isRound = round.contains(vertex) || !round.isDisjoint(with: graph.reach(of: vertex))
        switch answer.result {
        case .success: return isRound && graph.mode == .cyclic ? ["V\(vertex) loaded though it needs itself"] : []
        case .failure(is CancellationError):
            return answer.reader.isCancelled ? [] : ["a reader of V\(vertex) that was not cancelled was released"]
        case .failure(let error as LoadError):
            if graph.mode == .churning { return error.description.contains("is closed") ? [] : ["\(error)"] }
            return isRound && isWay(error.path) ? [] : ["V\(vertex) threw \(error.path)"]
        case .failure(let boom as Boom):
            let culprits = graph.reach(of: vertex).union([vertex]).filter { graph.vertices[$0].failures > 0 }
            return culprits.contains { boom.name == "V\($0)" } ? [] : ["V\(vertex) threw \(boom)"]
        case .failure(let error): return ["V\(vertex) threw \(error)"]
        }
    }

    /// Whether a path follows the graph and ends with a key that it has already.
    ///
    /// A load on the way that ended meanwhile, because it was cancelled, is left out of the way.
    private func isWay(_ path: [String]) -> Bool {
        let numbers = path.compactMap { name in (0..<graph.vertices.count).first { name == "Vertex<V\($0)>" } }
        guard numbers.count == path.count, let last = numbers.last, numbers.dropLast().contains(last) else {
            return false
        }
        return zip(numbers, numbers.dropFirst()).allSatisfy { graph.reach(of: $0).contains($1) }
    }

    /// Everyone gets the one instance that is kept, which is not closed before the container.
    private func faultsOfIdentity(_ state: State, _ answers: [Answer], _ closedBefore: [Int]) -> [String] {
        var kept: [String: Int] = [:]
        var faults: [String] = []
        func see(_ vertex: Int, _ home: String, _ made: Loaded) {
            let name = "V\(vertex) of \(home)"
            if kept[name, default: made.load] != made.load { faults.append("\(name) was given in two instances") }
            kept[name] = made.load
            if state.loads[made.load].home != home {
                faults.append("\(name) was made for \(state.loads[made.load].home)")
            }
        }
        for answer in answers {
            guard case .success(let made) = answer.result else { continue }
            see(answer.reader.vertex, graph.home(of: answer.reader.vertex, askedIn: answer.reader.container), made)
        }
        for load in state.loads {
            for need in load.needs {
                see(need.vertex, graph.vertices[need.vertex].readsTenant ? load.home : "root", need.made)
            }
        }
        for (name, id) in kept where closedBefore.contains(id) { faults.append("\(name) was closed while it was kept") }
        return faults
    }

    /// Where nothing is cancelled, a load is only repeated because it failed.
    private func faultsOfNumber(_ state: State) -> [String] {
        Dictionary(grouping: state.loads) { "V\($0.vertex) of \($0.home)" }.compactMap { name, loads in
            let successes = loads.count { $0.end == .success }
            if successes > 1 { return "\(name) was loaded \(successes) times" }
            if loads.contains(where: { !$0.overlaps.isEmpty }) { return "\(name) was loaded twice at a time" }
            return loads.dropLast().contains { $0.end == .success } ? "\(name) was loaded again after a success" : nil
        }
    }
}
