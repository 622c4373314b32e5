/// A pattern over the paths of scopes (law 22), matched against the whole path.
///
/// | in a pattern | stands for |
/// | --- | --- |
/// | `*` | any characters of one segment, also none |
/// | `**` | any characters, slashes included, also none |
/// | `/**/` | a slash, or any whole segments between two: `/a/**/b` matches `/a/b` and `/a/x/y/b` |
/// | `?` | one character of a segment, never a slash |
/// | anything else | itself, letter for letter |
///
/// A leading slash is optional on either side, and a path ends at its first `?`, where a query begins. From these follow the
/// corners:
/// - The empty path is the root, `/`. `**`, `/**`, `*`, `/` and the empty pattern match it.
/// - A trailing slash counts: `/a` and `/a/` differ, `/a/*` and `/a/**` match the second. Only one leading slash is optional:
///   `//a` has an empty segment before `a`, which `/*/a` matches.
/// - `**` need not be a segment of its own: `/a**b` matches `/ab` and `/a/x/b`, and `/a**` is `/a` with everything that
///   begins so. Three stars or more are two.
/// - There is no escape. A star in a path is matched by `*` or `?`.
/// - Characters are compared as `Character`s, so é is é however it was composed; but every slash separates, also one that a
///   combining mark follows.
///
/// Matching follows all readings of the pattern at once (Thompson's construction), one character of the path at a time. It
/// therefore takes at most pattern × path steps, whatever the pattern, and usually gives up at the first character that
/// differs.
struct ScopePattern: Sendable, Hashable {
    /// The pattern as it was written, for messages and `explain`.
    let text: String
    private let tokens: [Token]

    init(_ text: String) {
        self.text = text
        tokens = Self.tokens(of: text)
    }

    /// The path with its leading slash and without its query: what identifies a scope.
    static func normalized(_ path: String) -> String {
        let bare = withoutQuery(path)
        return bare.unicodeScalars.first == "/" ? String(bare) : "/" + bare
    }

    func matches(_ path: String) -> Bool {
        var run = Run(of: tokens)
        var isFirst = true
        for segment in Self.segments(of: Self.withoutQuery(path)) {
            if !isFirst { run.advance(over: "/") }
            isFirst = false
            for character in segment {
                run.advance(over: character)
                if run.isDecided { return run.isAccepting }
            }
        }
        return run.isAccepting
    }
}

extension ScopePattern {
    private enum Token: Sendable, Hashable {
        case literal(Character)
        /// `?`
        case one
        /// `*`
        case star
        /// `**`
        case doubleStar
        /// `**/` at the beginning of a segment: nothing, or whole segments with the slash that ends them.
        case directories
    }

    private static func tokens(of text: String) -> [Token] {
        var tokens: [Token] = []
        let segments = segments(of: text[...])
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if !isLast, segment.count > 1, segment.allSatisfy({ $0 == "*" }) {
                // Two in a row say nothing more than one.
                if tokens.last != .directories { tokens.append(.directories) }
                continue
            }
            append(segment, to: &tokens)
            if !isLast { tokens.append(.literal("/")) }
        }
        return tokens
    }

    private static func append(_ segment: Substring, to tokens: inout [Token]) {
        var before: Character?
        for character in segment {
            switch character {
            case "*" where before == "*": tokens[tokens.count - 1] = .doubleStar
            case "*": tokens.append(.star)
            case "?": tokens.append(.one)
            default: tokens.append(.literal(character))
            }
            before = character
        }
    }

    /// The segments without the optional leading slash; split by scalar, because a slash and a combining mark after it would
    /// be one `Character`, and a path could slip past its rules so.
    private static func segments(of text: Substring) -> [Substring] {
        var scalars = text.unicodeScalars
        if scalars.first == "/" { scalars.removeFirst() }
        return scalars.split(separator: "/", omittingEmptySubsequences: false).map { Substring($0) }
    }

    private static func withoutQuery(_ path: String) -> Substring {
        Substring(path.unicodeScalars.prefix { $0 != "?" })
    }
}

extension ScopePattern {
    /// The states that a path has led to so far.
    ///
    /// State `i` means that the tokens before `i` have matched what was read.
    private struct Run {
        private let tokens: [Token]
        private var states: [Int] = []
        private var spare: [Int] = []
        /// For each state the last step that entered it, so that none is entered twice in one step.
        private var entered: [Int]
        private var step = 0

        init(of tokens: [Token]) {
            self.tokens = tokens
            entered = Array(repeating: -1, count: tokens.count + 1)
            enter(0)
            swap(&states, &spare)
        }

        var isAccepting: Bool { entered[tokens.count] == step }

        /// Whether no continuation of the path can change the answer.
        var isDecided: Bool {
            states.isEmpty || (tokens.last == .doubleStar && isAccepting)
        }

        mutating func advance(over character: Character) {
            step += 1
            spare.removeAll(keepingCapacity: true)
            for state in states where state < tokens.count {
                switch tokens[state] {
                case .literal(let expected): if character == expected { enter(state + 1) }
                case .one: if character != "/" { enter(state + 1) }
                case .star: if character != "/" { enter(state) }
                case .doubleStar: enter(state)
                case .directories:
                    stay(in: state)
                    if character == "/" { enter(state + 1) }
                }
            }
            swap(&states, &spare)
        }

        /// Enters a state, and those behind it that need no character.
        private mutating func enter(_ state: Int) {
            var state = state
            while stay(in: state), state < tokens.count {
                switch tokens[state] {
                case .star, .doubleStar, .directories: state += 1
                case .literal, .one: return
                }
            }
        }

        /// Enters a state alone: in the middle of a skipped segment `directories` must not be left.
        ///
        /// Whether it was new.
        @discardableResult
        private mutating func stay(in state: Int) -> Bool {
            guard entered[state] != step else { return false }
            entered[state] = step
            spare.append(state)
            return true
        }
    }
}
