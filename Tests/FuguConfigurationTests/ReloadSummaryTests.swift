import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var size: PropertyKey<Int> { .init("pool.size", defaultValue: 1) }
    fileprivate var host: PropertyKey<String> { .init("pool.host", defaultValue: "here") }
    fileprivate var port: PropertyKey<Int> { .init("port", defaultValue: 80) }
    fileprivate var unread: PropertyKey<Int> { .init("unread", defaultValue: 0) }
    fileprivate var doubled: PropertyKey<Int> { .init(defaultValue: Container.current.size * 2) }
}

/// Summaries of reloads (law 12, Configuring a program).
struct ReloadSummaryTests {
    struct Pool: Feature {
        let size: Int
        static func load(in container: any FeatureContainer) -> Pool { Pool(size: container.size) }
    }
    /// Made from what keeps the old value.
    struct Store: Feature {
        let pool: Pool
        static func load(in container: any FeatureContainer) -> Store { Store(pool: container[Pool.self]) }
    }
    /// Made from it, and from another value itself.
    struct Page: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Page {
            Page(text: "\(container[Pool.self].size) \(container.host)")
        }
    }
    struct Follower: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        let size: Int
        static func load(in container: any FeatureContainer) -> Follower { Follower(size: container.size) }
    }
    /// Made from what follows.
    struct Reader: Feature {
        let size: Int
        static func load(in container: any FeatureContainer) -> Reader { Reader(size: container[Follower.self].size) }
    }
    struct Doubled: AsyncFeature {
        let size: Int
        static func load(in container: any FeatureContainer) async throws -> Doubled {
            Doubled(size: container.doubled)
        }
    }
    /// Reads whenever it needs the value.
    struct Late: Feature {
        let container: any FeatureContainer
        static func load(in container: any FeatureContainer) -> Late { Late(container: container) }
    }

    private final class Text: Sendable {
        private let text: Locked<String>
        init(_ text: String) { self.text = Locked(text) }
        func set(_ new: String) { text.withLock { $0 = new } }
        var source: JSONSourceOfText { JSONSourceOfText { [text] in text.withLock { $0 } } }
    }
    /// A source that reads a text anew.
    private struct JSONSourceOfText: PropertySource {
        let text: @Sendable () -> String
        var name: String { "settings" }
        func load() throws(PropertyError) -> PropertySnapshot { try JSONSource(text: text(), name: name).load() }
    }

    private func kept(_ summary: ReloadSummary) -> [String] {
        summary.keptFeatures.map { "\($0.feature): \($0.names.joined(separator: ", "))" }
    }

    @Test("A reload says which names changed, and which loaded features keep an old value of one")
    func summary() async throws {
        let text = Text(#"{"pool": {"size": 4, "host": "a"}, "port": 1, "unread": 1}"#)
        let container = Container().unreported
        container.declare(\.unread)
        try container.apply(text.source)
        _ = (container[Store.self], container[Page.self], container[Reader.self], container[Late.self], container.port)
        _ = try await container[Doubled.self]
        expect(try container.reload().description, equals: "Nothing changed.")
        text.set(#"{"pool": {"size": 8, "host": "a"}, "port": 1, "unread": 2}"#)
        let summary = try container.reload()
        expect(summary.changedNames, equals: ["pool.size", "unread"])
        expect(kept(summary), equals: ["Doubled: pool.size", "Pool: pool.size", "Reader: pool.size"])
        expect(
            "\(summary)",
            equals:
                "Changed: pool.size and unread. Doubled keeps the old pool.size. Pool keeps the old pool.size. Reader keeps "
                + "the old pool.size.")
        // What was loaded since has the new value.
        for reset in [{ $0.reset(Pool.self) }, { $0.reset(Reader.self) }] as [(Container) -> Void] { reset(container) }
        expect(container[Pool.self].size, equals: 8)
        text.set(#"{"pool": {"size": 8, "host": "b"}, "port": 2, "unread": 2}"#)
        let second = try container.reload()
        expect(second.changedNames, equals: ["pool.host", "port"])
        expect(kept(second), equals: ["Page: pool.host"])
        // A name that is gone is another value.
        text.set(#"{"pool": {"host": "b"}, "port": 2, "unread": 2}"#)
        let third = try container.reload()
        expect(third.changedNames, equals: ["pool.size"])
        expect(kept(third), equals: ["Doubled: pool.size", "Pool: pool.size"])
    }

    @Test(
        "What code has set, an instance in a child that sets the value itself, and what another container has don't count"
    )
    func elsewhere() throws {
        let text = Text(#"{"pool": {"size": 4}}"#)
        let root = Container().unreported
        let container = root.child()
        try container.apply(text.source)
        let own = container.child { $0.size = 1 }
        let below = container.child { $0.host = "b" }
        _ = (root[Pool.self], container[Pool.self], own[Pool.self], own[Page.self], below[Store.self])
        text.set(#"{"pool": {"size": 5}}"#)
        expect(kept(try container.reload()), equals: ["Pool: pool.size"])
        container.size = 3
        container.reset(Pool.self)
        _ = container[Pool.self]
        text.set(#"{"pool": {"size": 6}}"#)
        let summary = try container.reload()
        expect(summary.changedNames, equals: ["pool.size"])
        expect(kept(summary), equals: [])
        expect(root[Pool.self].size, equals: 1)
    }

    #if DEBUG
    @Test("In debug builds, a feature that keeps an old value is reported at the reload, once, with path and fix")
    func report() throws {
        let text = Text(#"{"pool": {"size": 4}}"#)
        let container = Container()
        let reports = container.logReports()
        try container.apply(text.source)
        _ = container[Store.self]
        for size in 5...6 {
            text.set(#"{"pool": {"size": \#(size)}}"#)
            try container.reload()
            _ = container[Pool.self]
        }
        expect(
            reports.all,
            equals: [
                #"""
                Fugu: a source changed \.size, and Pool, which was loaded before, keeps the old value.
                Path: Pool → \.size
                Fix: to let Pool follow, declare `static var reloadsWhenInputsChange: Bool { true }`, or call \#
                reset(ReloadSummaryTests.Pool.self) after the reload. If the change needs a restart, say so by what reload() returns.
                """#
            ])
    }

    @Test("Sources that notify of a change, and those that replace others, are reported in the same way")
    func notified() throws {
        let source = MutableSource(["pool.size": 4], name: "live")
        let container = Container()
        let reports = container.logReports()
        try container.apply(source)
        _ = (container[Pool.self], container.host, container[Page.self])
        source["pool.size"] = 5
        expect(reports.count, equals: 1)
        try container.replaceSources(named: source.name, with: DictionarySource(["pool": ["host": "b"]], name: "new"))
        expect(
            reports.all.map { $0.prefix { $0 != "," } },
            equals: [#"Fugu: a source changed \.size"#, #"Fugu: a source changed \.host"#])
        // The value of the source that's gone was Pool's.
        expect(container.size, equals: 1)
    }
    #endif

    @Test("A secret's name is in a summary, and its value isn't")
    func secret() throws {
        let key = PropertyKey<String>("token", defaultValue: "", isSecret: true)
        let text = Text(#"{"token": "hunter2"}"#)
        let container = Container().unreported
        try container.apply(text.source)
        let user = FeatureKey(id: UniqueID()) { $0[key] }
        _ = container[user]
        text.set(#"{"token": "hunter3"}"#)
        let summary = try container.reload()
        expect(summary.changedNames, equals: ["token"])
        expect(summary.keptFeatures.map(\.names), equals: [["token"]])
        var dumped = ""
        dump(summary, to: &dumped)
        expect(!("\(summary)" + dumped).contains("hunter"))
    }
}
