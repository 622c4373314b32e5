import Fugu
import FuguScopes
import HTTPTypes
import Hummingbird
import LoggingAdapter

/// The settings that depend on the path: how many requests an address may send, and how long a browser may cache the response.
extension ContainerKeys {
    var requestsPerMinute: PropertyKey<UInt?> { .init() }
    var cacheSeconds: PropertyKey<UInt> { .init(defaultValue: 0) }
}

extension Container {
    /// Adds the rules of all paths.
    func addPathRules() {
        configureScopes("/api/links") { $0.requestsPerMinute = $0.createsPerMinute }
        configureScopes("/assets/*") { $0.cacheSeconds = $0.assetSeconds }
        // Rules are computed once; when what they read changes, they are computed again.
        observe(\.createsPerMinute) { [weak self] _ in self?.invalidateScopes() }
        observe(\.assetSeconds) { [weak self] _ in self?.invalidateScopes() }
    }
}

/// Applies the rules of a path to the routes of a group.
struct PathPolicy: RouterMiddleware {
    typealias Context = AppContext

    let scope: Container
    /// The requests that are limited.
    var methods: Set<HTTPRequest.Method> = [.get, .post, .delete]

    func handle(
        _ request: Request, context: AppContext, next: (Request, AppContext) async throws -> Response
    ) async throws -> Response {
        if let limit = scope.requestsPerMinute, methods.contains(request.method) {
            try context.container.rateLimiter.admit(context.client(of: request), limit: limit)
        }
        var response = try await next(request, context)
        response.headers[.cacheControl] = cacheControl(for: response.status)
        return response
    }

    // In a plain function, the compiler replaces `\.cacheSeconds` with what it names; in an async one, it may not.
    private func cacheControl(for status: HTTPResponse.Status) -> String {
        let seconds = scope.cacheSeconds
        return seconds > 0 && status == .ok ? "public, max-age=\(seconds)" : "no-store"
    }
}

extension AppContext {
    /// The address of the client.
    ///
    /// A proxy adds the address it sees at the end; what comes before can be made up.
    func client(of request: Request) -> String {
        if container.isBehindProxy, let chain = request.headers[.xForwardedFor] {
            return chain.split(separator: ",").last.map { $0.filter { !$0.isWhitespace } } ?? "unknown"
        }
        return remoteAddress?.ipAddress ?? "unknown"
    }
}

extension HTTPField.Name {
    static var xForwardedFor: Self { Self("X-Forwarded-For")! }
}

/// Headers that keep browsers from doing what the pages never ask for.
package struct SecurityHeaders<Context: RequestContext>: RouterMiddleware {
    private let headers: HTTPFields

    /// - Parameter isSecure: Whether the program is reached by https only.
    package init(isSecure: Bool) {
        var headers: HTTPFields = [
            .contentSecurityPolicy:
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
                + "base-uri 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
            HTTPField.Name("Referrer-Policy")!: "no-referrer",
            HTTPField.Name("Cross-Origin-Opener-Policy")!: "same-origin",
        ]
        if isSecure { headers[.strictTransportSecurity] = "max-age=31536000" }
        self.headers = headers
    }

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        // A route can have its own policy.
        for header in headers where response.headers[header.name] == nil {
            response.headers[header.name] = header.value
        }
        return response
    }
}

/// Turns every error into a response.
///
/// The client gets no more than it needs; the log gets everything.
struct Failures: RouterMiddleware {
    typealias Context = AppContext

    func handle(
        _ request: Request, context: AppContext, next: (Request, AppContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            return try error.response(from: request, context: context)
        } catch {
            let logger = context.container.requestLogger
            logger.error("\(request.method) \(request.uri.path): \(error)")
            // A container that is closed loads nothing any more: this process is about to end.
            let status: HTTPResponse.Status = error is LoadError ? .serviceUnavailable : .internalServerError
            let id = logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? "unknown"
            return try HTTPError(status, message: "Something went wrong (request \(id)).")
                .response(from: request, context: context)
        }
    }
}
