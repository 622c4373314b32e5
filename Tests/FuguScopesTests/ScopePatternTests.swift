import Fugu
import Support
import Testing

@testable import FuguScopes

/// Through `configureScopes` and `scope`; the matcher's own tests follow below.
struct ScopePatternTests {}

extension ScopePatternTests {
    struct IsMatched: Property { static var defaultValue: Bool { false } }

    private func matches(_ pattern: String, _ path: String) -> Bool {
        let container = Container()
        container.configureScopes(pattern) { $0[IsMatched.self] = true }
        return container.scope(path)[IsMatched.self]
    }

    @Test("A pattern or a predicate chooses scopes by the whole path, with its slash and without the query (law 14)")
    func whole() {
        // A pattern chooses scopes by the whole path, with an optional leading slash and without the query.
        do {
            for path in ["/a/3/b", "a/3/b", "/a/3/b?c=/d"] {
                expect(matches("/a/*/b", path) && matches("a/*/b", path), path)
            }
            for path in ["/a/3/b/", "/a/3/4/b", "/x/a/3/b", "//a/3/b", "b?/a/3/b"] {
                expect(!matches("/a/*/b", path), path)
            }
            for path in ["", "/", "/a", "/a/b"] { expect(matches("**", path), path) }
        }
        // A predicate takes the pattern's place, and is given the path with its slash and without its query.
        do {
            let asked = Log<String>()
            let container = Container()
            container.configureScopes(
                where: {
                    asked.add($0)
                    return $0.count == 3
                }
            ) { $0[IsMatched.self] = true }
            expect(container.scope("ab?q=1")[IsMatched.self])
            expect(!container.scope("/abc")[IsMatched.self])
            expect(asked.all, equals: ["/ab", "/abc"])
        }
    }

    @Test("A predicate is asked once per computation and without a lock: it may read the container (law 14)")
    func predicateWithoutLock() {
        struct Allowed: Property { static var defaultValue: Set<String> { [] } }
        let asked = Counter()
        let container = Container()
        container.configureScopes(
            where: { [unowned container] path in
                asked.add()
                return container[Allowed.self].contains(path)
            }
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
}

/// Patterns over scope paths (law 14).
struct ScopePatternSearchTests {}

extension ScopePatternSearchTests {
    /// A pattern, paths that it matches and paths that it does not.
    struct Example: Sendable, CustomTestStringConvertible {
        let pattern: String
        let matching: [String]
        let others: [String]

        init(_ pattern: String, matches matching: [String] = [], not others: [String] = []) {
            self.pattern = pattern
            self.matching = matching
            self.others = others
        }

        var testDescription: String { pattern }
    }

    private static let root = ["", "/", "/?q", "?q"]

    @Test(
        "A pattern matches these paths and not those (law 14)",
        arguments: [
            Example("/a", matches: ["/a"], not: ["/a/b", "/ab", "/b/a", "/A", "/"]),
            Example("/volcanos/*/status", matches: ["/volcanos/3/status"], not: ["/volcanos/3/4/status", "/volcanos"]),
            Example("/*.json", matches: ["/.json", "/x.json"], not: ["/a/x.json", "/x.json/"]),
            Example("/a/*", matches: ["/a/b", "/a/"], not: ["/a", "/a/b/c", "/a/b/"]),
            Example("/a*b", matches: ["/ab", "/axb", "/a*b", "/abb"], not: ["/a/b", "/axbx", "/xab"]),
            Example("/*a*b*", matches: ["/ab", "/xaxbx", "/ba1ab"], not: ["/ba", "/a/b"]),
            Example(
                "/a/**/b", matches: ["/a/b", "/a/x/b", "/a/x/y/b", "/a//b"], not: ["/ab", "/a/xb", "/a/b/", "/a/bx"]),
            Example("/a/**", matches: ["/a/", "/a/b", "/a/b/c", "/a//"], not: ["/a", "/ab", "/b/a/c"]),
            Example("/a/**/", matches: ["/a/", "/a/b/", "/a/b/c/"], not: ["/a", "/a/b"]),
            Example("/**/x", matches: ["/x", "/a/x", "/a/b/x", "//x"], not: ["/", "/ax", "/x/a"]),
            Example("/**/a/**/b/**", matches: ["/a/b/", "/1/a/2/3/b/4/5"], not: ["/a/b", "/b/a/", "/1a/b/"]),
            Example("/a?c", matches: ["/abc", "/aéc", "/a🐡c", "/a👨‍👩‍👧c"], not: ["/ac", "/a/c", "/abbc"]),
            Example("/?/?", matches: ["/a/b"], not: ["/a/", "//b", "/ab"]),
            Example(
                "/a.b+(c)[d]\\e", matches: ["/a.b+(c)[d]\\e"],
                not: ["/axb+(c)[d]\\e", "/a.bb(c)[d]\\e", "/A.b+(c)[d]\\e"]),
            // A leading slash is optional on either side; a trailing one counts.
            Example("/a/b", matches: ["/a/b", "a/b"], not: ["/a/b/", "//a/b", "a//b"]),
            Example("a/b", matches: ["/a/b", "a/b"], not: ["/a/b/", "//a/b", "a//b"]),
            Example("/a/", matches: ["a/"]),
            Example("/*/a", matches: ["//a"]),
            // The empty path is the root. A query is ignored, whatever stands in it.
            Example("", matches: root), Example("/", matches: root), Example("*", matches: root),
            Example("/*", matches: root), Example("**", matches: root), Example("/**", matches: root),
            Example("?", not: root), Example("a", not: root), Example("/**/a", not: root), Example("//", not: root),
            Example("/*/*", not: root),
            Example("/a/b", matches: ["/a/b?c=/d/e&f=?"]),
            Example("/a/?", matches: ["/a/b?c"], not: ["/a/?c"]),
            Example("/a/c", not: ["/a/b?x=/a/c"]),
            Example("/a", matches: ["/a?\u{301}"]),
            // Two stars inside a segment cross slashes, and three are two.
            Example("/a**b", matches: ["/ab", "/axb", "/a/b", "/a/x/yb"]),
            Example("/a**", matches: ["/a", "/ab", "/a/", "/a/b/c"]),
            Example("/a**/b", matches: ["/a/b", "/ax/b", "/a/x/b"], not: ["/ab"]),
            Example("/a/***/b", matches: ["/a/b", "/a/x/b"]),
            Example("/****", matches: ["/a/b"]),
            // Characters are compared as a reader sees them, and every slash separates.
            Example("/caf\u{e9}", matches: ["/cafe\u{301}"]),
            Example("/cafe?", not: ["/cafe\u{301}"]),
            Example("/a/*", matches: ["/a/\u{301}b"]),
            Example("/a*", not: ["/a/\u{301}b"]),
            Example("/a?b", matches: ["/a\r\nb"]),
        ]
    )
    func examples(_ example: Example) {
        let pattern = ScopePattern(example.pattern)
        for path in example.matching { expect(pattern.matches(path), "\(example.pattern) should match \(path)") }
        for path in example.others { expect(!pattern.matches(path), "\(example.pattern) should not match \(path)") }
    }
}
