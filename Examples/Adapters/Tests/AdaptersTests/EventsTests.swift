import EventsAdapter
import Fugu
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing

@Suite struct EventsTests {
    private let container = Container()

    @Test("Every load is a span, below that of the load that needed it or of the request")
    func spans() throws {
        let tracer = InMemoryTracer()
        container.traceLoads(with: tracer)
        tracer.withSpan("request") { _ in
            #expect(container[Outer.self] == 2)
            #expect(throws: Broken.Failure.self) { try container[Broken.self] }
        }
        let spans = Dictionary(uniqueKeysWithValues: tracer.finishedSpans.map { ($0.operationName, $0) })
        let request = try #require(spans["request"])
        let outer = try #require(spans["load Outer"])
        #expect(outer.parentSpanID == request.spanID)
        #expect(spans["load Inner"]?.parentSpanID == outer.spanID)
        #expect(spans["load Broken"]?.status?.code == .error)
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test("Events are counted by kind, and loads are timed by key")
    func metrics() throws {
        let metrics = TestMetrics()
        container.measureEvents(with: metrics)
        _ = container[Outer.self]
        #expect(metrics.counterTotal(label: "fugu.events", dimensions: [("kind", "loaded")]) == 2)
        let timer = try metrics.expectTimer("fugu.load.duration", [("key", "Inner"), ("kind", "loaded")])
        #expect(timer.values.count == 1)
    }

    @Test("Events are logged without what an error says")
    func log() {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .debug
        container.logEvents(to: logger)
        _ = try? container[Broken.self]
        let failure = handler.entries.first { $0.level == .warning }
        #expect(failure?.metadata["error"] == "Failure")
        #expect(!handler.entries.contains { "\($0)".contains("hunter2") })
    }

    private enum Inner: Feature {
        static func load(in container: any FeatureContainer) -> Int { 1 }
    }

    private enum Outer: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Inner.self] + 1 }
    }

    private enum Broken: ThrowingFeature {
        struct Failure: Error { let secret = "hunter2" }
        static func load(in container: any FeatureContainer) throws -> Int { throw Failure() }
    }
}
