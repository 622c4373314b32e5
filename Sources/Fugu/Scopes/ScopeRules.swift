/// A rule: a closure and the scopes that it applies to.
final class ScopeRule: Sendable {
    /// The description in messages and graphs.
    let description: String
    let matches: @Sendable (String) -> Bool
    let configure: @Sendable (any PropertyContainer) -> Void

    init(
        description: String, matches: @escaping @Sendable (String) -> Bool,
        configure: @escaping @Sendable (any PropertyContainer) -> Void
    ) {
        self.description = description
        self.matches = matches
        self.configure = configure
    }
}

/// The state of a scope's rules.
///
/// The family's lock protects it.
final class ScopeState {
    let path: String
    /// The parent, which has the scope by its path.
    private let parent: UnmanagedReference<Node>
    /// The run of the rules in progress, for which callers that ask for the scope wait.
    var run: Frame?
    /// Whether rules were added, or must run again for another reason, since the last run began.
    var isOutdated = true
    /// The keys that rules set.
    var keys: Set<Key> = []

    init(path: String, parent: Node) {
        self.path = path
        self.parent = UnmanagedReference(parent)
    }

    /// Removes the scope from its parent's tables, because the container is being released.
    func forget(_ token: LockToken, in node: Node) {
        parent.use { parent in
            guard let rare = parent.storage[token].rare, rare.scopes[path]?.node == UnmanagedReference(node) else {
                return
            }
            rare.scopes[path] = nil
        }
    }
}

/// A scope whose rules must run.
struct ScopeRun {
    let container: Container
    private var node: Node { container.node }
    private var family: Family { node.family }

    init(_ container: Container) { self.container = container }

    private enum Step {
        case done
        case run(Frame, [ScopeRule])
        case wait(Wait)
        case circle(String)
    }

    /// Runs the rules, if they haven't run since they last changed, or waits for another thread that runs them.
    ///
    /// - `isForNewRule`: Whether code has added a rule, rather than that what rules read has changed.
    func finish(isForNewRule: Bool = false) {
        let waiter = Frame.current
        while true {
            switch family.lock.withLock({ token in next(token, waiter) }) {
            case .done: return
            case .run(let frame, let rules): run(rules, in: frame, isForNewRule)
            case .wait(let wait): wait.block()
            case .circle(let path): stopProgram(Messages.scopeNeedsItself(path))
            }
        }
    }

    private func next(_ token: LockToken, _ waiter: Frame?) -> Step {
        guard let scope = node.storage[token].rare?.scope, !node.isEnded(token) else { return .done }
        if let frame = scope.run {
            if waiter?.chain.contains(where: { $0 === frame }) == true { return .circle(scope.path) }
            return frame.beginWait(token, for: waiter).map { .wait($0) } ?? .circle(scope.path)
        }
        guard scope.isOutdated else { return .done }
        scope.isOutdated = false
        let frame = Frame(.rules, in: family, node, under: waiter, within: Frame.own)
        scope.run = frame
        let rules = Array(node.path.dropFirst()).reversed().flatMap { $0.storage[token].rare?.rules ?? [] }
        return .run(frame, rules)
    }

    /// Runs the rules that apply, in order, and publishes their values like one `update`.
    private func run(_ rules: [ScopeRule], in frame: Frame, _ isForNewRule: Bool) {
        let (node, path) = (node, family.lock.withLock { token in self.node.storage[token].rare?.scope?.path ?? "" })
        let view = Container(.rule(frame, container), asking: node)
        frame.collectWrites()
        Context.run(nil, frame) {
            for rule in rules where rule.matches(path) { rule.configure(view) }
            publish(frame.takeWrites(), isForNewRule)
        }
        family.lock.withLock { token in node.storage[token].rare?.scope?.run = nil }
        frame.end()
    }

    /// Sets the values that rules wrote, and removes those that only an earlier run wrote.
    private func publish(_ written: [Write], _ isForNewRule: Bool) {
        let keys = Set(written.map(\.key))
        let before = family.lock.withLock { token in
            defer { node.storage[token].rare?.scope?.keys = keys }
            return node.storage[token].rare?.scope?.keys ?? []
        }
        var writes = written
        for key in before where !keys.contains(key) { writes.append(Write(node, TypedKey(resetting: key), .rule(nil))) }
        if !writes.isEmpty { family.commit(writes, outdates: isForNewRule) }
    }
}

extension Frame {
    /// Returns the path of the scope at or below `node` whose rules run.
    func configuredPath(within node: Node) -> String? {
        guard let frame = chain.first(where: { $0.kind == .rules && $0.node!.isWithin(node) }) else { return nil }
        return family.lock.withLock { token in frame.node!.storage[token].rare?.scope?.path }
    }
}
