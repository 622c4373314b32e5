import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded

/// A router's answer to a request, without a network.
struct Answer {
    let status: HTTPResponse.Status
    let text: String

    init(of router: Router<BasicRequestContext>, _ path: String, host: String = "localhost") async throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: path)
        let context = BasicRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test")))
        let responder = router.buildResponder()
        do {
            let response = try await responder.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context)
            let collected = Collected()
            try await response.body.write(Collector(collected: collected))
            (status, text) = (response.status, String(buffer: collected.buffer))
        } catch let error as HTTPError {
            (status, text) = (error.status, "")
        }
    }
}

private final class Collected {
    var buffer = ByteBuffer()
}

private struct Collector: ResponseBodyWriter {
    let collected: Collected

    mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        collected.buffer.writeBuffer(&buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
