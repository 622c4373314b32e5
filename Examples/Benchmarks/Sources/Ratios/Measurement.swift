import Foundation
import Workloads

/// The times of a row, by round.
struct Measurement {
    let row: Row
    /// Nanoseconds per operation in each round.
    private(set) var subject: [Double] = []
    /// Nanoseconds per operation of each baseline in the same rounds.
    private(set) var baselines: [[Double]]

    /// Measures the subject and the baselines alternately, so that other work on the machine affects both.
    init(of row: Row, rounds: Int, sample: Duration, countsProcessor: Bool) async throws {
        self.row = row
        baselines = Array(repeating: [], count: row.baselines.count)
        let all = try await ([row.subject] + row.baselines).asyncMap {
            try await Sampler($0, lasting: sample, countsProcessor: countsProcessor)
        }
        for round in 0..<rounds {
            // Every other round runs in reverse order, because the first workload can run at another clock speed.
            let order = round.isMultiple(of: 2) ? Array(all.indices) : all.indices.reversed()
            for index in order {
                let time = try await all[index].nanoseconds()
                if index == 0 { subject.append(time) } else { baselines[index - 1].append(time) }
            }
        }
    }

    var medianOfSubject: Double { median(subject) }

    func medianOfBaseline(_ index: Int) -> Double { median(baselines[index]) }

    /// The speedup over the first baseline: the median over the rounds.
    var timesFaster: Double? {
        guard let first = baselines.first else { return nil }
        return median(zip(first, subject).map { $0 / $1 })
    }

    /// The part of its bound that the row uses: the median over the rounds.
    ///
    /// More than 1 breaks the bound.
    var share: Double? {
        guard let bound = row.bound else { return nil }
        return median(subject.indices.map { round in subject[round] / bound.limit(baselines.map { $0[round] }) })
    }
}

/// A workload with the number of iterations for one sample.
private struct Sampler {
    private let workload: Workload
    private let countsProcessor: Bool
    private var n = 1
    private static let start = ContinuousClock.now

    init(_ workload: Workload, lasting duration: Duration, countsProcessor: Bool) async throws {
        self.workload = workload
        self.countsProcessor = countsProcessor
        // Run once to load features, and then double the number until the clock can measure it.
        while try await time(n) < duration / 4 {
            n *= 2
            precondition(n < 1 << 40, "The optimizer left nothing to measure of: \(workload.name)")
        }
        n = max(1, Int(Double(n) * (duration / (try await time(n)))))
    }

    func nanoseconds() async throws -> Double {
        if workload.threads > 1 { return workload.nanosecondsTogether(n) }
        return try await time(n) / .nanoseconds(n * workload.operations)
    }

    private func time(_ n: Int) async throws -> Duration {
        let start = now
        switch workload.body {
        case .plain(let body): consume(body(n))
        case .async(let body): consume(try await body(n))
        }
        return now - start
    }

    /// Wall-clock time or processor time since a fixed moment.
    private var now: Duration {
        if countsProcessor { return .microseconds(Int64(clock()) * 1_000_000 / Int64(CLOCKS_PER_SEC)) }
        return ContinuousClock.now - Sampler.start
    }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}

extension Array {
    fileprivate func asyncMap<R>(_ body: (Element) async throws -> R) async rethrows -> [R] {
        var result: [R] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}
