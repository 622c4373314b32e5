public import Fugu
public import Logging

/// Two loggers, because what is shared must not be made from what belongs to a request.
///
/// A database that read `requestLogger` would be opened once for each request, since requests differ in what that logger is
/// made from. So what is shared reads `logger`, and handlers read `requestLogger`.
extension ContainerKeys {
    /// The logger of the process.
    public var logger: FeatureKey<Logger> { .init { _ in Logger(label: "main") } }

    /// The metadata of every line of a request, such as its identifier.
    public var requestMetadata: PropertyKey<Logger.Metadata> { .init(defaultValue: [:]) }

    /// The logger of a request, or the logger of the process outside requests.
    public var requestLogger: FeatureKey<Logger> {
        .init { container in
            var logger = container.logger
            for (name, value) in container.requestMetadata { logger[metadataKey: name] = value }
            return logger
        }
    }

    /// The lowest level that the process logs.
    ///
    /// Sources can change it while the process runs.
    public var logLevel: PropertyKey<Logger.Level> {
        .init("log.level", defaultValue: .info, help: "trace, debug, info, notice, warning, error or critical")
    }
}
