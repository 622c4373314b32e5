import Fugu
import FuguInspection
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

extension HTTPField.Name {
    static var xContentTypeOptions: HTTPField.Name { HTTPField.Name("X-Content-Type-Options")! }
    static var referrerPolicy: HTTPField.Name { HTTPField.Name("Referrer-Policy")! }
}

extension Response {
    static func page(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func json(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// Sends events to the browser until it disconnects or the server shuts down.
    static func events(of feed: Feed) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                var known: ContainerGraph?
                var last: UInt64 = 0
                try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
                for await _ in feed.changes().cancelOnGracefulShutdown() {
                    let (moments, graph) = (feed.moments(after: last), feed.graph())
                    if let number = moments.last?.number {
                        last = number
                        try await writer.write(ByteBuffer(string: ServerSentEvent.text("moments", moments.json)))
                    }
                    if graph != known {
                        known = graph
                        try await writer.write(ByteBuffer(string: ServerSentEvent.text("graph", graph.json)))
                    }
                    // Events that happen meanwhile are shown together.
                    try await Task.sleep(for: .milliseconds(graph.entries.count > 300 ? 500 : 100))
                }
                try await writer.finish(nil)
            })
    }
}

enum ServerSentEvent {
    static func text(_ name: String, _ data: String) -> String {
        let lines = data.split(separator: "\n").map { "data: \($0)\n" }.joined()
        return "event: \(name)\n\(lines)\n"
    }
}
