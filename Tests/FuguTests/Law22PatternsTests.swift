import Fugu
import Support
import Testing

/// Through `configureScopes` and `scope`; the matcher's own tests are in Scopes/ScopePatternTests.swift.
@Suite("Patterns choose scopes by their whole path (law 22)")
struct Law22PatternsTests {
    static let cases: [Case<Law22PatternsTests>] = [
        Case("A pattern matches the whole path (law 22)", whole),
        Case("* is anything within a segment, also nothing (law 22)", star),
        Case("** is anything across segments (law 22)", doubleStar),
        Case("? is one character of a segment (law 22)", one),
        Case("Everything else is itself (law 22)", itself),
        Case("A leading slash is optional on either side, and a query is ignored (law 22)", slashAndQuery),
        Case(
            "A predicate takes the pattern's place, and is given the path with its slash and without its query (law 22)",
            predicate),
        Case(
            "A predicate is asked once per computation and without a lock: it may read the container (laws 21 and 22)",
            predicateWithoutLock),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law22PatternsTests>) async throws {
        try await stated.run(self)
    }

    struct IsMatched: Property { static var defaultValue: Bool { false } }

    private func matches(_ pattern: String, _ path: String) -> Bool {
        let container = Container()
        container.configureScopes(pattern) { $0[IsMatched.self] = true }
        return container.scope(path)[IsMatched.self]
    }

    private func check(
        _ pattern: String, matches paths: String..., not others: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for path in paths { #expect(matches(pattern, path), "\(path)", sourceLocation: sourceLocation) }
        for path in others { #expect(!matches(pattern, path), "\(path)", sourceLocation: sourceLocation) }
    }

    func whole() {
        check("/a", matches: "/a", not: ["/a/b", "/ab", "/b/a", "/A", "/"])
    }

    func star() {
        check("/a/*", matches: "/a/b", "/a/", not: ["/a", "/a/b/c"])
        check("/*.json", matches: "/.json", "/x.json", not: ["/a/x.json", "/x.json/"])
        check("/volcanos/*/status", matches: "/volcanos/3/status", not: ["/volcanos/3/4/status", "/volcanos/status"])
    }

    func doubleStar() {
        check("/a/**/b", matches: "/a/b", "/a/x/b", "/a/x/y/b", not: ["/ab", "/a/b/c", "/x/a/b"])
        check("/a/**", matches: "/a/", "/a/b", "/a/b/c", not: ["/a", "/ab", "/b/a/c"])
        check("**", matches: "", "/", "/a", "/a/b", not: [])
    }

    func one() {
        check("/v?", matches: "/v1", "/vé", not: ["/v", "/v/", "/v10"])
        check("/a?b", matches: "/axb", not: ["/a/b", "/ab"])
    }

    func itself() {
        check("/a.b+[c](d)\\e", matches: "/a.b+[c](d)\\e", not: ["/axb+[c](d)\\e", "/a.bb[c](d)\\e"])
    }

    func slashAndQuery() {
        check("a/b", matches: "/a/b", "a/b", "a/b?c=/d", not: ["//a/b", "/a/b/"])
        check("/a/b", matches: "/a/b", "a/b", "/a/b?c", not: ["b?/a/b"])
    }

    func predicate() {
        let asked = Log<String>()
        let container = Container()
        container.configureScopes(
            where: {
                asked.add($0)
                return $0.count == 3
            }, description: "paths of three letters"
        ) { $0[IsMatched.self] = true }
        expect(container.scope("ab?q=1")[IsMatched.self])
        expect(!container.scope("/abc")[IsMatched.self])
        expect(asked.all, equals: ["/ab", "/abc"])
    }

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
        expect(!scope[IsMatched.self])
        container[Allowed.self] = ["/a"]
        expect(!scope[IsMatched.self])
        container.invalidateScopes()
        expect(scope[IsMatched.self])
        expect(scope[IsMatched.self])
        expect(asked.value, equals: 2)
    }

    @Test("A pattern with many stars takes no longer for it (law 22)", .timeLimit(.minutes(5)))
    func manyStars() {
        let long = String(repeating: "/a", count: 5_000)
        expect(!matches("/**/**/**/**/x", long))
        expect(matches("/**/**/**/**/x", long + "/x"))
    }
}
