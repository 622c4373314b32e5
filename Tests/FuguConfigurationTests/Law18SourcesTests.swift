import Fugu
import FuguConfiguration
import Support
import Testing

extension ContainerKeys {
    fileprivate var host: PropertyKey<String> { .init("copied.host", defaultValue: "default") }
    fileprivate var port: PropertyKey<Int> { .init("copied.port", defaultValue: 80) }
}

private struct Zone: NamedProperty {
    static var name: String { "copied.zone" }
    static var defaultValue: String { "default" }
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
