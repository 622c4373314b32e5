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
