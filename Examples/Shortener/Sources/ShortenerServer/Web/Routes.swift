import Foundation
import Fugu
import FuguFoundation
import FuguScopes
import HTTPTypes
import Hummingbird
import Inspector
import LoggingAdapter

/// Creating, following, listing and deleting links.
struct LinkRoutes {
    struct NewLink: Decodable {
        let target: String
    }

    struct Created: ResponseEncodable {
        let code: String
        let url: String
        let target: String
    }

    struct List: ResponseEncodable {
        let links: [Link]
    }

    struct Statistics: ResponseEncodable {
        let link: Link
        let url: String
        let hits: [Hits]
    }

    func add(to router: Router<AppContext>, of container: Container) {
        let api = router.group("api/links")
        api.add(middleware: PathPolicy(scope: container.scope("/api/links"), methods: [.post]))
        api.post(use: create)
        api.get(use: list)
        api.get("{code}", use: statistics)
        api.delete("{code}", use: delete)
        router.group().add(middleware: PathPolicy(scope: container.scope("/link"))).get("{code}", use: follow)
    }

    private func create(_ request: Request, _ context: AppContext) async throws -> EditedResponse<Created> {
        let container = context.container
        let wanted = try await request.decode(as: NewLink.self, context: context)
        let (base, target) = (container.publicURL, try self.target(wanted.target, in: container))
        let links = try await container[Links.self]
        // Two codes are the same once in a blue moon, and ten times in a row never.
        for _ in 0..<10 {
            let link = Link(
                code: CodeMaker.code(from: container.randomness), target: target.text,
                created: Int(container.date.now.timeIntervalSince1970))
            guard try await links.add(link) else { continue }
            container.requestLogger.info("Created \(link.code)")
            return EditedResponse(
                status: .created,
                response: Created(code: link.code, url: "\(base)/\(link.code)", target: link.target))
        }
        throw HTTPError(.serviceUnavailable, message: "No code is free.")
    }

    private func target(_ text: String, in container: Container) throws -> Target {
        do {
            return try Target(text, ownHosts: [container.publicURL.host, container.host.lowercased(), "localhost"])
        } catch {
            throw HTTPError(.unprocessableContent, message: error.description)
        }
    }

    private func follow(_ request: Request, _ context: AppContext) async throws -> Response {
        let container = context.container
        let code = try code(of: context)
        // Both first: what a request has, it keeps, even if the program ends meanwhile.
        let (links, hits) = (try await container[Links.self], try await container[HitCounter.self])
        guard let link = try await links.link(code) else { throw HTTPError(.notFound, message: "No such link.") }
        hits.count(code, on: day(of: container.date.now.timeIntervalSince1970))
        return Response(status: .found, headers: [.location: link.target])
    }

    private func list(_ request: Request, _ context: AppContext) async throws -> List {
        try context.requireAdmin(request)
        return List(links: try await context.container[Links.self].links(limit: 100))
    }

    private func statistics(_ request: Request, _ context: AppContext) async throws -> Statistics {
        let container = context.container
        let code = try code(of: context)
        let links = try await container[Links.self]
        guard let link = try await links.link(code) else { throw HTTPError(.notFound, message: "No such link.") }
        return Statistics(
            link: link, url: "\(container.publicURL)/\(code)", hits: try await links.hits(of: code))
    }

    private func delete(_ request: Request, _ context: AppContext) async throws -> HTTPResponse.Status {
        try context.requireAdmin(request)
        let code = try code(of: context)
        guard try await context.container[Links.self].delete(code) else { return .notFound }
        context.container.requestLogger.notice("Deleted \(code)")
        return .noContent
    }

    /// Anything that isn't a code isn't looked up.
    private func code(of context: AppContext) throws -> String {
        let code = try context.parameters.require("code")
        guard CodeMaker.isCode(code) else { throw HTTPError(.notFound, message: "No such link.") }
        return code
    }
}

extension AppContext {
    /// Throws 401 for everybody else, and 429 for clients that try many tokens.
    ///
    /// `allowingPassword`: Whether the token may come as a password, which a browser asks for and sends along by itself. Only
    /// what changes nothing allows that: a page from elsewhere could send the browser to anything else.
    func requireAdmin(_ request: Request, allowingPassword: Bool = false) throws {
        let password = allowingPassword ? request.headers[.authorization].flatMap(User.password) : nil
        let user = password.map { User(token: $0, adminToken: container.adminToken) } ?? container.user
        switch user {
        case .admin: return
        case .guest: break
        case .impostor:
            try container.rateLimiter.admit("token " + client(of: request), limit: container.triesPerMinute)
            container.requestLogger.warning("A wrong token from \(client(of: request))")
        }
        let way = allowingPassword ? #"Basic realm="the admin's token as password""# : "Bearer"
        throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: way], message: "This needs the admin's token.")
    }
}

/// The requests of a balancer, and of Prometheus with the admin's token.
struct HealthRoutes {
    func add(to router: Router<AppContext>) {
        router.get("healthz") { _, _ in "ok\n" }
        router.get("readyz") { _, context in
            let state = context.container.readiness.state
            return EditedResponse(status: state.isReady ? .ok : .serviceUnavailable, response: state)
        }
        router.get("metrics") { request, context in
            try context.requireAdmin(request)
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "\(context.container.metrics)")))
        }
    }
}

extension Readiness.State: ResponseEncodable {}

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

/// The page and its parts.
struct PageRoutes {
    func add(to router: Router<AppContext>, of container: Container) {
        router.group().add(middleware: PathPolicy(scope: container.scope("/")))
            .get { _, _ in Self.response(PackageResources.index_html, "text/html; charset=utf-8") }
        let assets = router.group("assets").add(middleware: PathPolicy(scope: container.scope("/assets/any")))
        assets.get("style.css") { _, _ in Self.response(PackageResources.style_css, "text/css; charset=utf-8") }
        assets.get("links.js") { _, _ in Self.response(PackageResources.links_js, "text/javascript; charset=utf-8") }
    }

    private static func response(_ bytes: [UInt8], _ type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
