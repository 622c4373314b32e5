import Fugu
import Hummingbird

/// What a balancer asks, and what the admin may see of the inside.
struct HealthRoutes {
    func add(to router: Router<AppContext>) {
        router.get("healthz") { _, _ in "ok\n" }
        router.get("readyz") { _, context in
            let state = context.container.readiness.state
            return EditedResponse(status: state.isReady ? .ok : .serviceUnavailable, response: state)
        }
        router.get("inspect") { request, context in
            guard context.container.allowsInspection else { throw HTTPError(.notFound) }
            try context.requireAdmin(request)
            // Names and arrows, no values.
            return context.container.graph.mermaid
        }
    }
}

extension Readiness.State: ResponseEncodable {}
