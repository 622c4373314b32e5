// The optimizer of Swift 6.3.1 crashes on this target where these tests are in it.
#if DEBUG
import Foundation
import Fugu
import FuguConfiguration
import Support
import Testing

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

extension ContainerKeys {
    fileprivate var mergedPool: PropertyKey<Pool?> { .init("law24m.pool", form: .merged) }
    fileprivate var wholePool: PropertyKey<Pool?> { .init("law24m.whole") }
    fileprivate var mergedLabels: PropertyKey<[String: String]> {
        .init("law24m.labels", defaultValue: [:], form: .merged)
    }
}

/// Tables are merged where a key asks for it, and nowhere else (law 24).
@Suite struct Law24MergedTests {
    private let container = Container()
    private let base = TOMLSource(
        text: "[law24m.pool]\nsize = 10\nidle = 5\nhosts = ['a', 'b']\nburst = {size = 2, note = 'n'}", name: "base")

    init() { container.declare(\.mergedPool) }

    @Test("The members of a merged table come from the last source that has them, from variables and arguments too")
    func members() throws {
        try container.apply(base)
        try container.apply(
            TOMLSource(text: "law24m.pool = {size = 20, hosts = ['c'], burst = {size = 3}}", name: "site"))
        #expect(
            container.mergedPool
                == Pool(size: 20, idle: 5, hosts: ["c"], burst: Pool.Burst(size: 3, note: "n")))
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_POOL_SIZE": "99"]))
        try container.apply(ArgumentsSource(["--law24m-pool-burst-note", "x", "--law24m-pool-hosts", "d", "e"]))
        try container.validate()
        #expect(
            container.mergedPool
                == Pool(size: 99, idle: 5, hosts: ["d", "e"], burst: Pool.Burst(size: 3, note: "x")))
        let explanation = container.explain(\.mergedPool) as Explanation
        #expect(
            Set(explanation.members.map(\.description)) == [
                "size (environment variable APP_LAW24M_POOL_SIZE)", "idle (base:3:8)",
                "hosts (argument --law24m-pool-hosts)", "burst.size (site:1:58)",
                "burst.note (argument --law24m-pool-burst-note)",
            ])
        #expect(explanation.hidden.isEmpty && explanation.winner.value == "{hosts, burst, size, idle}")
        #expect(container.child().mergedPool?.size == 99)
    }

    private enum TypedPool: NamedProperty {
        static var name: String { "law24m.typed" }
        static var form: PropertyForm<Pool?>? { .merged }
        static var defaultValue: Pool? { nil }
    }

    @Test("A merged property that is a type is explained, also where only variables give its members")
    func typed() throws {
        try container.apply(
            EnvironmentSource(
                prefix: "APP", environment: ["APP_LAW24M_TYPED_SIZE": "3", "APP_LAW24M_TYPED_IDLE": "1"]))
        let explanation = container.explain(TypedPool.self) as Explanation
        #expect(container[TypedPool.self] == Pool(size: 3, idle: 1))
        #expect(explanation.members.map(\.name) == ["size", "idle"])
    }

    @Test("A member that a folder can't give is a mistake, with its own reason")
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
        #expect(error?.description.contains(folder.path) == true)
    }

    @Test("The help text of a merged table shows the argument and the variable of each member")
    func help() throws {
        let reference = container.reference(prefix: "APP")
        let members = try #require(reference.entries.first).members
        #expect(members.map(\.argument).prefix(2) == ["--law24m-pool-size", "--law24m-pool-idle"])
        #expect(members.map(\.variable).prefix(2) == ["APP_LAW24M_POOL_SIZE", "APP_LAW24M_POOL_IDLE"])
        #expect(reference.helpText.contains("size <Int>, --law24m-pool-size, APP_LAW24M_POOL_SIZE"))
        #expect(reference.helpText.contains("a table with members of any source:"))
        #expect(reference.markdown.contains("`APP_LAW24M_POOL_SIZE`"))
        let whole = Container()
        whole.declare(\.wholePool)
        #expect(whole.reference().helpText.contains("a table, in files only:"))
    }

    @Test("Variables and arguments alone make a merged table")
    func variables() throws {
        let variables = ["LAW24M_POOL_SIZE": "1", "LAW24M_POOL_IDLE": "2"]
        try container.apply(EnvironmentSource(environment: variables))
        #expect(container.mergedPool == Pool(size: 1, idle: 2))
        try container.validate()
        #expect("\(container.explain(\.mergedPool) as Explanation)".hasPrefix("law24m.pool = {size, idle} ("))
    }

    @Test("A member that is wrong, missing, or unknown is reported with its own place")
    func mistakes() throws {
        try container.apply(base)
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_LAW24M_POOL_SIZE": "hunter2"]))
        #expect(
            thrown { try container.validate() }
                == "environment variable APP_LAW24M_POOL_SIZE: law24m.pool.size: expected Int, found text")
        let other = Container()
        other.declare(\.mergedPool)
        try other.apply(TOMLSource(text: "law24m.pool = {size = 1, idel = 2}", name: "t"))
        #expect(
            thrown { try other.validate() }.split(separator: "\n").last
                == "t:1:26: law24m.pool.idel: unknown name; did you mean law24m.pool.idle?")
        #expect(thrown { try other.validate() }.hasPrefix("t:1:15: law24m.pool.idle: missing; expected Int"))
    }

    @Test("A reload that changes a member of any source is seen, and secrets stay secrets")
    func reloaded() throws {
        let (lower, upper) = (ChangingSource(["law24m.pool.idle": 1]), ChangingSource(["law24m.pool.size": 1]))
        try container.apply(lower)
        try container.apply(upper.markingSecrets("*.size"))
        let seen = Log<Int?>()
        container.observe(\.mergedPool) { seen.add($0?.idle) }
        #expect(container.mergedPool == Pool(size: 1, idle: 1))
        lower.change(to: ["law24m.pool.idle": 2])
        try container.reload()
        try container.reload()
        #expect(container.mergedPool?.idle == 2 && seen.all == [2])
        #expect(container.explain(\.mergedPool).winner.value == nil)
    }

    @Test("A dictionary is merged too, and a value that isn't a table hides all below")
    func others() throws {
        try container.apply(DictionarySource(["law24m.labels": ["a": "1", "b": "2"]], name: "base"))
        try container.apply(DictionarySource(["law24m.labels": ["b": "3"]], name: "site"))
        #expect(container.mergedLabels == ["a": "1", "b": "3"])
        try container.apply(DictionarySource(["law24m.labels": 5], name: "wrong"))
        #expect(throws: PropertyError.self) { try container.require(\.mergedLabels) }
    }

    @Test("Where tables aren't merged, members that get lost are reported")
    func lost() throws {
        try container.apply(TOMLSource(text: "law24m.whole = {size = 1, idle = 2, hosts = ['a']}", name: "base"))
        try container.apply(TOMLSource(text: "law24m.whole = {size = 3, idle = 4}", name: "site"))
        #expect(container.wholePool == Pool(size: 3, idle: 4))
        #expect(
            thrown { try container.validate(\.wholePool) }
                .hasPrefix("base:1:37: law24m.whole.hosts: isn't used, because the table at site:1:16 replaces"))
    }
}
#endif
