/// A pattern for the paths of scopes (law 22), which must match the whole path.
///
/// | in a pattern | stands for |
/// | --- | --- |
/// | `*` | any characters of one segment, also none |
/// | `**` | any characters, slashes included, also none |
/// | `/**/` | a slash, or any whole segments between two: `/a/**/b` matches `/a/b` and `/a/x/y/b` |
/// | `?` | one character of a segment, never a slash |
/// | anything else | itself, letter for letter |
///
/// A leading slash is optional on either side, and a path ends at its first `?`, where a query begins. The details:
/// - The empty path is the root, `/`. The patterns `**`, `/**`, `*`, `/`, and the empty one match it.
/// - A trailing slash counts: `/a` and `/a/` differ, and `/a/*` and `/a/**` match the second. Only one leading slash
///   is optional: `//a` has an empty segment before `a`, which `/*/a` matches.
/// - `**` doesn't have to be a whole segment: `/a**b` matches `/ab` and `/a/x/b`, and `/a**` matches everything
///   that begins with `/a`. Three or more stars mean the same as two.
/// - There is no escape. `*` and `?` match a star in a path.
/// - Letters are compared as `Character`s, so é equals é however it's composed; but every slash separates, even one
///   that a combining mark follows.
///
/// Matching follows all readings of the pattern at once (Thompson's construction), one character of the path at a
/// time, so it takes at most pattern × path steps, and usually ends at the first character that differs.
struct ScopePattern: Sendable {
    /// The pattern as it was written, for messages and `explain`.
    let text: String
    private let tokens: [Token]

    init(_ text: String) {
        self.text = text
        tokens = Self.tokens(of: text)
    }

    /// Returns the path with its leading slash and without its query, which identifies a scope.
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
    private enum Token: Sendable, Equatable {
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
                // Two in a row mean the same as one.
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

    /// Returns the segments without the optional leading slash.
    ///
    /// It splits by scalar: a slash and a combining mark after it form one `Character`, which would let a path slip
    /// past its rules.
    private static func segments(of text: Substring) -> [Substring] {
        var scalars = text.unicodeScalars
        if scalars.first == "/" { scalars.removeFirst() }
        var segments: [Substring] = []
        var start = scalars.startIndex
        for index in scalars.indices where scalars[index] == "/" {
            segments.append(Substring(scalars[start..<index]))
            start = scalars.index(after: index)
        }
        return segments + [Substring(scalars[start...])]
    }

    private static func withoutQuery(_ path: String) -> Substring {
        let scalars = path.unicodeScalars
        return Substring(scalars[..<(scalars.firstIndex(of: "?") ?? scalars.endIndex)])
    }
}

extension ScopePattern {
    /// The states that the path has led to so far.
    ///
    /// State `i` means that the tokens before `i` match what was read.
    private struct Run {
        private let tokens: [Token]
        private var states: [Int] = []
        private var spare: [Int] = []
        /// For each state, the last step that entered it, so that no state is entered twice in a step.
        private var entered: [Int]
        private var step = 0

        init(of tokens: [Token]) {
            self.tokens = tokens
            entered = Array(repeating: -1, count: tokens.count + 1)
            enter(0)
            swap(&states, &spare)
        }

        var isAccepting: Bool { entered[tokens.count] == step }

        /// A Boolean value that indicates whether no continuation of the path can change the answer.
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

        /// Enters a state, and the states after it that need no character.
        private mutating func enter(_ state: Int) {
            var state = state
            while stay(in: state), state < tokens.count {
                switch tokens[state] {
                case .star, .doubleStar, .directories: state += 1
                case .literal, .one: return
                }
            }
        }

        /// Enters only this state: in the middle of a skipped segment, `directories` must not end.
        ///
        /// Returns whether the state is new.
        @discardableResult
        private mutating func stay(in state: Int) -> Bool {
            guard entered[state] != step else { return false }
            entered[state] = step
            spare.append(state)
            return true
        }
    }
}
