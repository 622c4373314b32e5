import Fugu
import InMemoryTracing
import LoopbackClient
import Metrics
import MetricsTestKit
import Testing
import Tracing

@testable import ShortenerServer

/// What a backend for metrics and one for traces get to see.
///
/// A program chooses its own, and bootstraps it first thing.
@Suite(.timeLimit(.minutes(1))) struct ObservabilityTests {
    /// Once for the process, as these systems want it.
    private static let backends = {
        let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(tracer)
        return (metrics: metrics, tracer: tracer)
    }()

    @Test("A request is counted and timed, and has a span, under the path of its route")
    func request() async throws {
        let (metrics, tracer) = Self.backends
        try await Container.forServer().serve { client in
            let code = try await client.create()
            #expect(try await client.send("/\(code)").status == 302)
        }
        let dimensions = [
            ("http.route", "/{code}"), ("http.request.method", "GET"), ("http.response.status_code", "302"),
        ]
        #expect(metrics.counterTotal(label: "hb.requests", dimensions: dimensions) > 0)
        #expect(try metrics.expectTimer("http.server.request.duration", dimensions).values.isEmpty == false)
        #expect(tracer.finishedSpans.contains { $0.operationName == "/{code}" && $0.kind == .server })
    }
}
