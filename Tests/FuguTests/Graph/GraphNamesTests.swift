import Foundation
import Fugu
import FuguInspection
import Support
import Testing

private enum First {
    struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client { Client() }
    }
}

enum GraphNamesOuter {
    struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client { Client() }
    }
}

enum GraphNamesOther {
    struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client { Client() }
    }
}

@Suite("Names in graphs can be read, and are escaped")
struct GraphNamesTests {
    static let cases: [Case<GraphNamesTests>] = [
        Case(
            "Types of one name are distinguished by the types around them; identifiers are the same in each run",
            sameNames),
        Case("The page holds the graph as JSON, between what is the same for every graph", page),
        Case("The page needs nothing from anywhere", selfContained),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<GraphNamesTests>) async throws { try await stated.run(self) }

    func sameNames() {
        let container = Container()
        _ = (container[GraphNamesOuter.Client.self], container[GraphNamesOther.Client.self])
        expect(container.graph.entries.map(\.name), equals: ["GraphNamesOther.Client", "GraphNamesOuter.Client"])
        expect(container.graph.entries.map(\.id), equals: ["c0_GraphNamesOther_Client", "c0_GraphNamesOuter_Client"])
        let alone = Container()
        _ = alone[GraphNamesOuter.Client.self]
        expect(alone.graph.entries.map(\.name), equals: ["Client"])
        _ = container[First.Client.self]
        expect(Set(container.graph.entries.map(\.id)).count, equals: 3)
        expect(Set(container.graph.entries.map(\.name)).count, equals: 3)
    }

    /// Names that keys take from `member`, each a way to break one of the formats.
    static let names: [StaticString] = [
        "end", "subgraph", "a\"b", "a\\", "</script><script>alert(1)</script>", "<b>", "#quot;", "x\ny", "größe", "数",
        "`a`",
        "a]b", "%%{init: {}}%%", "a|b", "--> c", "\u{202e}txt", "&lt;", "click", "]]>", "{{}}",
    ]

    @Test("A name can break no format", arguments: 0..<names.count)
    func escaping(_ index: Int) throws {
        let container = Container()
        // A name that isn't a plain member is shown with its place; the id can be anything.
        let name = "\(Self.names[index])"
        container[PropertyKey(defaultValue: 0, id: name, member: "key")] = 1
        _ = container[FeatureKey<Int>(id: name, member: "feature") { _ in 1 }]
        let graph = container.graph
        expect(graph.entries.count, equals: 2)
        for entry in graph.entries {
            expect(entry.name.contains(name))
            expect(
                entry.id.utf8.allSatisfy {
                    $0 == UInt8(ascii: "_") || (48...57 ~= $0) || (65...90 ~= $0) || (97...122 ~= $0)
                })
        }
        let decoded = try JSONDecoder().decode(ContainerGraph.self, from: Data(graph.withoutDurations().json.utf8))
        expect(decoded, equals: graph.withoutDurations())
        // One line for each statement, and no label ends before its line does.
        expect(graph.mermaid.split(separator: "\n").count, equals: 5)
        expect(graph.dot.split(separator: "\n").count, equals: 8)
        for line in graph.mermaid.split(separator: "\n") { expect(line.count { $0 == "\"" } % 2, equals: 0) }
        // The page has the scripts that it has, whatever the names are.
        expect(graph.html.components(separatedBy: "<script").count, equals: 3)
        expect(graph.html.components(separatedBy: "</script").count, equals: 3)
    }

    func page() {
        func parts(_ graph: ContainerGraph) -> [String] { graph.html.components(separatedBy: graph.json) }
        let (container, empty) = (Container(), Container())
        _ = container[GraphNamesOuter.Client.self]
        expect(parts(container.graph).count, equals: 2)
        expect(parts(container.graph), equals: parts(empty.graph))
    }

    func selfContained() {
        let page = Container().graph.html
        for text in ["src=", "href=", "@import", "url(h", "fetch(", "https:"] { expect(!page.contains(text)) }
        expect(page.contains("default-src 'none'"))
        let addresses = page.components(separatedBy: "http://").dropFirst()
        expect(addresses.allSatisfy { $0.hasPrefix("www.w3.org/2000/svg") })
    }
}
