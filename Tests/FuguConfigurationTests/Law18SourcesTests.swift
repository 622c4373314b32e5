import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var host: PropertyKey<String> { .init("copied.host", defaultValue: "default") }
    fileprivate var port: PropertyKey<Int> { .init("copied.port", defaultValue: 80) }
    fileprivate var labels: PropertyKey<[String: String]> { .init("copied.labels", defaultValue: [:], form: .merged) }
}

private struct Zone: NamedProperty {
    static var name: String { "copied.zone" }
    static var defaultValue: String { "default" }
}

/// A source that counts who follows it.
private final class FollowedSource: PropertySource {
    let name = "followed"
    private let count = Locked(0)
    var followers: Int { count.withLock { $0 } }

    func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot([:], source: name) }

    func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        count.withLock { $0 += 1 }
        return { [count] in count.withLock { $0 -= 1 } }
    }
}

@Suite("A copy takes sources, the last container winning (law 18)") struct Law18SourcesTests {
    private let first = Container()
    private let second = Container()

    private func sourced(_ values: [String: PropertyValue]) -> DictionarySource {
        DictionarySource(values, name: "source of the second")
    }

    @Test("A copy keeps the values of a mutable source until it is reloaded, and the container follows it (law 18)")
    func mutable() throws {
        let (container, source) = (Container(), MutableSource(["copied.port": 1], name: "flags"))
        try container.apply(source)
        let copy = Container(copying: container)
        source["copied.port"] = 2
        #expect(container.port == 2 && copy.port == 1)
        try copy.reload()
        #expect(copy.port == 2)
    }

    @Test("A copy keeps nothing registered: when the container goes, its sources aren't followed any more (law 18)")
    func registration() throws {
        let source = FollowedSource()
        var container: Container? = Container()
        try container!.apply(source)
        let copies = [Container(copying: container!), Container(copying: container!.child(), second)]
        #expect(source.followers == 1)
        container = nil
        #expect(source.followers == 0)
        withExtendedLifetime(copies) {}
    }

    @Test("In a copy, too, a child's tables hide its parent's and aren't merged with them (law 18)")
    func levels() throws {
        try first.apply(sourced(["copied.labels": ["a": "1", "b": "1"]]))
        try first.apply(sourced(["copied.labels": ["b": "2"]]))
        let child = first.child()
        try child.apply(sourced(["copied.labels": ["c": "3"]]))
        for container in [child, Container(copying: child), Container(copying: first, child)] {
            #expect(container.labels == ["c": "3"])
            #expect(container.explain(\.labels).hidden.first?.value == "{b, a}")
        }
        let copy = Container(copying: child)
        try copy.apply(sourced(["copied.labels": ["d": "4"]]))
        #expect(copy.labels == ["c": "3", "d": "4"])
        try copy.removeSources(named: "source of the second")
        #expect(copy.labels == [:] && child.labels == ["c": "3"])
    }

    @Test(
        "What a later one's source has, though nobody asked it yet, wins over what code set in an earlier one (law 18)")
    func unasked() throws {
        first.host = "code"
        first[Zone.self] = "code"
        try second.apply(sourced(["copied": ["host": "source", "zone": "source"]]))
        let copy = Container(copying: first, second)
        #expect(copy.host == "source" && copy[Zone.self] == "source")
        #expect(Container(copying: first, second.child()).host == "source")
        #expect(first.host == "code")
    }

    @Test(
        "What code set in a later one wins over an earlier one's source; the source's value stands beneath (laws 18, 23)"
    )
    func codeOfTheLast() throws {
        first.host = "code"
        try second.apply(sourced(["copied.host": "source"]))
        let copy = Container(copying: second, first)
        #expect(copy.host == "code")
        copy.reset(\.host)
        #expect(copy.host == "source")
    }

    @Test("What a later one's source does not have, the earlier one's code gives (law 18)")
    func nothing() throws {
        first.host = "code"
        try second.apply(sourced(["copied.port": 1]))
        let copy = Container(copying: first, second)
        #expect(copy.host == "code" && copy.port == 1)
    }

    @Test("A later one's wrong value wins, too: the default is given and the mistake reported (laws 18, 25)")
    func wrong() throws {
        first.port = 8080
        try second.apply(sourced(["copied.port": "x"]))
        let copy = Container(copying: first, second)
        let reports = copy.reports()
        #expect(copy.port == 80)
        #expect(reports.all.count == 1)
    }
}
