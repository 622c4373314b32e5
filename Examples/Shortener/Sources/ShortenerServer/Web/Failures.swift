import Fugu
import Hummingbird
import LoggingAdapter

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
