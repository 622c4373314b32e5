public import Fugu
public import Hummingbird
public import Logging
public import NIOCore

/// A request context that has its own container.
///
/// Its source is a ``ContainerContextSource``, which only a ``ContainerResponder`` makes. So an application whose contexts
/// have containers doesn't compile without the responder: no request can end up with the shared container by mistake.
public protocol ContainerRequestContext: RequestContext where Source == ContainerContextSource {
    /// The container of the request: a child of the application's.
    var container: Container { get }
}

/// The source of a ``ContainerRequestContext``.
public struct ContainerContextSource: RequestContextSource {
    /// The connection.
    public let channel: any Channel
    /// Hummingbird's logger for the request, with its identifier as metadata.
    public let logger: Logger
    /// The container of the request.
    public let container: Container
}

/// Gives each request a child of a container, and closes the child when the response has been written.
///
///     let router = Router(context: MyContext.self)
///     let responder = ContainerResponder(container, router.buildResponder())
///     let application = Application(responder: responder)
///
/// The child is `Container.current` for the handler and for the writing of the body. An error that isn't a response, such as a
/// `LoadError`, is logged, since the client gets 500 without a reason, or a body that breaks off.
public struct ContainerResponder<Inner: HTTPResponder>: HTTPResponder where Inner.Context: ContainerRequestContext {
    /// The source that Hummingbird creates before there is a container.
    public typealias Context = Connection

    private let container: Container
    private let inner: Inner
    private let configure: @Sendable (Container, Request, Logger) -> Void

    /// Creates a responder.
    ///
    /// - Parameters:
    ///   - container: The application's container.
    ///   - inner: The responder that gets the requests, such as `router.buildResponder()`.
    ///   - configure: Sets in the child what belongs to the request. It's given Hummingbird's logger for the request, too.
    public init(
        _ container: Container, _ inner: Inner,
        configure: @escaping @Sendable (Container, Request, Logger) -> Void = { _, _, _ in }
    ) {
        self.container = container
        self.inner = inner
        self.configure = configure
    }

    /// Responds to a request in a new child.
    @concurrent public func respond(to request: Request, context: Connection) async throws -> Response {
        let (channel, logger) = (context.channel, context.logger)
        let child = container.child()
        configure(child, request, logger)
        var response: Response
        do {
            response = try await Container.with(child) {
                let source = ContainerContextSource(channel: channel, logger: logger, container: child)
                var response = try await inner.respond(to: request, context: Inner.Context(source: source))
                if response.body.isSmall { response.body = try await response.body.collected() }
                return response
            }
        } catch {
            if !(error is any HTTPResponseError || error is CancellationError) { logger.note(error) }
            await child.close(logger)
            throw error
        }
        if response.body.isSmall {
            await child.close(logger)
        } else {
            response.body = RequestEnd(child, logger).closing(after: response.body)
        }
        return response
    }
}

/// A connection whose request has no container yet.
public struct Connection: InitializableFromSource {
    let channel: any Channel
    let logger: Logger

    /// Creates a connection.
    public init(source: ApplicationRequestContextSource) {
        channel = source.channel
        logger = source.logger
    }
}

extension Container {
    /// By now the request has its answer, so a failure can only be logged.
    func close(_ logger: Logger) async {
        do { try await close() } catch { logger.error("The container of a request: \(error)") }
    }
}

extension Logger {
    fileprivate func note(_ error: any Error) { self.error("A request failed: \(error)") }
}

extension ResponseBody {
    /// Whether the body is short and will be short.
    ///
    /// Such a body is written into memory first, for two reasons: the container can be closed before the response
    /// leaves, and Hummingbird sends a buffer in one write together with the head.
    var isSmall: Bool { contentLength.map { $0 <= 16 * 1024 } ?? false }

    /// Returns a body that is a buffer with the same bytes.
    @concurrent func collected() async throws -> ResponseBody {
        let collected = CollectedBody()
        try await write(collected)
        return ResponseBody(byteBuffer: collected.buffer)
    }
}

/// Collects the bytes that are written to it.
private final class CollectedBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ part: ByteBuffer) {
        var part = part
        // A body that is one buffer already isn't copied.
        if buffer.readableBytes == 0 { buffer = part } else { buffer.writeBuffer(&part) }
    }

    /// A body whose length is known has no trailers.
    func finish(_: HTTPFields?) {}
}

/// Closes the container of a request once its body has been written, or when nobody can write it any more.
final class RequestEnd: Sendable {
    private let child: Container
    private let logger: Logger

    init(_ child: Container, _ logger: Logger) {
        self.child = child
        self.logger = logger
    }

    /// A client that hangs up early leaves a body that nobody writes.
    ///
    /// A container that's closed already has nothing left to close.
    deinit { Task { [child, logger] in await child.close(logger) } }

    /// Returns a body with the same bytes, after which the container is closed.
    func closing(after body: ResponseBody) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { writer in
            // The operation runs before this closure goes on, and nobody else has the writer.
            nonisolated(unsafe) let destination = writer
            do {
                try await Container.with(self.child) { try await body.write(destination) }
            } catch {
                // Others mostly say that the client has hung up.
                if error is LoadError { self.logger.note(error) }
                await self.child.close(self.logger)
                throw error
            }
            await self.child.close(self.logger)
        }
    }
}
