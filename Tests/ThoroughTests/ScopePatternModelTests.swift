import Support
import Testing

@testable import FuguScopes

@Suite("Patterns over scope paths against a slow matcher (law 14)") struct ScopePatternModelTests {}

extension ScopePatternModelTests {
    @Test("Every short pattern agrees with the slow matcher on every short path (law 14)")
    func exhaustive() {
        let paths = Self.words(over: ["a", "b", "/"], upTo: 4)
        #if DEBUG
        let longest = 4
        #else
        let longest = 5
        #endif
        for text in Self.words(over: ["a", "/", "*", "?"], upTo: longest) {
            let pattern = ScopePattern(text)
            let slow = SlowPattern(text)
            for path in paths where pattern.matches(path) != slow.matches(path) {
                Issue.record("\(text) against \(path): \(pattern.matches(path)), slowly \(slow.matches(path))")
            }
        }
    }

    @Test("Random patterns agree with the slow matcher (law 14)", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = ["a", "b", "/", "/", "*", "**", "?", "/**/", "/*/", "a*", "**b"]
        var matched = 0
        let count = rounds(3_000, few: 1_000)
        for _ in 0..<count {
            let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in parts.randomElement(using: &random)! }
                .joined()
            let path = Self.path(for: text, using: &random)
            let expected = SlowPattern(text).matches(path)
            expect(ScopePattern(text).matches(path), equals: expected, "seed \(seed): \(text) against \(path)")
            if expected { matched += 1 }
        }
        expect(
            (count / 6...count * 5 / 6).contains(matched),
            "seed \(seed): the inputs should match about half of the time")
    }

    @Test("No pattern makes a long path explode (law 14)", .timeLimit(.minutes(5)))
    func linear() {
        let count = rounds(20_000, few: 5_000)
        let long = String(repeating: "/a", count: count)
        expect(!ScopePattern("/**/**/**/**/x").matches(long))
        expect(ScopePattern("/**/**/**/**/x").matches(long + "/x"))
        expect(!ScopePattern(String(repeating: "/**/a", count: 30) + "/x").matches(long))
        expect(!ScopePattern(String(repeating: "*a", count: 30) + "x").matches(String(repeating: "a", count: count)))
        expect(!ScopePattern(String(repeating: "**a", count: 30) + "x").matches(long))
        expect(!ScopePattern("/b/**").matches(long))
    }
}

extension ScopePatternModelTests {
    private static func words(over letters: [String], upTo length: Int) -> [String] {
        var all = [""]
        var longest = [""]
        for _ in 0..<length {
            longest = longest.flatMap { word in letters.map { word + $0 } }
            all += longest
        }
        return all
    }

    /// A path made from the pattern, so that about half of them match: random ones hardly ever would.
    private static func path(for pattern: String, using random: inout SeededGenerator) -> String {
        var path = ""
        for character in pattern {
            switch character {
            case "*": path += ["", "a", "b/", "/b", "ab"].randomElement(using: &random)!
            case "?": path += ["a", "b"].randomElement(using: &random)!
            default: path.append(character)
            }
        }
        return Bool.random(using: &random) ? path : path + ["", "/", "a"].randomElement(using: &random)!
    }
}

/// Law 14 spelled out with no care for time: every way to divide the path is tried.
private struct SlowPattern {
    private let pattern: [Character]

    init(_ text: String) {
        var text = text.hasPrefix("/") ? text : "/" + text
        while let stars = text.firstRange(of: "***") { text.replaceSubrange(stars, with: "**") }
        pattern = Array(text)
    }

    func matches(_ path: String) -> Bool {
        Self.matches(pattern[...], Array(path.hasPrefix("/") ? path : "/" + path)[...])
    }

    private static func matches(_ pattern: ArraySlice<Character>, _ path: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        let suffixes = (path.startIndex...path.endIndex).lazy.map { path[$0...] }
        if pattern.starts(with: "/**/") {
            guard path.first == "/" else { return false }
            return suffixes.contains { $0.first == "/" && matches(pattern.dropFirst(3), $0) }
        }
        if pattern.starts(with: "**") {
            return suffixes.contains { matches(pattern.dropFirst(2), $0) }
        }
        switch first {
        case "*":
            let reach = path.prefix { $0 != "/" }.endIndex
            return (path.startIndex...reach).contains { matches(pattern.dropFirst(), path[$0...]) }
        case "?":
            return !path.isEmpty && path.first != "/" && matches(pattern.dropFirst(), path.dropFirst())
        default:
            return path.first == first && matches(pattern.dropFirst(), path.dropFirst())
        }
    }
}
