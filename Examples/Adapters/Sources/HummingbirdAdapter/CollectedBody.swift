import Hummingbird
import NIOCore

extension ResponseBody {
    /// Whether the body is short and will be short.
    ///
    /// Such a body is written into memory first, for two reasons: the container can be closed before the response
    /// leaves, and Hummingbird sends a buffer in one write together with the head.
    var isSmall: Bool { contentLength.map { $0 <= 16 * 1024 } ?? false }

    /// Returns a body that is a buffer with the same bytes.
    @concurrent func collected() async throws -> ResponseBody {
        let collected = CollectedBody()
        try await write(collected)
        return ResponseBody(byteBuffer: collected.buffer)
    }
}

/// Collects the bytes that are written to it.
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
