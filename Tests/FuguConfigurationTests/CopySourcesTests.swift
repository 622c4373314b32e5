import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var host: PropertyKey<String> { .init("copied.host", defaultValue: "default") }
    fileprivate var port: PropertyKey<Int> { .init("copied.port", defaultValue: 80) }
    fileprivate var labels: PropertyKey<[String: String]> { .init("copied.labels", defaultValue: [:], form: .merged) }
    fileprivate var zoneKey: PropertyKey<String> { .init("copied.zone", defaultValue: "default") }
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

/// A copy takes sources, the last container winning (law 2).
struct CopySourcesTests {
    private let first = Container()
    private let second = Container()
}

extension CopySourcesTests {
    private func sourced(_ values: [String: PropertyValue]) -> DictionarySource {
        DictionarySource(values, name: "source of the second")
    }

    private struct Keeper: Feature {
        let handle: Container
        static var home: Home { .local }
        static func load(in container: any FeatureContainer) -> Keeper { Keeper(handle: .current) }
    }

    @Test("Sources that are applied after their container was released change nothing, and are reported (law 7)")
    func late() throws {
        let reports = first.logReports()
        do {
            var child: Container? = first.child()
            let kept = child![Keeper.self].handle
            child = nil
            try kept.apply(sourced(["copied.port": 1]))
        }
        expect(
            reports.all,
            equals: [
                "Fugu: sources were applied after their container was released; nothing happens.\n"
                    + "Fix: keep the Container as long as features that captured it are used."
            ])
        // The name is new, so all sources of the family are asked.
        expect(first.host, equals: "default")
    }

    @Test("A copy keeps the values of a mutable source until it is reloaded, and keeps nothing registered (law 2)")
    func mutable() throws {
        // A copy keeps the values of a mutable source until it is reloaded, and the container follows it.
        do {
            let (container, source) = (Container(), MutableSource(["copied.port": 1], name: "flags"))
            try container.apply(source)
            let copy = Container(copying: container)
            source["copied.port"] = 2
            expect(container.port, equals: 2)
            expect(copy.port, equals: 1)
            try copy.reload()
            expect(copy.port, equals: 2)
        }
        // A copy keeps nothing registered: when the container goes, its sources aren't followed any more.
        do {
            let second = Container()
            let source = FollowedSource()
            var container: Container? = Container()
            try container!.apply(source)
            let copies = [Container(copying: container!), Container(copying: container!.child(), second)]
            expect(source.followers, equals: 1)
            container = nil
            expect(source.followers, equals: 0)
            withExtendedLifetime(copies) {}
        }
    }

    @Test("In a copy, too, a child's tables hide its parent's and aren't merged with them (law 2)")
    func levels() throws {
        try first.apply(sourced(["copied.labels": ["a": "1", "b": "1"]]))
        try first.apply(sourced(["copied.labels": ["b": "2"]]))
        let child = first.child()
        try child.apply(sourced(["copied.labels": ["c": "3"]]))
        for container in [child, Container(copying: child), Container(copying: first, child)] {
            expect(container.labels, equals: ["c": "3"])
            expect(container.explain(\.labels).hidden.first?.value, equals: "{b, a}")
        }
        let copy = Container(copying: child)
        try copy.apply(sourced(["copied.labels": ["d": "4"]]))
        expect(copy.labels, equals: ["c": "3", "d": "4"])
        try copy.removeSources(named: "source of the second")
        expect(copy.labels, equals: [:])
        expect(child.labels, equals: ["c": "3"])
    }

    @Test("A copy has a source's values of that moment, and doesn't follow it (law 2)")
    func independent() throws {
        let source = MutableSource(["copied.host": "before"], name: "changing")
        try first.apply(source)
        let copy = Container(copying: first)
        source.update { $0["copied.host"] = "after" }
        expect(first.host == "after" && copy.host == "before")
    }

    @Test(
        "A later one's source wins over an earlier one's code, asked or not, where it has a value, and its code over both (laws 2, 15)"
    )
    func unasked() throws {
        // What a later one's source has, though nobody asked it yet, wins over what code set in an earlier one.
        do {
            first.host = "code"
            first.zoneKey = "code"
            try second.apply(sourced(["copied": ["host": "source", "zone": "source"]]))
            let copy = Container(copying: first, second)
            expect(copy.host, equals: "source")
            expect(copy.zoneKey, equals: "source")
            expect(Container(copying: first, second.child()).host, equals: "source")
            expect(first.host, equals: "code")
        }
        // What code set in a later one wins over an earlier one's source; the source's value stands beneath.
        do {
            let first = Container()
            let second = Container()
            first.host = "code"
            try second.apply(sourced(["copied.host": "source"]))
            let copy = Container(copying: second, first)
            expect(copy.host, equals: "code")
            copy.reset(\.host)
            expect(copy.host, equals: "source")
        }
        // What a later one's source does not have, the earlier one's code gives.
        do {
            let first = Container()
            let second = Container()
            first.host = "code"
            try second.apply(sourced(["copied.port": 1]))
            let copy = Container(copying: first, second)
            expect(copy.host, equals: "code")
            expect(copy.port, equals: 1)
        }
    }

    @Test("A later one's wrong value wins, too: the default is given and the mistake reported (laws 2, 16)")
    func wrong() throws {
        first.port = 8080
        try second.apply(sourced(["copied.port": "x"]))
        let copy = Container(copying: first, second)
        let reports = copy.reports()
        expect(copy.port, equals: 80)
        expect(reports.all.count, equals: 1)
    }
}
