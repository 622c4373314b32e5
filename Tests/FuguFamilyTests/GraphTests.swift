import Foundation
import Fugu
import FuguInspection
import FuguScopes
import Support
import Testing

/// The graph shows what is held and what was made from what.
struct GraphTests {}

extension GraphTests {
    struct Host: Property { static var defaultValue: String { "localhost" } }
    struct Password: Property {
        static var defaultValue: String { "hunter2" }
        static var isSecret: Bool { true }
    }
    struct Client: Feature {
        static func load(in container: any FeatureContainer) -> Client {
            _ = (container[Host.self], container[Password.self])
            return Client()
        }
    }
    struct Api: Feature {
        static func load(in container: any FeatureContainer) -> Api {
            _ = container[Client.self]
            return Api()
        }
    }
    struct Live: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Live {
            _ = container[Host.self]
            return Live()
        }
    }
    struct Pair<First, Second>: Feature {
        static func load(in container: any FeatureContainer) -> Pair { Pair() }
    }

    private func entry(_ name: String, _ container: Container, depth: Int = 0) throws -> ContainerGraph.Entry {
        try #require(container.graph.entries.first { $0.name == name && $0.depth == depth })
    }

    private func inputs(_ name: String, _ container: Container, depth: Int = 0) throws -> [String] {
        let graph = container.graph
        let names = Dictionary(uniqueKeysWithValues: graph.entries.map { ($0.id, "\($0.name) \($0.depth)") })
        return try entry(name, container, depth: depth).inputs.map { try #require(names[$0]) }
    }

    @Test("Nothing is in the graph of a container in which nothing was read or set, unless one below it has some")
    func empty() {
        // A container in which nothing was read or set has an empty graph, and looking at it changes nothing.
        do {
            let container = Container()
            expect(container.graph.entries, equals: [])
            expect(container.graph.containers, equals: [])
            expect(container.graph.mermaid, equals: "flowchart TD\n")
            expect(container.graph.dot, equals: "digraph container {\n    node [shape=box];\n}\n")
            expect(container.graph.description, equals: "")
            expect(container.graph.json, equals: "{\"containers\": [], \"entries\": []}\n")
        }
        // A container without entries is left out, unless one below it has some.
        do {
            let root = Container()
            let child = root.child()
            let grandchild = child.child { $0[Host.self] = "deep" }
            let sibling = root.child()
            let graph = root.graph.filtered(by: "Host")
            expect(graph.containers.map(\.depth), equals: [0, 1, 2])
            expect(graph.containers.map(\.id), equals: grandchild.graph.filtered(by: "Host").containers.map(\.id))
            withExtendedLifetime((sibling, grandchild)) {}
        }
    }

    @Test("States: what was set, what has another loader, what was loaded, and nothing of what was reset")
    func states() throws {
        let container = Container()
        container[Host.self] = "example.org"
        container.replace(Api.self) { _ in Api() }
        _ = container[Client.self]
        try expect(entry("Host", container).state, equals: .set)
        try expect(entry("Password", container).state, equals: .defaultValue)
        try expect(entry("Client", container).state, equals: .loaded)
        try expect(entry("Api", container).state, equals: .replaced)
        _ = container[Api.self]
        try expect(entry("Api", container).state, equals: .loaded)
        container[Client.self] = Client()
        try expect(entry("Client", container).state, equals: .set)
        try expect(entry("Client", container).inputs, equals: [])
        container.reset(Host.self)
        expect(container.graph.entries.map(\.name), equals: ["Api", "Client", "Password"])
    }

    @Test("Inputs are what the load itself read, each once, wherever that lives (law 11)")
    func inputs() throws {
        // Inputs are what the load itself read, wherever that lives; entries are by depth and name.
        do {
            let root = Container()
            let child = root.child { $0[Host.self] = "child" }
            _ = child[Api.self]
            try expect(inputs("Api", child, depth: 1), equals: ["Client 1"])
            try expect(inputs("Client", child, depth: 1), equals: ["Host 1", "Password 0"])
            try expect(inputs("Password", child), equals: [])
            expect(
                child.graph.entries.map { "\($0.name) \($0.depth)" },
                equals: ["Password 0", "Api 1", "Client 1", "Host 1"])
            expect(root.graph, equals: child.graph)
            expect(child.child().graph.entries, equals: child.graph.entries)
            expect(child.graph.containers.map(\.name), equals: ["root", "container 1"])
            expect(child.graph.containers.map(\.parent), equals: [nil, 0])
            expect(Set(child.graph.entries.map(\.id)).count, equals: 4)
        }
        // A key that a load reads twice is one input, however many the load has.
        do {
            let inputs = (0..<40).map { number in PropertyKey(defaultValue: number, id: number) }
            let sum = FeatureKey(id: UniqueID()) { container in
                // From the tenth input on, the inputs are found in a set, which the eleventh read makes.
                let first = inputs[..<10].map { container[$0] } + [container[inputs[0]]]
                let others = inputs[10...].flatMap { [container[$0], container[$0]] }
                return (first + others).reduce(0, +)
            }
            let container = Container()
            _ = container[sum]
            let counts = GraphSnapshot(of: container).entries.map(\.inputs.count).filter { $0 > 0 }
            expect(counts, equals: [40])
        }
    }

    @Test("A value set in a child names the value that it overrides, in JSON and in words, too (law 10)")
    func overrides() throws {
        let root = Container()
        let child = root.child()
        let grandchild = child.child { $0[Host.self] = "deep" }
        try expect(entry("Host", grandchild, depth: 2).overrides == nil)
        root[Host.self] = "root"
        try expect(entry("Host", root).overrides == nil)
        try expect(entry("Host", grandchild, depth: 2).overrides, equals: "c0_Host")
        child[Host.self] = "child"
        let graph = grandchild.graph
        expect(graph.entries.map(\.overrides), equals: [nil, "c0_Host", "c1_Host"])
        expect(
            graph.explanation(of: "c2_Host"),
            equals: [
                "Host was set in container 2.", "This hides what was set in container 1.",
                "This hides what was set in the root.", "Nothing was loaded from it.",
            ])
        expect(graph.json.contains(#""overrides": "c1_Host""#))
        try expect(JSONDecoder().decode(ContainerGraph.self, from: Data(graph.json.utf8)), equals: graph)
        expect(graph.filtered(byContainer: 0).entries.map(\.overrides), equals: [nil])
        // A child's own instance replaces none, and a load that failed has none to give up.
        _ = (root[Client.self], grandchild[Client.self])
        try expect(entry("Client", grandchild, depth: 2).overrides == nil)
    }

    @Test("A feature is stale once an input has another loader or was reset, and not by an equal value (laws 9 and 12)")
    func staleByLoader() throws {
        // It's stale, too, once an input has another loader, or was reset, and nobody has read that yet.
        do {
            let changes: [(Container) -> Void] = [
                { $0.replace(Client.self) { _ in Client() } },
                { $0.decorate(Client.self) { client, _ in client } },
                { $0.reset(Client.self) },
            ]
            for change in changes {
                let container = Container().unreported
                let reader = FeatureKey(id: UniqueID()) { "\($0[Client.self])" }
                _ = container[reader]
                func staleCount() -> Int { container.graph.entries.count { $0.isStale } }
                expect(staleCount(), equals: 0)
                change(container)
                expect(staleCount(), equals: 1)
                expect(container.explain { _ in reader }.sentences.contains { $0.hasPrefix("It's stale") })
                _ = container[Client.self]
                expect(staleCount(), equals: 1)
            }
        }
        // Setting an equal value is no change: nothing becomes stale, observed or not.
        do {
            let container = Container()
            let reports = container.logReports()
            container[Host.self] = "example.org"
            _ = container[Client.self]
            container[Host.self] = "example.org"
            try expect(!entry("Client", container).isStale)
            container.observe(Host.self) { _ in }
            container[Host.self] = "example.org"
            try expect(!entry("Client", container).isStale)
            expect(reports.all, equals: [])
            container[Host.self] = "example.com"
            try expect(entry("Client", container).isStale)
            #if DEBUG
            expect(reports.count, equals: 1)
            #endif
        }
    }

    @Test(
        "A feature is stale from a change, here or above, of what it was made from, until it loads again (laws 10 and 12)"
    )
    func stale() throws {
        // A feature is stale when something changed that it was made from, until it loads again.
        do {
            let container = Container()
            let reports = container.logReports()
            _ = (container[Api.self], container[Live.self])
            expect(container.graph.entries.allSatisfy { !$0.isStale })
            container[Host.self] = "example.org"
            try expect(entry("Client", container).isStale)
            try expect(!entry("Host", container).isStale)
            expect(container.graph.entries.contains { $0.name == "Live" }, equals: false)
            _ = container[Live.self]
            try expect(!entry("Live", container).isStale)
            container.reset(Client.self)
            _ = container[Client.self]
            try expect(!entry("Client", container).isStale)
            try expect(entry("Api", container).isStale)
            #if DEBUG
            expect(
                reports.all.map { $0.prefix { $0 != "," } }, equals: ["Fugu: Host was set", "Fugu: Client was reset"])
            #endif
            _ = reports
        }
        // The graph of a child marks stale what an ancestor's change made so.
        do {
            let root = Container().unreported
            let child = root.child { $0[Password.self] = "other" }
            _ = child[Client.self]
            root[Host.self] = "example.org"
            try expect(entry("Client", child, depth: 1).isStale)
        }
    }

    @Test("Mermaid and DOT draw every entry and every arrow, from what was made to what it was made from")
    func drawings() {
        let root = Container().unreported
        let child = root.child { $0[Host.self] = "child" }
        _ = child[Client.self]
        child[Host.self] = "changed"
        expect(
            child.graph.mermaid,
            equals: """
                flowchart TD
                    subgraph c0["root"]
                        c0_Password(["Password (default)"])
                        subgraph c1["container 1"]
                            c1_Client["Client stale"]
                            c1_Host(["Host (set)"])
                        end
                    end
                    c1_Client --> c1_Host
                    c1_Client --> c0_Password
                    classDef stale stroke:#b9770e,stroke-width:2px,stroke-dasharray:4
                    class c1_Client stale

                """)
        expect(
            child.graph.dot,
            equals: """
                digraph container {
                    node [shape=box];
                    subgraph cluster_0 {
                        label="root";
                        c0_Password [label="Password (default)", style="rounded"];
                        subgraph cluster_1 {
                            label="container 1";
                            c1_Client [label="Client stale", style="dashed"];
                            c1_Host [label="Host (set)", style="rounded"];
                        }
                    }
                    c1_Client -> c1_Host;
                    c1_Client -> c0_Password;
                }

                """)
        expect(
            child.graph.description,
            equals: """
                root
                  Password (default)
                  container 1
                    Client stale ← Host, Password
                    Host (set)
                """)
    }

    @Test("Ids are words, also for value keys, and the angle brackets of generic types are no markup")
    func ids() {
        // Ids are words of letters, digits and underscores, also for value keys.
        do {
            let container = Container()
            container[PropertyKey(defaultValue: 1)] = 2
            _ = container[FeatureKey { _ in 1 }]
            _ = container[Pair<Int, String>.self]
            expect(container.graph.entries.count, equals: 3)
            for entry in container.graph.entries {
                expect(entry.id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
                expect(entry.id.first?.isLetter, equals: true)
            }
        }
        // The angle brackets of generic types are no markup: Mermaid gets them escaped, DOT as they are.
        do {
            let container = Container()
            _ = container[Pair<Int, String>.self]
            expect(container.graph.mermaid.contains("[\"Pair#lt;Int, String#gt;\"]"))
            expect(container.graph.dot.contains("c0_Pair_Int_String [label=\"Pair<Int, String>\"]"))
        }
    }

    @Test("A graph is a value: it survives being encoded, and later changes do not reach it")
    func codable() throws {
        let container = Container()
        container[Host.self] = "example.org"
        _ = container[Api.self]
        let graph = container.graph
        let data = try JSONEncoder().encode(graph)
        container.resetAll()
        let decoded = try JSONDecoder().decode(ContainerGraph.self, from: data)
        expect(decoded, equals: graph)
        // The text that needs no encoder is read as the same graph.
        let text = try JSONDecoder().decode(ContainerGraph.self, from: Data(graph.withoutDurations().json.utf8))
        expect(text, equals: graph.withoutDurations())
        expect(decoded.entries.count, equals: 4)
        expect(decoded.mermaid, equals: graph.mermaid)
        expect(container.graph.entries, equals: [])
    }

    @Test("No value is in it, secret or not (law 17)")
    func noValues() throws {
        let container = Container()
        container[Host.self] = "example.org"
        _ = container[Client.self]
        let graph = container.graph
        let json = String(decoding: try JSONEncoder().encode(graph), as: UTF8.self)
        for text in [json, graph.json, graph.html, graph.mermaid, graph.dot, graph.description, "\(graph)"] {
            expect(!text.contains("hunter2"))
            expect(!text.contains("example.org"))
        }
    }

    @Test("A scope's graph has what its rules set, as an ancestor's (law 14)")
    func scopes() throws {
        let container = Container()
        container.configureScopes { $0[Host.self] = "rule" }
        let scope = container.scope("/a")
        _ = scope[Client.self]
        try expect(entry("Host", scope, depth: 1).state, equals: .set)
        try expect(inputs("Client", scope, depth: 1), equals: ["Host 1", "Password 0"])
    }
}

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

/// Names in graphs can be read, and are escaped.
struct GraphNamesTests {}

extension GraphNamesTests {
    @Test("Types of one name are distinguished by the types around them; identifiers are the same in each run")
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

    @Test("The page holds the graph as JSON, and needs nothing from anywhere")
    func page() {
        // The page holds the graph as JSON, between what is the same for every graph.
        do {
            func parts(_ graph: ContainerGraph) -> [String] { graph.html.components(separatedBy: graph.json) }
            let (container, empty) = (Container(), Container())
            _ = container[GraphNamesOuter.Client.self]
            expect(parts(container.graph).count, equals: 2)
            expect(parts(container.graph), equals: parts(empty.graph))
        }
        // The page needs nothing from anywhere.
        do {
            let page = Container().graph.html
            for text in ["src=", "href=", "@import", "url(h", "fetch(", "https:"] { expect(!page.contains(text)) }
            expect(page.contains("default-src 'none'"))
            let addresses = page.components(separatedBy: "http://").dropFirst()
            expect(addresses.allSatisfy { $0.hasPrefix("www.w3.org/2000/svg") })
        }
    }
}

/// Descriptions of containers.
struct DescriptionLineTests {
    struct Service { let container: Container }
    struct Curious: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Curious { Curious(text: "\(container)") }
    }

    @Test("A description is one line of a log, alone, in what holds the container, and with a name of several lines")
    func lines() {
        let root = Container()
        root.containerName = "shop\nin\r\nMilan"
        let child = root.child { $0.containerName = "a\u{2028}b" }
        expect("\(child)", equals: "Container(a b: 0 set, 0 loaded)")
        let key = FeatureKey(id: "a\nb") { _ in 1 }
        for container in [root, child, root.observable._container] {
            container[key] = 1
            let texts = [
                "\(container)", String(reflecting: container), "\(Optional(container) as Any)",
                "\(Service(container: container))",
                "\([container])", "\(container.observable)", container[Curious.self].text,
            ]
            for text in texts { expect(!text.contains(where: \.isNewline), text) }
        }
    }
}
