/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func happens(_ percent: Int) -> Bool { below(100) < percent }
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
