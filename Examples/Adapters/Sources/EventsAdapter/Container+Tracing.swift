public import Fugu
public import FuguInspection
import Synchronization
public import Tracing

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
