public import Fugu
import FuguInspection
import HTTPTypes
public import Hummingbird
import NIOCore
public import ServiceLifecycle

/// Shows a container's family in a browser, live: nodes light up as they load, overrides appear, and a timeline shows which
/// loads ran when and who needed them.
///
///     let inspector = Inspector(container)
///     try await ServiceGroup(services: [inspector.service(port: 8080)], logger: logger).run()
///
/// It answers on 127.0.0.1 only, unless you tell otherwise, and only requests that name this machine, so that no page from
/// elsewhere can ask through the browser. It shows no values unless you allow it, and secrets never.
public struct Inspector: Sendable {
    /// The address that the service listens on.
    let feed: Feed
    let isOpen: Bool

    /// Creates an inspector, which records loads from now on.
    ///
    /// - Parameters:
    ///   - container: A container of the family to show.
    ///   - showsValues: Pass `true` to show the values of properties that aren't secret.
    ///   - isOpen: Pass `true` to answer requests that name another host than this machine, such as those of a proxy.
    public init(_ container: Container, showsValues: Bool = false, isOpen: Bool = false) {
        feed = Feed(of: container, showsValues: showsValues)
        self.isOpen = isOpen
    }

    /// Returns a service that serves the page until it's shut down.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - port: The port to listen on.
    /// - Returns: The service.
    public func service(host: String = "127.0.0.1", port: Int) -> some Service {
        Application(
            responder: router().buildResponder(), configuration: .init(address: .hostname(host, port: port)))
    }

    /// Returns a router with the inspector's routes alone.
    func router() -> Router<BasicRequestContext> {
        let router = Router()
        addRoutes(to: router)
        return router
    }

    /// Adds the inspector's routes to a router of your own.
    ///
    /// Whether a request may see the page is for your middleware to say.
    ///
    /// - Parameters:
    ///   - router: The router.
    ///   - path: The path of the page, such as `inspect`.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>, at path: RouterPath = "") {
        let group = router.group(path).add(middleware: LocalOnly(isOpen: isOpen))
        group.get("") { [feed] request, _ in
            // Relative addresses in the page need the slash.
            let folder =
                request.uri.path.hasSuffix("/")
                ? "" : request.uri.path.split(separator: "/").last.map { $0 + "/" } ?? ""
            return Response.page(LivePage.text(of: feed.graph(), folder: String(folder)))
        }
        group.get("graph.json") { [feed] _, _ in Response.json(feed.graph().json) }
        group.get("live") { [feed] _, _ in Response.events(of: feed) }
    }
}

/// Refuses requests for other hosts than this machine, as a page from elsewhere makes them after its name was pointed here.
struct LocalOnly<Context: RequestContext>: RouterMiddleware {
    let isOpen: Bool

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isOpen || Self.isLocal(request.head.authority ?? "") else { throw HTTPError(.misdirectedRequest) }
        var response = try await next(request, context)
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        return response
    }

    static func isLocal(_ authority: String) -> Bool {
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host == "127.0.0.1"
    }
}

extension HTTPField.Name {
    static var xContentTypeOptions: HTTPField.Name { HTTPField.Name("X-Content-Type-Options")! }
    static var referrerPolicy: HTTPField.Name { HTTPField.Name("Referrer-Policy")! }
}

extension Response {
    static func page(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func json(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Sends events to the browser until it disconnects or the server shuts down.
    static func events(of feed: Feed) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                var known: ContainerGraph?
                var last: UInt64 = 0
                try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
                for await _ in feed.changes().cancelOnGracefulShutdown() {
                    let (moments, graph) = (feed.moments(after: last), feed.graph())
                    if let number = moments.last?.number {
                        last = number
                        try await writer.write(ByteBuffer(string: ServerSentEvent.text("moments", moments.json)))
                    }
                    if graph != known {
                        known = graph
                        try await writer.write(ByteBuffer(string: ServerSentEvent.text("graph", graph.json)))
                    }
                    // Events that happen meanwhile are shown together.
                    try await Task.sleep(for: .milliseconds(graph.entries.count > 300 ? 500 : 100))
                }
                try await writer.finish(nil)
            })
    }
}

enum ServerSentEvent {
    static func text(_ name: String, _ data: String) -> String {
        let lines = data.split(separator: "\n").map { "data: \($0)\n" }.joined()
        return "event: \(name)\n\(lines)\n"
    }
}
