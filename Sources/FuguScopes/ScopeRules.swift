import Fugu

/// A rule: a closure and the scopes that it applies to.
final class ScopeRule: Sendable {
    let matches: @Sendable (String) -> Bool
    let configure: @Sendable (any PropertyContainer) -> Void

    init(
        matches: @escaping @Sendable (String) -> Bool, configure: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        self.matches = matches
        self.configure = configure
    }
}

/// A child with a path, for which rules run.
final class Scope: Sendable {
    let path: String
    /// The container, as long as somebody keeps it.
    weak let container: Container?

    init(_ path: String, _ container: Container) {
        self.path = path
        self.container = container
    }

    /// Runs the rules that apply, in order, and publishes their values like one `update`.
    func runRules() {
        guard let container else { return }
        container.setByRules { view in
            for rule in ScopeTable.rules(above: container) where rule.matches(path) { rule.configure(view) }
        }
    }
}

/// What a container keeps of its scopes: the rules that were added there, and the scopes by path.
final class ScopeTable: ContainerAttachment {
    /// The scope that the container is, if it's one.
    let own: Scope?
    /// The table that has it.
    private weak let parent: ScopeTable?
    private let rules: Locked<[ScopeRule]>
    let scopes = Locked<[String: Scope]>([:])

    init(of own: Scope? = nil, in parent: ScopeTable? = nil, rules: [ScopeRule] = []) {
        self.own = own
        self.parent = parent
        self.rules = Locked(rules)
    }

    // The container was released.
    deinit { if let own { parent?.forget(own) } }

    /// The table of a container, empty at first.
    static func of(_ container: Container) -> ScopeTable { container.attachment(orMade: ScopeTable()) as! ScopeTable }

    /// The tables of the scopes whose rules run here.
    static var running: [ScopeTable] { Container.attachmentsInRules.compactMap { $0 as? ScopeTable } }

    var name: String? { own?.path }

    func copied(over farther: (any ContainerAttachment)?) -> (any ContainerAttachment)? {
        let nearer = allRules
        if nearer.isEmpty { return farther }
        // A rule that comes from two containers is kept once, at its last position.
        let known = Set(nearer.map { ObjectIdentifier($0) })
        let others = (farther as? ScopeTable)?.allRules ?? []
        return ScopeTable(rules: others.filter { !known.contains(ObjectIdentifier($0)) } + nearer)
    }

    /// The rules for a container's scopes, in the order in which they run.
    static func rules(above container: Container) -> [ScopeRule] {
        container.attachmentsAbove.flatMap { ($0 as? ScopeTable)?.allRules ?? [] }
    }

    private var allRules: [ScopeRule] { rules.withLock { $0 } }

    func add(_ rule: ScopeRule) { rules.withLock { $0.append(rule) } }

    /// Whether the rules of the scope with a path run here.
    func isRunning(_ path: String) -> Bool { Self.running.contains { $0.parent === self && $0.own?.path == path } }

    /// Returns the scope with a path, if somebody keeps it.
    func known(_ path: String) -> Container? { scopes.withLock { $0[path]?.container } }

    /// Returns the scope that somebody keeps with the path of a new one, or else the new one, of which this table knows from now on.
    func known(orNew scope: Scope, _ container: Container) -> Container {
        scopes.withLock { scopes in
            if let known = scopes[scope.path]?.container { return known }
            scopes[scope.path] = scope
            return container
        }
    }

    private func forget(_ scope: Scope) {
        scopes.withLock { scopes in if scopes[scope.path] === scope { scopes[scope.path] = nil } }
    }
}

/// A pattern for the paths of scopes, which must match the whole path.
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
    /// Characters, `?`, `*`, `**`, and `**/` at the beginning of a segment: nothing, or whole segments with the slash that ends them.
    private let tokens: [String]

    init(_ text: String) {
        var tokens: [String] = []
        for character in Self.characters(of: text) {
            let last = tokens.last
            if character == "*", last == "*" || last == "**" {
                tokens[tokens.count - 1] = "**"
            } else if character == "/", last == "**", ["/", "**/", nil].contains(tokens.dropLast().last) {
                tokens.removeLast()
                // Two in a row mean the same as one.
                if tokens.last != "**/" { tokens.append("**/") }
            } else {
                tokens.append(character)
            }
        }
        self.tokens = tokens
    }

    /// Returns the path with its leading slash and without its query, which identifies a scope.
    static func normalized(_ path: String) -> String {
        let bare = withoutQuery(path)
        return bare.first == "/" ? String(bare) : "/" + String(bare)
    }

    func matches(_ path: String) -> Bool {
        // For each token, whether those before it match what was read.
        var reached = Array(repeating: false, count: tokens.count + 1)
        var next = reached
        enter(0, &reached)
        for character in Self.characters(of: String(Self.withoutQuery(path))) {
            for index in next.indices { next[index] = false }
            for (index, token) in tokens.enumerated() where reached[index] {
                switch token {
                case "*": if character != "/" { enter(index, &next) }
                case "**": enter(index, &next)
                case "**/":
                    // In the middle of a skipped segment, it doesn't end.
                    next[index] = true
                    if character == "/" { enter(index + 1, &next) }
                case "?": if character != "/" { enter(index + 1, &next) }
                default: if token == character { enter(index + 1, &next) }
                }
            }
            // No continuation changes the answer.
            if !next.contains(true) { return false }
            if next[tokens.count], tokens.last == "**" { return true }
            swap(&reached, &next)
        }
        return reached[tokens.count]
    }

    /// Enters the state before a token, and those after it that need no character.
    private func enter(_ index: Int, _ reached: inout [Bool]) {
        reached[index] = true
        if index == tokens.count { return }
        switch tokens[index] {
        case "*", "**", "**/": enter(index + 1, &reached)
        default: break
        }
    }

    /// Returns the characters without the optional leading slash.
    ///
    /// It splits by scalar: a slash and a combining mark after it form one `Character`, which would let a path slip
    /// past its rules.
    private static func characters(of text: String) -> [String] {
        let scalars = text.unicodeScalars.first == "/" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        let segments = scalars.split(separator: "/", omittingEmptySubsequences: false)
        return Array(segments.map { Substring($0).map { String($0) } }.joined(separator: ["/"]))
    }

    private static func withoutQuery(_ path: String) -> Substring.UnicodeScalarView {
        path.unicodeScalars.prefix { $0 != "?" }
    }
}
