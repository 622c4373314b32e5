import Fugu
import Support
import Testing

/// Through `configureScopes` and `scope`; the matcher's own tests are in Scopes/ScopePatternTests.swift.
@Suite("Patterns choose scopes by their whole path (law 22)")
struct Law22PatternsTests {
    struct IsMatched: Property { static var defaultValue: Bool { false } }

    private func matches(_ pattern: String, _ path: String) -> Bool {
        let container = Container()
        container.configureScopes(pattern) { $0[IsMatched.self] = true }
        return container.scope(path)[IsMatched.self]
    }

    private func expect(
        _ pattern: String, matches paths: String..., not others: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for path in paths { #expect(matches(pattern, path), "\(path)", sourceLocation: sourceLocation) }
        for path in others { #expect(!matches(pattern, path), "\(path)", sourceLocation: sourceLocation) }
    }

    @Test("A pattern matches the whole path (law 22)")
    func whole() {
        expect("/a", matches: "/a", not: ["/a/b", "/ab", "/b/a", "/A", "/"])
    }

    @Test("* is anything within a segment, also nothing (law 22)")
    func star() {
        expect("/a/*", matches: "/a/b", "/a/", not: ["/a", "/a/b/c"])
        expect("/*.json", matches: "/.json", "/x.json", not: ["/a/x.json", "/x.json/"])
        expect("/volcanos/*/status", matches: "/volcanos/3/status", not: ["/volcanos/3/4/status", "/volcanos/status"])
    }

    @Test("** is anything across segments (law 22)")
    func doubleStar() {
        expect("/a/**/b", matches: "/a/b", "/a/x/b", "/a/x/y/b", not: ["/ab", "/a/b/c", "/x/a/b"])
        expect("/a/**", matches: "/a/", "/a/b", "/a/b/c", not: ["/a", "/ab", "/b/a/c"])
        expect("**", matches: "", "/", "/a", "/a/b", not: [])
    }

    @Test("? is one character of a segment (law 22)")
    func one() {
        expect("/v?", matches: "/v1", "/vé", not: ["/v", "/v/", "/v10"])
        expect("/a?b", matches: "/axb", not: ["/a/b", "/ab"])
    }

    @Test("Everything else is itself (law 22)")
    func itself() {
        expect("/a.b+[c](d)\\e", matches: "/a.b+[c](d)\\e", not: ["/axb+[c](d)\\e", "/a.bb[c](d)\\e"])
    }

    @Test("A leading slash is optional on either side, and a query is ignored (law 22)")
    func slashAndQuery() {
        expect("a/b", matches: "/a/b", "a/b", "a/b?c=/d", not: ["//a/b", "/a/b/"])
        expect("/a/b", matches: "/a/b", "a/b", "/a/b?c", not: ["b?/a/b"])
    }

    @Test("A predicate takes the pattern's place, and is given the path with its slash and without its query (law 22)")
    func predicate() {
        let asked = Log<String>()
        let container = Container()
        container.configureScopes(
            where: {
                asked.add($0)
                return $0.count == 3
            }, description: "paths of three letters"
        ) { $0[IsMatched.self] = true }
        #expect(container.scope("ab?q=1")[IsMatched.self])
        #expect(!container.scope("/abc")[IsMatched.self])
        #expect(asked.all == ["/ab", "/abc"])
    }

    @Test("A predicate is asked once per computation and without a lock: it may read the container (laws 21 and 22)")
    func predicateWithoutLock() {
        struct Allowed: Property { static var defaultValue: Set<String> { [] } }
        let asked = Counter()
        let container = Container()
        container.configureScopes(
            where: { [unowned container] path in
                asked.add()
                return container[Allowed.self].contains(path)
            }, description: "what is allowed"
        ) { $0[IsMatched.self] = true }
        let scope = container.scope("/a")
        #expect(!scope[IsMatched.self])
        container[Allowed.self] = ["/a"]
        #expect(!scope[IsMatched.self])
        container.invalidateScopes()
        #expect(scope[IsMatched.self] && scope[IsMatched.self])
        #expect(asked.value == 2)
    }

    @Test("A pattern with many stars takes no longer for it (law 22)", .timeLimit(.minutes(5)))
    func manyStars() {
        let long = String(repeating: "/a", count: 5_000)
        #expect(!matches("/**/**/**/**/x", long))
        #expect(matches("/**/**/**/**/x", long + "/x"))
    }
}
