public import Fugu
import FuguConfiguration
public import Logging
public import ServiceLifecycle
import UnixSignals

/// Reads the sources of a container again when the process gets SIGHUP, and when a file has changed.
///
/// A file with a mistake changes nothing: the last good values stay, and the mistake is logged.
public struct ReloadService: Service {
    private let container: Container
    private let interval: Duration?
    private let logger: Logger

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - container: The container whose sources are read.
    ///   - interval: The time between two looks at the files, or `nil` to reload after signals only.
    ///   - logger: The logger for reloads after a signal. The container reports mistakes that polling finds.
    public init(_ container: Container, every interval: Duration? = nil, logger: Logger) {
        self.container = container
        self.interval = interval
        self.logger = logger
    }

    /// Reloads until the group shuts down.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reloadAtSignals() }
            if let interval {
                group.addTask { [container] in
                    await cancelWhenGracefulShutdown { await container.reload(every: interval) }
                }
            }
        }
    }

    private func reloadAtSignals() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        logger.debug("SIGHUP reads the configuration again")
        for await _ in signals.cancelOnGracefulShutdown() {
            do {
                try container.reload()
                logger.info("Reloaded the configuration")
            } catch let mistakes as PropertyErrors {
                for mistake in mistakes.errors { logger.error("The configuration stays as it is: \(mistake)") }
            } catch {
                logger.error("The configuration stays as it is: \(error)")
            }
        }
    }
}
