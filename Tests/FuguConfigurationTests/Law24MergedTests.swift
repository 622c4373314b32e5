// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG || UNOPTIMIZED
import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var typedPoolKey: PropertyKey<Pool?> { .init("law24m.typed", form: .merged) }
}

private struct Pool: Decodable, Sendable, Equatable {
    struct Burst: Decodable, Sendable, Equatable {
        var size = 1
        var note: String?
    }
    var size: Int
    var idle: Int
    var hosts: [String]?
    var burst: Burst?
}

private struct Nodes: Decodable, Sendable {
    var all: [Pool.Burst]?
    var labels: [String: String]?
}

extension ContainerKeys {
    fileprivate var mergedPool: PropertyKey<Pool?> { .init("law24m.pool", form: .merged) }
    fileprivate var readPool: PropertyKey<Pool?> { .init("law24m.read", form: .merged) }
    fileprivate var nodes: PropertyKey<Nodes?> { .init("law24m.nodes", form: .merged) }
    fileprivate var nodeList: PropertyKey<[Pool.Burst]> { .init("law24m.list", defaultValue: [], form: .merged) }
    fileprivate var wholePool: PropertyKey<Pool?> { .init("law24m.whole") }
    fileprivate var mergedLabels: PropertyKey<[String: String]> {
        .init("law24m.labels", defaultValue: [:], form: .merged)
    }
}

/// Tables are merged where a key asks for it, and nowhere else (law 24).
@Suite struct Law24MergedTests {
    static let cases: [Case<Law24MergedTests>] = [
        Case("A merged property that is a type is explained, also where only variables give its members", typed),
        Case("A member that a folder can't give is a mistake, with its own reason", oddMember),
        Case("The help text of a merged table shows the argument and the variable of each member", help),
        Case("Variables and arguments alone make a merged table", variables),
        Case("A member that is wrong, missing, or unknown is reported with its own place", mistakes),
        Case("A reload that changes a member of any source is seen, and secrets stay secrets", reloaded),
        Case("A dictionary is merged too, and a value that isn't a table hides all below", others),
        Case("Where tables aren't merged, members that get lost are reported", lost),
        Case(
            "A typo in a list of tables is found, inside a merged table, in a merged list, and beside a wrong element",
            listed),
        Case("The members of a merged table that was read are known names, declared or not", read),
        Case("A condition that isn't met names the place of a merged table, also where only variables give it", place),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law24MergedTests>) async throws { try await stated.run(self) }

    private let container = Container()
    private let base = TOMLSource(
        text: "[law24m.pool]\nsize = 10\nidle = 5\nhosts = ['a', 'b']\nburst = {size = 2, note = 'n'}", name: "base")

    init() { container.declare(\.mergedPool) }

    @Test("The members of a merged table come from the last source that has them, from variables and arguments too")
    func members() throws {
        try container.apply(base)
        try container.apply(
            TOMLSource(text: "law24m.pool = {size = 20, hosts = ['c'], burst = {size = 3}}", name: "site"))
        expect(
            container.mergedPool, equals: Pool(size: 20, idle: 5, hosts: ["c"], burst: Pool.Burst(size: 3, note: "n")))
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_POOL_SIZE": "99"]))
        try container.apply(ArgumentsSource(["--law24m-pool-burst-note", "x", "--law24m-pool-hosts", "d", "e"]))
        try container.validate()
        expect(
            container.mergedPool,
            equals: Pool(size: 99, idle: 5, hosts: ["d", "e"], burst: Pool.Burst(size: 3, note: "x")))
        let explanation = container.explain(\.mergedPool) as Explanation
        expect(
            Set(explanation.members.map(\.description)),
            equals: [
                "size (environment variable APP_LAW24M_POOL_SIZE)", "idle (base:3:8)",
                "hosts (argument --law24m-pool-hosts)", "burst.size (site:1:58)",
                "burst.note (argument --law24m-pool-burst-note)",
            ])
        expect(explanation.hidden.isEmpty)
        expect(explanation.winner.value, equals: "{hosts, burst, size, idle}")
        expect(container.child().mergedPool?.size, equals: 99)
    }

    func typed() throws {
        try container.apply(
            EnvironmentSource(
                prefix: "APP", environment: ["APP_LAW24M_TYPED_SIZE": "3", "APP_LAW24M_TYPED_IDLE": "1"]))
        let explanation = container.explain(\.typedPoolKey) as Explanation
        expect(container.typedPoolKey, equals: Pool(size: 3, idle: 1))
        expect(explanation.members.map(\.name), equals: ["size", "idle"])
    }

    func oddMember() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for spelling in ["law24m.pool.size", "law24m-pool-size"] {
            try Data("7".utf8).write(to: folder.appending(path: spelling))
        }
        try container.apply(TOMLSource(text: "[law24m.pool]\nidle = 5", name: "base"))
        try container.apply(FolderSource(path: folder.path))
        let error = #expect(throws: PropertyError.self) { try container.require(\.mergedPool) }
        expect(error?.description.contains(folder.path), equals: true)
    }

    func help() throws {
        let reference = container.reference(prefix: "APP")
        let members = try #require(reference.entries.first).members
        expect(members.map(\.argument).prefix(2), equals: ["--law24m-pool-size", "--law24m-pool-idle"])
        expect(members.map(\.variable).prefix(2), equals: ["APP_LAW24M_POOL_SIZE", "APP_LAW24M_POOL_IDLE"])
        expect(reference.helpText.contains("size <Int>, --law24m-pool-size, APP_LAW24M_POOL_SIZE"))
        expect(reference.helpText.contains("a table with members of any source:"))
        expect(reference.markdown.contains("`APP_LAW24M_POOL_SIZE`"))
        let whole = Container()
        whole.declare(\.wholePool)
        expect(whole.reference().helpText.contains("a table, in files only:"))
    }

    func variables() throws {
        let variables = ["LAW24M_POOL_SIZE": "1", "LAW24M_POOL_IDLE": "2"]
        try container.apply(EnvironmentSource(environment: variables))
        expect(container.mergedPool, equals: Pool(size: 1, idle: 2))
        try container.validate()
        expect("\(container.explain(\.mergedPool) as Explanation)".hasPrefix("law24m.pool = {size, idle} ("))
    }

    func mistakes() throws {
        try container.apply(base)
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_POOL_SIZE": "hunter2"]))
        expect(
            thrown { try container.validate() },
            equals: "environment variable APP_LAW24M_POOL_SIZE: law24m.pool.size: expected Int, found text")
        let other = Container()
        other.declare(\.mergedPool)
        try other.apply(TOMLSource(text: "law24m.pool = {size = 1, idel = 2}", name: "t"))
        expect(
            thrown { try other.validate() }.split(separator: "\n").last,
            equals: "t:1:26: law24m.pool.idel: unknown name; did you mean law24m.pool.idle?")
        expect(thrown { try other.validate() }.hasPrefix("t:1:15: law24m.pool.idle: missing; expected Int"))
    }

    func reloaded() throws {
        let (lower, upper) = (ChangingSource(["law24m.pool.idle": 1]), ChangingSource(["law24m.pool.size": 1]))
        try container.apply(lower)
        try container.apply(upper.markingSecrets("*.size"))
        let seen = Log<Int?>()
        container.observe(\.mergedPool) { seen.add($0?.idle) }
        expect(container.mergedPool, equals: Pool(size: 1, idle: 1))
        lower.change(to: ["law24m.pool.idle": 2])
        try container.reload()
        try container.reload()
        expect(container.mergedPool?.idle == 2 && seen.all == [2])
        expect(container.explain(\.mergedPool).winner.value == nil)
    }

    func others() throws {
        try container.apply(DictionarySource(["law24m.labels": ["a": "1", "b": "2"]], name: "base"))
        try container.apply(DictionarySource(["law24m.labels": ["b": "3"]], name: "site"))
        expect(container.mergedLabels, equals: ["a": "1", "b": "3"])
        try container.apply(DictionarySource(["law24m.labels": 5], name: "wrong"))
        #expect(throws: PropertyError.self) { try container.require(\.mergedLabels) }
    }

    func lost() throws {
        try container.apply(TOMLSource(text: "law24m.whole = {size = 1, idle = 2, hosts = ['a']}", name: "base"))
        try container.apply(TOMLSource(text: "law24m.whole = {size = 3, idle = 4}", name: "site"))
        expect(container.wholePool, equals: Pool(size: 3, idle: 4))
        expect(
            thrown { try container.validate(\.wholePool) }
                .hasPrefix("base:1:37: law24m.whole.hosts: isn't used, because the table at site:1:16 replaces"))
    }

    @Test("Members that get lost are reported at every depth, and where a child's table hides its parent's")
    func lostDeeper() throws {
        let burst = "burst = {size = 2, note = 'n'}"
        try container.apply(TOMLSource(text: "law24m.whole = {size = 1, idle = 2, \(burst)}", name: "base"))
        try container.apply(
            TOMLSource(text: "law24m.whole = {size = 3, idle = 4, burst = {size = 3}}", name: "site"))
        let deeper =
            "base:1:56: law24m.whole.burst.note: isn't used, because the table at site:1:45 replaces the whole table"
        expect(
            thrown { try container.validate(\.wholePool) },
            equals: deeper
                + "; write it there, or merge the tables with form: .merged")
        let child = container.child()
        try child.apply(TOMLSource(text: "law24m.whole = {size = 5, idle = 6}", name: "child"))
        let mistakes = thrown { try child.validate(\.wholePool) }.split(separator: "\n")
        expect(
            mistakes.first,
            equals:
                "site:1:37: law24m.whole.burst: isn't used, because the table at child:1:16 replaces the whole table; write it there",
            "\(mistakes)")
        // A child's merged table hides what only a variable of the parent gives, too.
        let merged = Container()
        try merged.apply(EnvironmentSource(environment: ["LAW24M_READ_HOSTS": "a"]))
        let below = merged.child()
        try below.apply(TOMLSource(text: "law24m.read = {size = 1, idle = 2}", name: "child"))
        expect(
            thrown { try below.validate(\.readPool) },
            equals:
                "environment variable LAW24M_READ_HOSTS: law24m.read.hosts: isn't used, because the table at child:1:15 "
                + "replaces the whole table; write it there")
        // A dictionary has no members that could get lost.
        let labels = Container()
        try labels.apply(TOMLSource(text: "law24m.nodes.labels = {a = 'a'}", name: "base"))
        let narrower = labels.child()
        try narrower.apply(TOMLSource(text: "law24m.nodes.labels = {b = 'b'}", name: "child"))
        expect(thrown { try narrower.validate(\.nodes) }, equals: "nothing")
    }

    func listed() throws {
        let text = "law24m.nodes.all = [{size = 1, noet = 'n'}]\nlaw24m.list = [{size = 'x'}, {size = 1, noet = 'n'}]"
        try container.apply(TOMLSource(text: text, name: "t"))
        expect(
            thrown { try container.validate(\.nodes, \.nodeList) },
            equals: """
                t:2:24: law24m.list[0].size: expected Int, found string
                t:1:32: law24m.nodes.all[0].noet: unknown name; did you mean law24m.nodes.all[0].note?
                t:2:41: law24m.list[1].noet: unknown name; did you mean law24m.list[1].note?
                """)
    }

    func read() throws {
        let container = Container()
        try container.apply(
            EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_READ_SIZE": "1", "APP_LAW24M_READ_IDLE": "2"]))
        expect(container.readPool, equals: Pool(size: 1, idle: 2))
        try container.validate()
    }

    func place() throws {
        try container.apply(
            EnvironmentSource(environment: ["LAW24M_POOL_SIZE": "1", "LAW24M_POOL_IDLE": "2"]))
        container.declareCheck(of: \.mergedPool, "is too small") { ($0.mergedPool?.size ?? 2) > 1 }
        expect(
            thrown { try container.validate() },
            equals: "environment variable LAW24M_POOL_SIZE: law24m.pool: is too small")
        try container.apply(TOMLSource(text: "law24m.pool.size = 0", name: "t"))
        expect(thrown { try container.validate() }, equals: "t:1:8: law24m.pool: is too small")
    }
}
#endif
