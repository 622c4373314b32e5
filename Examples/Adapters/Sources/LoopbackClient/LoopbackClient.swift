import NIOCore
public import NIOHTTP1
import NIOPosix

/// A small HTTP client for tests.
///
/// It talks to this machine only, and opens a connection for each request.
public struct LoopbackClient: Sendable {
    /// The response of a server.
    public struct Reply: Sendable {
        /// The status, such as 200.
        public var status = 0
        /// The headers.
        public var headers = HTTPHeaders()
        /// The body as text.
        public var body = ""
    }

    /// The error of a server that closes the connection before it responds.
    public struct NoReply: Error {}

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, SendableRequestPart>

    private let port: Int

    /// Creates a client.
    public init(port: Int) { self.port = port }

    /// Sends a request and returns the whole response.
    public func send(
        _ path: String, method: HTTPMethod = .GET, headers: HTTPHeaders = [:], body: String? = nil
    ) async throws -> Reply {
        try await send(path, method: method, headers: headers, body: body) { _ in }
    }

    /// Sends a request, passes on each part of the body as it arrives, and returns the whole response.
    ///
    /// If `part` throws, the client hangs up.
    public func send(
        _ path: String, method: HTTPMethod = .GET, headers: HTTPHeaders = [:], body: String? = nil,
        part: (String) async throws -> Void
    ) async throws -> Reply {
        let connection = try await connect()
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(contentsOf: parts(method, path, headers, body))
            var reply = Reply()
            for try await piece in inbound {
                switch piece {
                case .head(let head): (reply.status, reply.headers) = (Int(head.status.code), head.headers)
                case .body(let bytes):
                    let text = String(buffer: bytes)
                    reply.body += text
                    try await part(text)
                case .end: return reply
                }
            }
            throw NoReply()
        }
    }

    private func connect() async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(RequestPartEncoder())
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    private func parts(
        _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders, _ body: String?
    ) -> [SendableRequestPart] {
        var headers = headers
        headers.add(name: "Host", value: "127.0.0.1:\(port)")
        headers.add(name: "Connection", value: "close")
        if let body { headers.add(name: "Content-Length", value: "\(body.utf8.count)") }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        return [.head(head)] + (body.map { [.body(ByteBuffer(string: $0))] } ?? []) + [.end]
    }
}

/// Like `HTTPClientRequestPart`, which can hold what isn't `Sendable`.
private enum SendableRequestPart: Sendable {
    case head(HTTPRequestHead)
    case body(ByteBuffer)
    case end
}

private final class RequestPartEncoder: ChannelOutboundHandler {
    typealias OutboundIn = SendableRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part: HTTPClientRequestPart =
            switch unwrapOutboundIn(data) {
            case .head(let head): .head(head)
            case .body(let bytes): .body(.byteBuffer(bytes))
            case .end: .end(nil)
            }
        context.write(wrapOutboundOut(part), promise: promise)
    }
}
