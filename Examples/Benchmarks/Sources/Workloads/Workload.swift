import CHeap
import Fugu

/// Something that can be done many times in a row, and timed.
public struct Workload {
    /// The work of one iteration.
    public enum Body {
        /// Runs `n` times and returns a number computed from all results, so that the compiler can't remove any.
        case plain((_ n: Int) -> Int)
        /// The same for asynchronous work.
        case async((_ n: Int) async throws -> Int)
    }

    /// The name of the measurement, unique among all workloads.
    public let name: String
    /// How many threads do it at once, to the same objects.
    public let threads: Int
    /// How many operations one iteration stands for: 40 in a chain of 40 loads.
    public let operations: Int
    /// The operation, in a loop, so that the cost of a call isn't counted with each iteration.
    public let body: Body

    init(_ name: String, threads: Int = 1, operations: Int = 1, _ body: @escaping (_ n: Int) -> Int) {
        self.name = threads == 1 ? name : "\(name), \(threads) threads"
        self.threads = threads
        self.operations = operations
        self.body = .plain(body)
    }

    init(async name: String, operations: Int = 1, _ body: @escaping (_ n: Int) async throws -> Int) {
        self.name = name
        threads = 1
        self.operations = operations
        self.body = .async(body)
    }
}

/// The bound of a workload, mostly relative to others that are measured in turn with it.
public struct Bound {
    /// The bound in words, as the table shows it.
    public let text: String
    /// The nanoseconds it may take, given those of the row's baselines.
    public let limit: (_ baselines: [Double]) -> Double

    /// At least `factor` times as fast as the first baseline.
    static func faster(_ factor: Double) -> Bound {
        Bound(text: "≥ \(factor.short) × faster") { $0[0] / factor }
    }

    /// At most `factor` times as long as the first baseline.
    static func times(_ factor: Double) -> Bound {
        Bound(text: "≤ \(factor.short) ×") { $0[0] * factor }
    }

    /// At most `factor` times as long as the first baseline plus the second one.
    static func times(_ factor: Double, plus second: String) -> Bound {
        Bound(text: "≤ \(factor.short) × + \(second)") { $0[0] * factor + $0[1] }
    }

    /// At most `nanoseconds` longer than the first baseline, which is the named part of the subject.
    static func nanoseconds(_ nanoseconds: Double, beyond part: String) -> Bound {
        Bound(text: "≤ \(part) + \(nanoseconds.short) ns") { $0[0] + nanoseconds }
    }

    static func nanoseconds(_ nanoseconds: Double) -> Bound {
        Bound(text: "≤ \(nanoseconds.short) ns") { _ in nanoseconds }
    }
}

/// A line of the table: a workload beside what it is compared with.
public struct Row {
    /// The subject of the row.
    public let subject: Workload
    /// Measured in turn with the subject, in every round.
    public let baselines: [Workload]
    /// Nil where the row only informs.
    public let bound: Bound?
    /// How many times its bound the row is known to need, where the bound was not reached yet: more is a step back.
    public let reached: Double

    init(_ subject: Workload, beside baselines: Workload..., bound: Bound? = nil, reached: Double = 1) {
        self.subject = subject
        self.baselines = baselines
        self.bound = bound
        self.reached = reached
    }
}

extension Double {
    /// With no more digits than a reader needs: 1,204, 43, 2.4, 0.31.
    public var short: String {
        guard isFinite, self > 0 else { return "\(self)" }
        let factor: Double = self >= 20 ? 1 : self >= 2 ? 10 : 100
        let rounded = (self * factor).rounded() / factor
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
    }
}

enum Timeout: Property {
    static let defaultValue = 30
}

enum Attempts: Property {
    static let defaultValue = 3
}

extension PropertyContainer {
    /// A handwritten accessor.
    var timeout: Int {
        get { self[Timeout.self] }
        set { self[Timeout.self] = newValue }
    }
}

extension ContainerKeys {
    var limit: PropertyKey<Int> { .init(defaultValue: 100) }
}

/// An object with a number, to read.
final class Number: Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }
}

/// The usual form of a dependency: a struct with a closure that captures an object.
struct Greeter: Feature {
    let number: Int
    let greet: @Sendable () -> Int

    static func load(in container: any FeatureContainer) -> Greeter {
        let object = Number(container[Timeout.self])
        return Greeter(number: object.value) { object.value }
    }
}

/// A feature whose instance is an object.
enum Counter: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Timeout.self]) }
}

/// A feature that keeps its handle and reads through it later.
struct Reader: Feature {
    let container: any FeatureContainer

    static func load(in container: any FeatureContainer) -> Reader { Reader(container: container) }
}

/// The same object as in `Counter`, from an asynchronous load.
enum RemoteCounter: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Number { Number(container[Timeout.self]) }
}

/// The bytes that one more of something takes, the allocator's own included.
public struct Footprint {
    /// The thing whose number grows.
    public let name: String
    /// The mean over many of them.
    public let bytes: Double
    /// The most it may take; infinite where the figure only informs.
    public let bound: Double

    private init(_ name: String, bound: Double, of count: Int, _ make: (Int) -> AnyObject) {
        self.name = name
        self.bound = bound
        var all: [AnyObject] = []
        all.reserveCapacity(count)
        // Create one before measuring, because the first use creates objects that stay.
        all.append(make(0))
        all.removeAll(keepingCapacity: true)
        let before = heap_bytes_in_use()
        for index in 0..<count { all.append(make(index)) }
        bytes = Double(heap_bytes_in_use() - before) / Double(count)
        withExtendedLifetime(all) {}
    }

    /// Measured with nothing else running in the process.
    public static func measured() -> [Footprint] {
        let parent = Container()
        parent[Timeout.self] = 31
        let count = 10_000
        return [
            Footprint("empty root", bound: 1_024, of: count) { _ in Container() },
            // Times that never come round take 16 bytes more than the counters of 32 bits that were there before.
            Footprint("empty child", bound: 416, of: count) { _ in parent.child() },
            Footprint("child with one value", bound: .infinity, of: count) { index in
                let child = parent.child()
                child[Timeout.self] = index
                return child
            },
            key(among: 100), key(among: 1_000), key(among: 10_000),
        ]
    }

    /// One more key with an `Int`: 64 bytes, and 8 for the value.
    private static func key(among count: Int) -> Footprint {
        let keys = (0..<count).map { PropertyKey(defaultValue: $0, id: $0) }
        let containers = 20
        // The first use of a key can register it for the process, which isn't the container's memory.
        let first = Container()
        for (index, key) in keys.enumerated() { first[key] = index }
        let empty = Footprint("", bound: 0, of: containers) { _ in Container() }
        let full = Footprint("", bound: 0, of: containers) { _ in
            let container = Container()
            for (index, key) in keys.enumerated() { container[key] = index }
            return container
        }
        return Footprint(
            name: "key with an Int, among \(count)", bytes: (full.bytes - empty.bytes) / Double(count), bound: 64 + 8)
    }

    private init(name: String, bytes: Double, bound: Double) {
        self.name = name
        self.bytes = bytes
        self.bound = bound
    }
}
