import Fugu
import Hummingbird

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
