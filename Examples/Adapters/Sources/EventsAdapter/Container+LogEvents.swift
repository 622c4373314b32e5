public import Fugu
public import FuguInspection
public import Logging

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
