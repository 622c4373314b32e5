import Foundation
import Fugu
import FuguInspection
import Support
import Testing

@Suite("The graph shows what runs, what failed and why")
struct GraphFailureTests {
    static let cases: [Case<GraphFailureTests>] = [
        Case(
            "A load that failed stays in the graph with its error, what it had read and what failed for it (law 27)",
            failures),
        Case("Filtered by failure, only the way to the cause is left, and what the cause had read", filteredByFailure),
        Case("No secret is in any format, though the error of a load quotes it (law 26)", secrets),
        Case("Filtered by name, what an entry was made from and what was made from it is left", filteredByName),
        Case("Filtered by container, what it sees is left (law 14)", filteredByContainer),
        Case("A cancelled load is no failure (law 27)", cancelled),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<GraphFailureTests>) async throws { try await stated.run(self) }

    struct Refused: Error, CustomStringConvertible { let description: String }
    struct Token: Property {
        static var defaultValue: String { "hunter2" }
        static var isSecret: Bool { true }
    }
    struct Plain: Feature {
        static func load(in container: any FeatureContainer) -> Plain { Plain() }
    }
    struct Socket: ThrowingFeature {
        static func load(in container: any FeatureContainer) throws -> Socket {
            throw Refused(description: "no way in with \(container[Token.self])")
        }
    }
    struct Database: AsyncFeature {
        static func load(in container: any FeatureContainer) async throws -> Database {
            _ = container[Plain.self]
            _ = try container[Socket.self]
            return Database()
        }
    }

    private func failed() async -> Container {
        let container = Container()
        await #expect(throws: Refused.self) { try await container[Database.self] }
        return container
    }

    func failures() async throws {
        let container = await failed()
        let graph = container.graph
        expect(
            graph.description,
            equals: """
                root
                  Database (failed) ← Plain, Socket
                  Plain
                  Socket (failed) ← Token
                  Token (default)
                """)
        expect(graph["c0_Socket"]?.lastError, equals: "no way in with (secret)")
        expect(graph["c0_Database"]?.lastError, equals: "no way in with (secret)")
        container.set(Socket.self, to: Socket())
        _ = try await container[Database.self]
        expect(container.graph["c0_Database"]?.state, equals: .loaded)
        expect(container.graph["c0_Database"]?.lastError, equals: "no way in with (secret)")
    }

    func filteredByFailure() async {
        let container = await failed()
        let graph = container.graph.filteredByFailure()
        expect(graph.causes, equals: ["c0_Socket"])
        expect(
            graph.description,
            equals: """
                root
                  Database (failed) ← Socket
                  Socket (failed) ← Token
                  Token (default)
                """)
        expect(
            graph.explanation(of: "c0_Database"),
            equals: [
                "Database isn't loaded: its last load, for the root, failed: no way in with (secret).",
                "It had read Socket and 1 that isn't shown.", "No other load needed it.",
            ])
        expect(Container().graph.filteredByFailure().entries, equals: [])
    }

    func secrets() async throws {
        let container = await failed()
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

    func filteredByName() async {
        let container = await failed()
        let graph = container.graph.filtered(by: "Plain")
        expect(graph.entries.map(\.name), equals: ["Database", "Plain"])
        expect(graph.entries[0].hiddenInputs, equals: 1)
        expect(container.graph.filtered(by: "Token").entries.map(\.name), equals: ["Database", "Socket", "Token"])
        expect(container.graph.filtered(by: "Nobody").entries, equals: [])
    }

    func filteredByContainer() {
        let root = Container()
        let children = (1...2).map { number in root.child { $0[Token.self] = "\(number)" } }
        _ = root[Plain.self]
        let graph = root.graph.filtered(byContainer: 2)
        expect(graph.entries.map(\.id), equals: ["c0_Plain", "c2_Token"])
        expect(graph.containers.map(\.id), equals: [0, 2])
        withExtendedLifetime(children) {}
    }

    @Test("A load in progress is in the graph, with its reads so far and the load that it waits for (law 4)")
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

    func cancelled() async {
        struct Cancelled: AsyncFeature {
            static func load(in container: any FeatureContainer) async throws -> Cancelled { throw CancellationError() }
        }
        let container = Container()
        await #expect(throws: CancellationError.self) { try await container[Cancelled.self] }
        expect(container.graph.entries, equals: [])
    }
}
