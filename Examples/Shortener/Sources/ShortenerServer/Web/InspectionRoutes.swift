import Fugu
import HTTPTypes
import Hummingbird
import Inspector

/// The inspector's page, for the admin, where the settings allow it.
struct InspectionRoutes {
    func add(to router: Router<AppContext>, of container: Container) {
        // It observes every load, so it's there only if the settings allow it at the start.
        guard container.allowsInspection else { return }
        let group = router.group().add(middleware: InspectionPolicy())
        // A client that knows the token may use any name of this server.
        Inspector(container, isOpen: true).addRoutes(to: group, at: "inspect")
    }
}

/// Lets the admin see the inside, and the page run its own script, which stands in it.
private struct InspectionPolicy: RouterMiddleware {
    typealias Context = AppContext

    func handle(
        _ request: Request, context: AppContext, next: (Request, AppContext) async throws -> Response
    ) async throws -> Response {
        guard context.container.allowsInspection else { throw HTTPError(.notFound) }
        try context.requireAdmin(request, allowingPassword: true)
        var response = try await next(request, context)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
            + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
        return response
    }
}
