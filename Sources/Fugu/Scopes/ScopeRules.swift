import Synchronization

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

/// The rules and scopes of a node.
///
/// The lock of the family guards it.
struct ScopeState {
    /// The rules that were added here, in order.
    var rules: [ScopeRule] = []
    /// The scopes of this node by path, for as long as someone holds them.
    var scopes: [String: WeakScope] = [:]
    /// Set if the node is the layer of a scope: the node between a scope and its parent that contains the values of
    /// rules.
    var layer: RuleState?
}

struct WeakScope {
    weak var container: Container?
    let layer: UnmanagedReference<Node>
}

/// The state of a layer.
///
/// The lock of the family guards it.
struct RuleState {
    let path: String
    var isComputed = false
    var computation: Computation?
    /// The keys that rules set.
    var keys: [Key] = []
}

/// The configuration of a layer in progress, for which other readers of the scope wait.
final class Computation: CallFrame {
    let layer: Node
    let path: String
    let parent: (any CallFrame)?
    let nesting: Nesting
    let outermost = Current.outermost
    let waiters = FamilyLocked<[Signal]>([])
    private let finished = Atomic(false)

    init(of layer: Node, at path: String, parent: (any CallFrame)?) {
        self.layer = layer
        self.path = path
        self.parent = parent
        nesting = Nesting(under: parent?.nesting)
    }

    deinit { waiters.free() }

    var family: Family { layer.family }
    var key: Key? { nil }
    func isOf(_ node: Node) -> Bool { layer === node }
    var isFinished: Bool { finished.load(ordering: .sequentiallyConsistent) }
    func finish() { finished.store(true, ordering: .sequentiallyConsistent) }
}

extension CallFrame {
    /// Returns the path of the scope at or below `node` that is being configured.
    func configuredPath(within node: Node) -> String? {
        chain.lazy.compactMap { $0 as? Computation }.first { $0.layer.isWithin(node) }?.path
    }
}

extension Node {
    /// Configures the layers above, as far as that hasn't happened, before a read.
    func prepareScopes() {
        guard family.hasScopes else { return }
        for node in Array(path).reversed() { Layer(node: node).prepare() }
    }

    /// Whether all rules have run that a read here needs; read it under the lock.
    func isConfigured(_ token: LockToken) -> Bool {
        !family.hasScopes || path.allSatisfy { $0.storage[token].rare?[token].scopes.layer?.isComputed != false }
    }
}

/// A node as the layer of a scope, if it's one.
struct Layer {
    let node: Node

    private enum Preparation {
        case none
        case compute(Computation, [ScopeRule])
        case wait(Computation, Signal)
        case circle(String)
    }

    /// Runs the rules, if they haven't run, or waits for another thread that does.
    fileprivate func prepare() {
        let parent = Current.unfinished
        while true {
            switch node.family.lock.withLock({ token in decide(token, parent) }) {
            case .none: return
            case .compute(let computation, let rules): computation.run(rules)
            case .wait(let computation, let signal):
                signal.wait()
                WaitGraph.remove(parent, waitingFor: computation)
            case .circle(let path): fatalError(Messages.scopeNeedsItself(path))
            }
        }
    }

    private func decide(_ token: LockToken, _ parent: (any CallFrame)?) -> Preparation {
        guard let rare = node.storage[token].rare, let layer = rare[token].scopes.layer,
            !layer.isComputed || layer.computation != nil, !node.isEnded(token)
        else { return .none }
        if let computation = layer.computation {
            guard parent?.chain.contains(where: { $0 === computation }) != true,
                WaitGraph.add(parent, waitingFor: computation) == nil
            else { return .circle(layer.path) }
            let signal = Signal()
            computation.waiters[token].append(signal)
            return .wait(computation, signal)
        }
        let computation = Computation(of: node, at: layer.path, parent: parent)
        rare[token].scopes.layer?.computation = computation
        // An invalidation during the configuration resets it.
        rare[token].scopes.layer?.isComputed = true
        let rules = Array(node.path).reversed().flatMap { $0.storage[token].rare?[token].scopes.rules ?? [] }
        return .compute(computation, rules)
    }

    /// Makes the rules run again before the next read; call it under the lock.
    ///
    /// Returns whether that's at once, since the scope is observed.
    func invalidate(_ token: LockToken) -> Bool {
        guard let rare = node.storage[token].rare, rare[token].scopes.layer?.isComputed == true else { return false }
        rare[token].scopes.layer?.isComputed = false
        node.storage.raiseEpoch(token, to: node.family.state[token].tick(), reachesDescendants: true)
        let nodes = node.subtree(token)
        // The next read of an instance that rules may drop must run the rules first.
        for node in nodes { node.storage.cellsThatReload(token).forEach { $0.close() } }
        return nodes.contains { $0.storage[token].followerCount > 0 }
    }
}

extension Computation {
    /// Runs the rules that apply, in order, and publishes their values like one `update`.
    fileprivate func run(_ rules: [ScopeRule]) {
        let view = RuleView(layer)
        let handle = Container(view: view)
        Current.run(self) {
            for rule in rules where rule.matches(path) { rule.configure(handle) }
            publish(view.end())
        }
        finish()
        let waiters = family.lock.withLock { token in
            layer.storage[token].rare?[token].scopes.layer?.computation = nil
            for node in layer.subtree(token) where node.isConfigured(token) {
                node.storage.cellsThatReload(token).forEach { $0.openIfPresent() }
            }
            return self.waiters[token]
        }
        for waiter in waiters { waiter.raise() }
        Deferred.deliver(after: self)
    }

    /// Sets the values that rules wrote, and resets those that only an earlier run wrote.
    private func publish(_ written: [Write]) {
        let keys = written.map(\.key)
        let before = family.lock.withLock { token in
            guard let rare = layer.storage[token].rare else { return [Key]() }
            defer { rare[token].scopes.layer?.keys = keys }
            return rare[token].scopes.layer?.keys ?? []
        }
        let gone = before.filter { !keys.contains($0) }
            .map { Write(layer, TypedKey(resetting: $0), .reset) }
        if !(written + gone).isEmpty { family.commit(written + gone) }
    }
}

extension StorageReference {
    /// The cells of instances that are dropped when an input changes; read it under the lock.
    fileprivate func cellsThatReload(_ token: LockToken) -> some Sequence<CellReference> {
        cells(token).lazy.filter { $0.has(CellFlags.loaded) && $0.state?[token].provenance?.reloads == true }
    }
}

/// The handle of a rule.
///
/// Its writes are published after all rules have run; its reads see the values of earlier rules, or else those of the
/// scope's parent.
private final class RuleView: Backend {
    let node: Node
    private let pending = Locked<[Write]?>([])

    init(_ layer: Node) { node = layer }

    func end() -> [Write] {
        pending.withLock { writes in
            defer { writes = nil }
            return writes ?? []
        }
    }

    func read(_ request: Request, _ container: Container, _ load: (Container) throws -> Payload) throws -> Payload {
        if let pending = present(request.key) { return pending }
        return try node.parent!.read(request, container, load)
    }

    func change(_ key: TypedKey, _ operation: Operation) {
        let isOpen = pending.withLock { writes in
            guard writes != nil else { return false }
            writes!.removeAll { $0.key == key.key }
            if case .set = operation {
                writes!.append(Write(node, key, operation))
            }
            return true
        }
        if !isOpen { node.family.reports.report(Messages.changeAfterRule(of: key.key)) }
    }

    func present(_ key: Key) -> Payload? {
        let write = pending.withLock { writes in writes?.first { $0.key == key } }
        guard case .set(let payload)? = write?.operation else { return nil }
        return payload
    }

    func onClose(_ closer: Closer) { node.onClose(closer) }
}
