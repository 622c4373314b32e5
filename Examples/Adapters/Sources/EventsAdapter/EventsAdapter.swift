public import CoreMetrics
public import Fugu
import FuguInspection
public import Logging
import Synchronization
public import Tracing

extension Container {
    /// Logs every event in the family of this container, one line for each.
    ///
    /// Errors are named by their types: what a load threw can hold anything, a password too.
    ///
    /// - Parameters:
    ///   - logger: The logger that gets the lines. It must not be read from this container by a load that is still under way.
    ///   - level: The level of the lines. Failures are logged as warnings.
    /// - Returns: A token that ends it. You can ignore it.
    @discardableResult
    public func logEvents(to logger: Logger, at level: Logger.Level = .debug) -> ObservationToken {
        observeEvents { event in
            var metadata: Logger.Metadata = [
                "event": "\(event.kind)", "container": "\(event.container)", "key": "\(event.key ?? "-")",
            ]
            if let duration = event.duration { metadata["duration"] = "\(duration)" }
            if let error = event.error { metadata["error"] = "\(type(of: error))" }
            logger.log(level: event.kind == .failed ? .warning : level, "container event", metadata: metadata)
        }
    }
}

extension Container {
    /// Counts the events in the family of this container, and times its loads.
    ///
    /// The counter `fugu.events` has the dimension `kind`, the timer `fugu.load.duration` the dimensions `key` and `kind`. Keys are
    /// those that the program declares, so there are as many series as there are features and no more.
    ///
    /// - Parameter factory: The factory of the metrics; by default, the one that the program bootstrapped.
    /// - Returns: A token that ends it. You can ignore it.
    @discardableResult
    public func measureEvents(with factory: any MetricsFactory = MetricsSystem.factory) -> ObservationToken {
        observeEvents { event in
            let kind = ("kind", event.kind.rawValue)
            Counter(label: "fugu.events", dimensions: [kind], factory: factory).increment()
            guard let key = event.key, let duration = event.duration, event.load != nil, event.kind != .waited else {
                return
            }
            let (seconds, attoseconds) = duration.components
            Timer(label: "fugu.load.duration", dimensions: [("key", key), kind], factory: factory)
                .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }
    }
}

extension Container {
    /// Creates a span for every load in the family of this container.
    ///
    /// The span of a load that another load needs is a child of that load's span. Others are children of the span that is
    /// active where the load begins, such as that of a request.
    ///
    /// - Parameter tracer: The tracer; by default, the one that the program bootstrapped.
    /// - Returns: A token that ends it. You can ignore it.
    @discardableResult
    public func traceLoads(with tracer: any Tracer = InstrumentationSystem.tracer) -> ObservationToken {
        let open = OpenSpans()
        return observeEvents { event in
            guard let load = event.load, event.kind != .waited else { return }
            if event.kind == .loadBegan {
                let parent = event.neededBy.flatMap { open[$0] }
                let context = parent?.context ?? ServiceContext.current ?? .topLevel
                let span: any Span = tracer.startSpan("load \(event.key ?? "")", context: context)
                span.attributes["fugu.container"] = event.container
                open[load] = span
            } else if let span = open[load] {
                open[load] = nil
                span.attributes["fugu.outcome"] = event.kind.rawValue
                // Not the error itself, which can hold anything.
                if event.kind == .failed { span.setStatus(SpanStatus(code: .error)) }
                span.end()
            }
        }
    }
}

/// The spans of the loads that are under way.
private final class OpenSpans: Sendable {
    private let spans = Mutex<[UInt64: any Span]>([:])

    subscript(load: UInt64) -> (any Span)? {
        get { spans.withLock { $0[load] } }
        set { spans.withLock { $0[load] = newValue } }
    }
}
