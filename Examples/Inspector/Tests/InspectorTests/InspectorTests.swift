import Foundation
import Fugu
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import Inspector

extension ContainerKeys {
    fileprivate var greeting: PropertyKey<String> { .init(defaultValue: "hello there") }
    fileprivate var password: PropertyKey<String> { .init(defaultValue: "hunter2", isSecret: true) }
}

@Suite("The inspector shows a container's family in a browser")
struct InspectorTests {
    struct Greeter: Feature {
        static func load(in container: any FeatureContainer) -> Greeter {
            _ = container.greeting
            return Greeter()
        }
    }
    struct Vault: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Vault {
            _ = (container[Greeter.self], container.password)
            return Vault()
        }
    }

    private func answer(_ inspector: Inspector, _ path: String, host: String = "localhost") async throws -> Answer {
        try await Answer(of: inspector.router(), path, host: host)
    }

    private func container() -> Container {
        let container = Container()
        _ = try? container[Vault.self]
        return container
    }

    @Test("The page shows the graph, without values, and never a secret")
    func page() async throws {
        let response = try await answer(Inspector(container()), "/")
        let text = response.text
        #expect(response.status == .ok)
        #expect(text.contains("c0_Greeter") && text.contains("c0_Vault"))
        #expect(!text.contains("hello there") && !text.contains("hunter2"))
        #expect(text.contains("EventSource(liveAddress)") && text.contains("liveAddress = \"live\""))
    }

    @Test("Values are shown where they are allowed, and secrets not even there")
    func values() async throws {
        let text = try await answer(Inspector(container(), showsValues: true), "/graph.json").text
        #expect(text.contains("hello there"))
        #expect(!text.contains("hunter2"))
    }

    @Test(
        "Requests that name another machine are refused, unless they are allowed",
        arguments: [
            ("localhost:8080", true), ("127.0.0.1:8080", true), ("[::1]:8080", true), ("localhost", true),
            ("evil.example:8080", false), ("127.0.0.1.evil.example", false), ("localhost.evil.example", false),
            ("", false),
        ])
    func hosts(_ host: String, _ isLocal: Bool) async throws {
        #expect(LocalOnly<BasicRequestContext>.isLocal(host) == isLocal)
        guard !host.isEmpty else { return }
        let response = try await answer(Inspector(Container()), "/", host: host)
        #expect(response.status == (isLocal ? .ok : .misdirectedRequest))
        #expect(try await answer(Inspector(Container(), isOpen: true), "/", host: host).status == .ok)
    }

    @Test("The routes can stand in another program's router, where the page finds its stream")
    func routes() async throws {
        let router = Router()
        Inspector(container()).addRoutes(to: router, at: "inspect")
        for (path, address) in [("/inspect", "inspect/live"), ("/inspect/", "live")] {
            let response = try await Answer(of: router, path)
            #expect(response.status == .ok)
            #expect(response.text.contains("liveAddress = \"\(address)\""))
        }
        #expect(try await Answer(of: router, "/inspect/graph.json").status == .ok)
    }

    @Test("A viewer gets what happened and what happens, and is forgotten when it leaves")
    func feed() async throws {
        let container = Container()
        let feed = Feed(of: container, showsValues: false)
        var changes = feed.changes().makeAsyncIterator()
        await changes.next()
        #expect(feed.moments(after: 0).isEmpty)
        _ = container[Greeter.self]
        await changes.next()
        #expect(feed.moments(after: 0).map(\.kind) == ["loadBegan", "loaded"])
        #expect(feed.moments(after: 1).map(\.key) == ["Greeter"])
        #expect(feed.viewerCount == 1)
        let leaving = Task {
            for await _ in feed.changes() where Task.isCancelled { break }
        }
        leaving.cancel()
        await leaving.value
        #expect(feed.viewerCount == 1)
    }

    @Test("The memory of events is bounded, and an inspector that is released observes no more")
    func bounds() {
        let container = Container()
        var feed: Feed? = Feed(of: container, showsValues: false)
        for number in 0..<20_000 { container.greeting = "\(number)" }
        #expect(feed!.moments(after: 0).count == 4_000)
        #expect(feed!.moments(after: 0).last?.number == 20_000)
        weak let weakly = feed
        feed = nil
        #expect(weakly == nil)
        let again = Feed(of: container, showsValues: false)
        container.greeting = "last"
        #expect(again.moments(after: 0).map(\.number) == [1])
    }

    @Test("An event is sent as lines that no text in it can break")
    func text() {
        #expect(ServerSentEvent.text("graph", "a\nb\n") == "event: graph\ndata: a\ndata: b\n\n")
    }
}

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
