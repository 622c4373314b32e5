import Fugu
import FuguTesting
import Hummingbird
import HummingbirdAdapter
import InMemoryLogging
import Logging
import LoopbackClient
import NIOEmbedded
import ServiceLifecycle
import Testing

struct TestContext: ContainerRequestContext {
    var coreContext: CoreRequestContextStorage
    let container: Container

    init(source: ContainerContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        container = source.container
    }
}

extension ContainerKeys {
    var path: PropertyKey<String> { .init(defaultValue: "") }
    var ended: PropertyKey<@Sendable (String) async throws -> Void> { .init(defaultValue: { _ in }) }
    /// Belongs to a request, and has something to do at its end.
    var visit: FeatureKey<String> {
        .init(home: .local) { container in
            let (path, ended) = (container.path, container.ended)
            container.onClose { try await ended(path) }
            return "visit of \(path)"
        }
    }
}

private enum Looping: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> String { try await container[Looping.self] }
}

/// The events, in order.
struct Log: Sendable {
    let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (lines, continuation) = AsyncStream.makeStream() }

    func add(_ line: String) { continuation.yield(line) }

    func next() async -> String? {
        for await line in lines { return line }
        return nil
    }
}

@Suite(.timeLimit(.minutes(10))) struct ContainerResponderTests {
    private let container = Container()
    private let log = Log()
    private let router = Router(context: TestContext.self)
    private let handler = InMemoryLogHandler()
    private var logger: Logger { Logger(label: "test") { [handler] _ in handler } }
    private var errors: [String] { handler.entries.filter { $0.level == .error }.map { "\($0.message)" } }

    init() {
        container.ended = { [log] in log.add("closed \($0)") }
    }

    private var responder: ContainerResponder<RouterResponder<TestContext>> {
        ContainerResponder(container, router.buildResponder()) { child, request, _ in child.path = request.uri.path }
    }

    private func respond(_ path: String) async throws -> Response {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
        let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: logger)
        return try await responder.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: Connection(source: source)
        )
    }

    @Test("A request has its own child, which is the current container and is closed after the response")
    func child() async throws {
        router.get("a") { _, context in
            #expect(Container.current === context.container)
            return context.container.visit
        }
        let body = try await respond("/a").body
        #expect(body.contentLength == "visit of /a".utf8.count)
        #expect(await log.next() == "closed /a")
        #expect(container.path == "")
    }

    @Test("A child is closed, too, if the handler throws or nothing answers the path")
    func failure() async throws {
        router.get("a") { _, context -> String in
            _ = context.container.visit
            throw CancellationError()
        }
        await #expect(throws: CancellationError.self) { try await respond("/a") }
        #expect(await log.next() == "closed /a")
        #expect(try await respond("/b").status == .notFound)
    }

    @Test("What isn't a response is logged, since the client learns nothing; what is, and a cancellation, isn't")
    func logged() async throws {
        router.get("a") { _, context in try await context.container[Looping.self] }
        router.get("b") { _, _ -> String in throw HTTPError(.badRequest) }
        router.get("c") { _, _ -> String in throw CancellationError() }
        await #expect(throws: LoadError.self) { try await respond("/a") }
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("A request failed: Fugu: Looping needs itself to load.") == true)
        #expect(try await respond("/b").status == .badRequest)
        await #expect(throws: CancellationError.self) { try await respond("/c") }
        #expect(errors.count == 1)
    }

    @Test("A load that fails while a body is streamed is logged, too")
    func loggedInStream() async throws {
        router.get("a") { _, context -> Response in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: context.container[Looping.self]))
                    try await writer.finish(nil)
                })
        }
        try await serve { client in _ = try? await client.send("/a") }
        #expect(errors.contains { $0.hasPrefix("A request failed: Fugu: Looping needs itself to load.") })
    }

    @Test("The child of a streamed body is open until the last byte is out")
    func stream() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        router.get("a") { [log] _, context -> Response in
            let container = context.container
            return Response(
                status: .ok,
                body: ResponseBody { writer in
                    #expect(Container.current === container)
                    try await writer.write(ByteBuffer(string: container.visit))
                    for await _ in gate { break }
                    log.add("last byte")
                    try await writer.write(ByteBuffer(string: "!"))
                    try await writer.finish(nil)
                })
        }
        try await serve { client in
            let reply = try await client.send("/a") { _ in opener.yield() }
            #expect(reply.body == "visit of /a!")
        }
        #expect(await log.next() == "last byte")
        #expect(await log.next() == "closed /a")
    }

    @Test("A streamed body that nobody writes, since the client hung up, closes its child all the same")
    func unwritten() async throws {
        router.get("a") { _, context -> Response in
            _ = context.container.visit
            return Response(status: .ok, body: ResponseBody { try await $0.finish(nil) })
        }
        var response: Response? = try await respond("/a")
        #expect(response?.status == .ok)
        response = nil
        #expect(await log.next() == "closed /a")
    }

    @Test("A stream that breaks off closes its child")
    func brokenStream() async throws {
        router.get("a") { _, context -> Response in
            _ = context.container.visit
            return Response(
                status: .ok,
                body: ResponseBody { writer in
                    // Until the client has hung up.
                    while true { try await writer.write(ByteBuffer(repeating: 0x20, count: 65_536)) }
                })
        }
        try await serve { client in
            await #expect(throws: CancellationError.self) {
                try await client.send("/a") { _ in throw CancellationError() }
            }
            #expect(await log.next() == "closed /a")
        }
    }

    private func serve(_ operation: (LoopbackClient) async throws -> Void) async throws {
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { started.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let group = ServiceGroup(services: [application], logger: logger)
        async let running: Void = group.run()
        for await port in ports {
            try await operation(LoopbackClient(port: port))
            break
        }
        await group.triggerGracefulShutdown()
        try await running
    }
}
