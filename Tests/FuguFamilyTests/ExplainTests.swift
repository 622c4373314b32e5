import Foundation
import Fugu
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var requestID: PropertyKey<Int> { .init(defaultValue: 0) }
    fileprivate var greeting: PropertyKey<String> { .init(defaultValue: "hello") }
    fileprivate var secret: PropertyKey<String> { .init(defaultValue: "hunter2", isSecret: true) }
}

/// A container explains what it has for a key, in sentences.
struct ExplainTests {}

extension ExplainTests {
    struct Pool: Feature {
        static func load(in container: any FeatureContainer) -> Pool {
            _ = container.greeting
            return Pool()
        }
    }
    struct Session: Feature {
        static func load(in container: any FeatureContainer) -> Session {
            _ = (container[Pool.self], container.requestID)
            return Session()
        }
    }
    struct Page: Feature {
        static func load(in container: any FeatureContainer) -> Page {
            _ = container[Session.self]
            return Page()
        }
    }
    struct Pad: Feature {
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Pad { Pad() }
    }
    /// The sentences without the time that a load took.
    private func sentences(_ explanation: KeyExplanation) -> [String] {
        explanation.sentences.map { $0.replacing(#/ in [0-9.]+ (ns|µs|ms|s)/#, with: "") }
    }

    @Test("Why an instance lives where it lives: what it read is set there, directly or on a way (law 11)")
    func homes() {
        let root = Container()
        let request = root.child { $0.requestID = 7 }
        _ = request[Page.self]
        expect(
            sentences(request.explain(Session.self)),
            equals: [
                "Session was loaded.", #"It lives in container 1, because it read \.requestID, which is set there."#,
                #"It was loaded from Pool and \.requestID (container 1)."#, "Loaded from it: Page (container 1).",
            ])
        expect(
            sentences(request.explain(Page.self))[1],
            equals: #"It lives in container 1, because it depends on Session → \.requestID, which is set there."#)
        expect(
            sentences(request.explain(Pool.self)),
            equals: [
                "Pool was loaded.", "It lives in the root, because no child sets any of its inputs.",
                #"It was loaded from \.greeting."#, "Loaded from it: Session (container 1).",
            ])
        _ = request[Pad.self]
        expect(
            sentences(request.explain(Pad.self))[1],
            equals: "It lives in container 1, which read it, because it or one of its inputs is local.")
    }

    @Test("A container is called by its own name, which no child inherits and which is no entry (law 11)")
    func names() {
        let root = Container()
        let request = root.child {
            $0.containerName = "request 7"
            $0.requestID = 7
        }
        let part = request.child { $0.greeting = "part" }
        _ = request[Session.self]
        expect(
            request.explain(Session.self).sentences.contains(
                #"It lives in request 7, because it read \.requestID, which is set there."#))
        expect(part.graph.containers.map(\.name), equals: ["root", "request 7", "container 2"])
        expect(!part.graph.entries.contains { $0.name.contains("containerName") })
        expect("\(request)", equals: "Container(request 7: 1 set, 1 loaded, 1 child)")
        expect(part.containerName, equals: "request 7")
        request.reset(\.containerName)
        expect(part.graph.containers.map(\.name), equals: ["root", "container 1", "container 2"])
    }

    @Test("An explanation of a value names its origin and the values that it hides (laws 10 and 13)")
    func values() {
        let root = Container()
        let child = root.child()
        expect(
            "\(child.explain(\.greeting))",
            equals: #"\.greeting was neither set nor read here. A read returns the value of a source, or the default."#)
        _ = child.greeting
        expect(
            child.explain(\.greeting).sentences,
            equals: [
                #"\.greeting is "hello", its default."#, "Nothing was loaded from it.",
            ])
        root.greeting = "good\nday"
        child.greeting = String(repeating: "x", count: 100)
        expect(
            child.explain(\.greeting).sentences,
            equals: [
                #"\.greeting is "\#(String(repeating: "x", count: 80))…", set in container 1."#,
                #"This hides "good\u{a}day", set in the root."#, "Nothing was loaded from it.",
            ])
        expect(root.explain(\.greeting).sentences.count, equals: 2)
    }

    @Test("A secret is never printed, nor what hides it or is hidden by it (law 17)")
    func secrets() {
        let root = Container()
        let child = root.child { $0.secret = "child" }
        root.secret = "root"
        expect(
            child.explain(\.secret).sentences,
            equals: [
                #"\.secret is secret, set in container 1."#, "This hides what was set in the root.",
                "Nothing was loaded from it.",
            ])
    }

    @Test("Whether it is stale, and since which change (law 12)")
    func stale() {
        let container = Container()
        let reports = container.logReports()
        _ = container[Session.self]
        container.greeting = "ho"
        expect(
            container.explain(Pool.self).sentences.contains(
                #"It's stale: \.greeting changed after it was loaded."#))
        expect(!container.explain(Session.self).sentences.contains { $0.contains("stale") })
        container.reset(Pool.self)
        _ = container[Pool.self]
        expect(sentences(container.explain(Pool.self))[0], equals: "Pool was loaded, for the 2nd time there.")
        expect(container.explain(Session.self).sentences.contains { $0.hasPrefix("It's stale: Pool changed") })
        #if DEBUG
        expect(
            reports.all.map { $0.prefix { $0 != "," } },
            equals: [#"Fugu: \.greeting was set"#, "Fugu: Pool was reset"])
        #endif
        _ = reports
    }

    @Test("An explanation of a key that is set, replaced, closed, or missing")
    func others() async throws {
        let container = Container()
        expect(
            "\(container.explain(Pool.self))", equals: "Pool was neither set nor loaded here. The next read loads it.")
        container[Pool.self] = Pool()
        expect(container.explain(Pool.self).sentences[0], equals: "Pool was set in the root.")
        container.replace(Pool.self) { _ in Pool() }
        expect(
            container.explain(Pool.self).sentences[0],
            equals: "Pool has a replacement loader in the root, which hasn't run yet.")
        try await container.close()
        expect(
            "\(container.explain(Session.self))",
            equals: "Session was neither set nor loaded here. The container is closed, so it can't be loaded.")
    }

    @Test("Debuggers see names and numbers, never values, and nothing is loaded for them")
    func debugging() {
        let root = Container()
        expect("\(root)", equals: "Container(root: 0 set, 0 loaded)")
        let child = root.child { $0.requestID = 7 }
        _ = child[Session.self]
        expect("\(child)", equals: "Container(container 1: 1 set, 1 loaded)")
        expect("\(root)", equals: "Container(root: 0 set, 2 loaded, 1 child)")
        expect(
            String(reflecting: child),
            equals: "Container(container 1: 1 set, 1 loaded; parent: root; set: \\.requestID; loaded: Session)")
        var mirror: [String: String] = [:]
        for (label, value) in Mirror(reflecting: child).children { mirror[label ?? ""] = "\(value)" }
        expect(mirror, equals: ["description": "\(child)"])
    }

    @Test("A handle says whose load it is")
    func handles() {
        struct Curious: Feature {
            let text: String
            static func load(in container: any FeatureContainer) -> Curious { Curious(text: "\(container)") }
        }
    }
}

/// The graph shows what runs, and no secret.
struct GraphContentTests {}

extension GraphContentTests {
    struct Token: Property {
        static var defaultValue: String { "hunter2" }
        static var isSecret: Bool { true }
    }
    struct Plain: Feature {
        static func load(in container: any FeatureContainer) -> Plain { Plain() }
    }
    struct Socket: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Socket {
            _ = container[Token.self]
            return Socket()
        }
    }
    struct Database: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Database {
            _ = container[Plain.self]
            _ = try container[Socket.self]
            return Database()
        }
    }

    private func loaded() async throws -> Container {
        let container = Container()
        _ = try await container[Database.self]
        return container
    }

    @Test("No secret is in any format (law 17)")
    func secrets() async throws {
        let container = try await loaded()
        let graph = container.graph
        let json = String(decoding: try JSONEncoder().encode(graph), as: UTF8.self)
        var dumped = ""
        dump(container, to: &dumped)
        let texts = [
            json, graph.json, graph.html, graph.mermaid, graph.dot, graph.description, dumped, "\(container)",
            String(reflecting: container), "\(container.explain(Database.self))", "\(container.explain(Token.self))",
            "\(container.explain(Socket.self))",
        ]
        for text in texts { expect(!text.contains("hunter2")) }
        expect(String(reflecting: container).contains("Token"))
    }

    @Test("Filtered by name, what an entry was made from and what was made from it is left")
    func filteredByName() async throws {
        let container = try await loaded()
        let graph = container.graph.filtered(by: "Plain")
        expect(graph.entries.map(\.name), equals: ["Database", "Plain"])
        expect(container.graph.filtered(by: "Token").entries.map(\.name), equals: ["Database", "Socket", "Token"])
        expect(container.graph.filtered(by: "Nobody").entries, equals: [])
    }

    @Test("Filtered by container, what it sees is left (law 10)")
    func filteredByContainer() {
        let root = Container()
        let children = (1...2).map { number in root.child { $0[Token.self] = "\(number)" } }
        _ = root[Plain.self]
        let graph = root.graph.filtered(byContainer: 2)
        expect(graph.entries.map(\.id), equals: ["c0_Plain", "c2_Token"])
        expect(graph.containers.map(\.id), equals: [0, 2])
        withExtendedLifetime(children) {}
    }

    @Test("A load in progress is in the graph, with its reads so far and the load that it waits for (law 3)")
    func loading() {
        struct Slow: Feature {
            @TaskLocal static var gates: (reached: Gate, open: Gate)?
            static func load(in container: any FeatureContainer) -> Slow {
                if let gates {
                    gates.reached.open()
                    gates.open.wait()
                }
                return Slow()
            }
        }
        struct Outer: Feature {
            static func load(in container: any FeatureContainer) -> Outer {
                _ = (container[Plain.self], container[Slow.self])
                return Outer()
            }
        }
        let container = Container()
        let (reached, open) = (Gate(), Gate())
        let thread = startThread { Slow.$gates.withValue((reached, open)) { _ = container[Outer.self] } }
        reached.wait()
        let graph = container.graph
        open.open()
        thread.wait()
        expect(
            graph.description,
            equals: """
                root
                  Outer (loading) ← Plain, Slow
                  Plain
                  Slow (loading)
                """)
        expect(graph.explanation(of: "c0_Outer").first, equals: "Outer is being loaded.")
        expect(container.graph["c0_Outer"]?.state, equals: .loaded)
    }
}
