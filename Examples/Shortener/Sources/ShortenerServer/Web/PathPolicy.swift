import Fugu
import HTTPTypes
import Hummingbird

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
