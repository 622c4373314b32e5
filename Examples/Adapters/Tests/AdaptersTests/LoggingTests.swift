import Fugu
import FuguConfiguration
import InMemoryLogging
import Logging
import LoggingAdapter
import Testing

@Suite struct LoggingTests {
    private let container = Container()
    private let handler = InMemoryLogHandler()

    init() { container.startLogging(label: "test") { [handler] _ in handler } }

    private var messages: [String] { handler.entries.map { "\($0.message)" } }

    @Test("The logger of a request carries its metadata, and that of the process doesn't")
    func metadata() {
        let request = container.child { $0.requestMetadata = ["request": "7"] }
        request.requestLogger.info("of the request")
        request.logger.info("of the process")
        #expect(handler.entries.map(\.metadata) == [["request": "7"], [:]])
    }

    @Test("All requests share a feature that reads the process's logger, but not one that reads the request's")
    func homes() {
        let request = container.child { $0.requestMetadata = ["request": "7"] }
        #expect(request[Shared.self] === container[Shared.self])
        #expect(request[Own.self] !== container[Own.self])
    }

    @Test("A change of the level counts at once, for copies of the logger, too")
    func level() throws {
        let levels = MutableSource(["log.level": "warning"], name: "test")
        try container.apply(levels)
        let copy = container.logger
        copy.info("not yet")
        levels["log.level"] = "debug"
        copy.debug("now")
        levels["log.level"] = "error"
        copy.warning("no more")
        #expect(messages == ["now"])
    }

    @Test("A copy that was given its own level keeps it")
    func ownLevel() {
        var copy = container.logger
        copy.logLevel = .error
        container.logLevel = .trace
        copy.warning("not loud enough")
        container.logger.trace("loud enough")
        #expect(messages == ["loud enough"])
    }

    @Test("A container's reports are logged as warnings")
    func reports() throws {
        try container.apply(DictionarySource(["log.level": "loud"], name: "test"))
        #expect(container.logLevel == .info)
        #expect(handler.entries.first?.level == .warning)
        #expect(messages.first?.contains("log.level") == true)
    }
}

private final class Shared: Feature, Sendable {
    let logger: Logger

    init(logger: Logger) { self.logger = logger }

    static func load(in container: any FeatureContainer) -> Shared { Shared(logger: container.logger) }
}

private final class Own: Feature, Sendable {
    let logger: Logger

    init(logger: Logger) { self.logger = logger }

    static func load(in container: any FeatureContainer) -> Own { Own(logger: container.requestLogger) }
}
