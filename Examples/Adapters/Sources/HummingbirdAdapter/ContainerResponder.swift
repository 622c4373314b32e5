public import Fugu
public import Hummingbird
public import Logging
public import NIOCore

/// A request context that has a container of its own.
///
/// Its source is a ``ContainerContextSource``, which only a ``ContainerResponder`` makes. So an application whose contexts
/// have containers doesn't compile without the responder: no request can end up with the shared container by mistake.
public protocol ContainerRequestContext: RequestContext where Source == ContainerContextSource {
    /// The container of the request: a child of the application's.
    var container: Container { get }
}

/// What a ``ContainerRequestContext`` is made from.
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
/// The child is `Container.current` for the handler and for the writing of the body.
public struct ContainerResponder<Inner: HTTPResponder>: HTTPResponder where Inner.Context: ContainerRequestContext {
    /// The context that Hummingbird makes before there is a container.
    public typealias Context = ConnectionContext

    private let container: Container
    private let inner: Inner
    private let configure: @Sendable (Container, Request, Logger) -> Void

    /// Creates a responder.
    ///
    /// - Parameters:
    ///   - container: The application's container.
    ///   - inner: The responder that gets the requests, such as `router.buildResponder()`.
    ///   - configure: Sets in the child what belongs to the request.
    public init(
        _ container: Container, _ inner: Inner,
        configure: @escaping @Sendable (Container, Request, Logger) -> Void = { _, _, _ in }
    ) {
        self.container = container
        self.inner = inner
        self.configure = configure
    }

    /// Responds to a request in a child of its own.
    @concurrent public func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let child = container.child()
        configure(child, request, context.logger)
        let end = RequestEnd(child, logger: context.logger)
        let source = ContainerContextSource(channel: context.channel, logger: context.logger, container: child)
        var response = try await Container.$current.withValue(child) {
            do {
                return try await inner.respond(to: request, context: Inner.Context(source: source))
            } catch {
                await end.close()
                throw error
            }
        }
        response.body = try await end.closing(after: response.body)
        return response
    }
}

/// The context of a connection, before its request has a container.
public struct ConnectionContext: RequestContext {
    /// What Hummingbird itself keeps.
    public var coreContext: CoreRequestContextStorage
    let channel: any Channel

    /// Creates a context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
