import Benchmark
import Workloads

/// Runs every workload of the table as a separate benchmark: `swift package benchmark`.
let benchmarks: @Sendable () -> Void = {
    var seen: Set<String> = []
    for row in allRows {
        for workload in [row.subject] + row.baselines where seen.insert(workload.name).inserted {
            register(workload)
        }
    }
}

private func register(_ workload: Workload) {
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock],
        warmupIterations: 2,
        // Enough iterations in a sample that reading the clock and starting threads don't matter.
        scalingFactor: workload.threads > 1 ? .mega : workload.operations > 1 ? .one : .kilo,
        maxDuration: .milliseconds(500),
        maxIterations: 2_000
    )
    switch workload.body {
    case .async(let body):
        Benchmark(workload.name, configuration: configuration) { benchmark in
            consume(try await body(benchmark.scaledIterations.count))
        }
    case .plain where workload.threads > 1:
        Benchmark(workload.name, configuration: configuration) { benchmark in
            // The measurement begins when the threads have settled, and ends when the last one is done.
            let n = benchmark.scaledIterations.count
            _ = workload.nanosecondsTogether(
                n, willStart: benchmark.startMeasurement, didEnd: benchmark.stopMeasurement)
        }
    case .plain(let body):
        Benchmark(workload.name, configuration: configuration) { benchmark in
            consume(body(benchmark.scaledIterations.count))
        }
    }
}
