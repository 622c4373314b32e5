import Fugu
import FuguTesting
import LoopbackClient
import Testing

@testable import ShortenerServer

@Suite(.timeLimit(.minutes(10))) struct ShutdownTests {
    @Test("A request that outlives the patience of the program is answered all the same")
    func stubborn() async throws {
        let (searching, searches) = AsyncStream.makeStream(of: Void.self)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        // It doesn't listen to cancellation, as a call into C doesn't.
        let links = InMemoryLinks {
            searches.yield()
            await Task { for await _ in gate { break } }.value
        }
        let container = Container.forServer(links: links)
        container.patience = .milliseconds(50)
        let (closed, closing) = AsyncStream.makeStream(of: Void.self)
        container.onClose { closing.yield() }

        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let group = Server(container) { started.yield($0) }.group()
        async let running: Void = group.run()
        let port = try #require(await ports.first { _ in true })
        let client = LoopbackClient(port: port)
        let code = try await client.create("https://example.org/stubborn")

        async let reply = client.send("/\(code)")
        _ = await searching.first { _ in true }
        await group.triggerGracefulShutdown()
        // By now the group has lost its patience, and the container is closed.
        _ = await closed.first { _ in true }
        opener.yield()
        #expect(try await reply.headers["Location"] == ["https://example.org/stubborn"])
        try? await running
    }
}
