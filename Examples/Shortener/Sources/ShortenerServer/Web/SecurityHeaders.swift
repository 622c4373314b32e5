import HTTPTypes
import Hummingbird

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
