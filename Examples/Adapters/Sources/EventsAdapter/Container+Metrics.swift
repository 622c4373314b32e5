public import CoreMetrics
public import Fugu
public import FuguInspection

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
