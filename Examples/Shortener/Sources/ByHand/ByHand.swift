import CoreMetrics
import Foundation
import GRDB
import Hummingbird
import Logging
import ShortenerServer

/// Two routes of the shortener without a container, to measure what the container costs: the same server, middlewares
/// and handlers, with everything passed by hand.
///
/// Takes the port and the path of the file.
@main struct ByHand {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[1]) else { fatalError("usage: ByHand PORT FILE") }
        MetricsSystem.bootstrap(MetricsText())
        let pool = try Database.open(arguments[2])
        let links = SQLiteLinks(pool: pool)
        let services = Services(links: links, hits: HitCounter(links: links))
        var logger = Logger(label: "by hand")
        logger.logLevel = .notice
        let router = Router(context: HandContext.self)
        router.add(middleware: TracingMiddleware())
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: LogRequestsMiddleware(.debug))
        router.add(middleware: SecurityHeaders(isSecure: false))
        router.add(middleware: HandFailures())
        router.get("healthz") { _, _ in "ok\n" }
        router.group().add(middleware: HandPolicy()).get("{code}") { try await follow($0, $1, services) }
        // The other routes of the shortener, because a router compares the paths of all.
        for path in ["", "readyz", "metrics", "api/links", "api/links/{code}", "assets/style.css", "assets/links.js"] {
            router.get(RouterPath(path)) { _, _ in HTTPResponse.Status.notFound }
        }
        let application = Application(
            responder: HandResponder(inner: router.buildResponder()),
            configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
        let writer = Task {
            while true {
                try await Task.sleep(for: .seconds(1))
                try await services.hits.flush()
            }
        }
        try await application.runService()
        writer.cancel()
        try await services.hits.flush()
        try pool.close()
    }

    private static func follow(
        _ request: Request, _ context: HandContext, _ services: Services
    ) async throws -> Response {
        let code = try context.parameters.require("code")
        guard CodeMaker.isCode(code) else { throw HTTPError(.notFound) }
        guard let link = try await services.links.link(code) else { throw HTTPError(.notFound) }
        services.hits.count(code, on: day(of: Date().timeIntervalSince1970))
        return Response(status: .found, headers: [.location: link.target])
    }
}

struct Services {
    let links: SQLiteLinks
    let hits: HitCounter
}

/// The values of a request: its logger and its user, created ahead for every handler.
struct HandContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var user = User.guest

    init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
}

/// Collects short bodies in one buffer, as the container's responder does, because Hummingbird sends a buffer in one write
/// together with the head.
struct HandResponder<Inner: HTTPResponder>: HTTPResponder where Inner.Context == HandContext {
    let inner: Inner

    @concurrent func respond(to request: Request, context: HandContext) async throws -> Response {
        var response = try await inner.respond(to: request, context: context)
        guard let length = response.body.contentLength, length <= 16 * 1024 else { return response }
        let collected = HandBody()
        try await response.body.write(collected)
        response.body = ResponseBody(byteBuffer: collected.buffer)
        return response
    }
}

private final class HandBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ part: ByteBuffer) {
        var part = part
        if buffer.readableBytes == 0 { buffer = part } else { buffer.writeBuffer(&part) }
    }

    func finish(_: HTTPFields?) {}
}

struct HandFailures: RouterMiddleware {
    func handle(
        _ request: Request, context: HandContext, next: (Request, HandContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let header = request.headers[.authorization] {
            context.user = User(authorization: header, adminToken: "hunter22")
        }
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            return try error.response(from: request, context: context)
        } catch {
            context.logger.error("\(request.method) \(request.uri.path): \(error)")
            return Response(status: .internalServerError)
        }
    }
}

struct HandPolicy: RouterMiddleware {
    func handle(
        _ request: Request, context: HandContext, next: (Request, HandContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
