import Fugu
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Closes the container of a request once: when the response has been written, or when nobody can write it any more.
final class RequestEnd: Sendable {
    /// A body of at most this many bytes is written here first, and goes out together with the head.
    private static let smallBody = 16 * 1024

    private let child: Container
    private let logger: Logger
    private let isClosed = Atomic(false)

    init(_ child: Container, logger: Logger) {
        self.child = child
        self.logger = logger
    }

    /// A client that hangs up early leaves a body that nobody writes.
    deinit {
        guard !isClosed.load(ordering: .relaxed) else { return }
        Task { [child, logger] in await Self.close(child, logger) }
    }

    func close() async {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        await Self.close(child, logger)
    }

    /// Returns a body with the same bytes, after which the container is closed.
    @concurrent func closing(after body: ResponseBody) async throws -> ResponseBody {
        if let length = body.contentLength, length <= Self.smallBody { return try await closing(afterSmall: body) }
        return ResponseBody(contentLength: body.contentLength) { writer in
            let destination = writer
            do {
                try await Container.$current.withValue(self.child) { try await body.write(destination) }
            } catch {
                await self.close()
                throw error
            }
            await self.close()
        }
    }

    /// Hummingbird sends head and body in one write only if the body is a buffer.
    @concurrent private func closing(afterSmall body: ResponseBody) async throws -> ResponseBody {
        let collected = CollectedBody()
        do {
            try await Container.$current.withValue(child) { try await body.write(collected) }
        } catch {
            await close()
            throw error
        }
        await close()
        return ResponseBody(byteBuffer: collected.buffer)
    }

    /// The request has its answer by now, so a failure can only be logged.
    private static func close(_ child: Container, _ logger: Logger) async {
        do { try await child.close() } catch { logger.error("The container of a request: \(error)") }
    }
}

/// Keeps what is written to it.
private final class CollectedBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ part: ByteBuffer) {
        var part = part
        // A body that is one buffer already isn't copied.
        if buffer.readableBytes == 0 { buffer = part } else { buffer.writeBuffer(&part) }
    }

    /// A body whose length is known has no trailers.
    func finish(_: HTTPFields?) {}
}
