import Fugu
import Hummingbird
import Logging
import Synchronization

/// Closes the container of a request once its body has been written, or when nobody can write it any more.
final class RequestEnd: Sendable {
    private let child: Container
    private let logger: Logger
    private let isClosed = Atomic(false)

    init(_ child: Container, _ logger: Logger) {
        self.child = child
        self.logger = logger
    }

    /// A client that hangs up early leaves a body that nobody writes.
    deinit {
        guard !isClosed.load(ordering: .relaxed) else { return }
        Task { [child, logger] in await child.close(logger) }
    }

    /// Returns a body with the same bytes, after which the container is closed.
    func closing(after body: ResponseBody) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { writer in
            // The operation runs before this closure goes on, and nobody else has the writer.
            nonisolated(unsafe) let destination = writer
            do {
                try await Container.with(self.child) { try await body.write(destination) }
            } catch {
                await self.close()
                throw error
            }
            await self.close()
        }
    }

    private func close() async {
        isClosed.store(true, ordering: .relaxed)
        await child.close(logger)
    }
}
