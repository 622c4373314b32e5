public import Fugu
import FuguConfiguration
public import Logging
import Synchronization

extension Container {
    /// Sets the logger of the process, lets `log.level` count for it, and sends the reports of the container there.
    ///
    /// A change of `log.level` counts at once, for the loggers that features have copied, too.
    ///
    /// - Parameters:
    ///   - label: The label of the logger.
    ///   - handler: Makes what writes the lines; by default they go to standard error.
    public func startLogging<Handler: LogHandler>(
        label: String, handler: (String) -> Handler = { StreamLogHandler.standardError(label: $0) }
    ) {
        let level = SharedLevel(self.logLevel)
        let base = handler(label)
        self.logger = Logger(label: label) { _ in SharedLevelHandler(level: level, base: base) }
        observe(\.logLevel) { level.value = $0 }
        handleReports { [logger = self.logger] in logger.warning("\($0)") }
    }
}

/// A log level that all copies of a logger share.
///
/// Every line reads it, so reading takes no lock.
private final class SharedLevel: Sendable {
    private let index: Atomic<Int>

    init(_ level: Logger.Level) { index = Atomic(Self.index(of: level)) }

    var value: Logger.Level {
        get { Logger.Level.allCases[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level)! }
}

/// Reads the level for each line, unless a copy of the logger has its own level.
private struct SharedLevelHandler<Base: LogHandler>: LogHandler {
    let level: SharedLevel
    var base: Base
    private var ownLevel: Logger.Level?

    init(level: SharedLevel, base: Base) {
        self.level = level
        self.base = base
        // This handler decides which lines to write.
        self.base.logLevel = .trace
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? level.value }
        set { ownLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { base.log(event: event) }
}

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
