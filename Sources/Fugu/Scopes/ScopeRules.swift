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
    let layer: NodeIdentity
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
        for node in Array(path).reversed() { node.prepareLayer() }
    }

    private enum Preparation {
        case none
        case compute(Computation, [ScopeRule])
        case wait(Computation, Signal)
        case circle(String)
    }

    private func prepareLayer() {
        let parent = Current.unfinished
        while true {
            switch family.lock.withLock({ token in decidePreparation(token, parent) }) {
            case .none: return
            case .compute(let computation, let rules): compute(computation, rules)
            case .wait(let computation, let signal):
                signal.wait()
                WaitGraph.remove(parent, waitingFor: computation)
            case .circle(let path): fatalError(Messages.scopeNeedsItself(path))
            }
        }
    }

    private func decidePreparation(_ token: LockToken, _ parent: (any CallFrame)?) -> Preparation {
        guard let layer = storage[token].rare?[token].scopes.layer, !layer.isComputed || layer.computation != nil,
            !isEnded(token)
        else { return .none }
        if let computation = layer.computation {
            guard parent?.chain.contains(where: { $0 === computation }) != true,
                WaitGraph.add(parent, waitingFor: computation) == nil
            else { return .circle(layer.path) }
            let signal = Signal()
            computation.waiters[token].append(signal)
            return .wait(computation, signal)
        }
        let computation = Computation(of: self, at: layer.path, parent: parent)
        storage[token].rare?[token].scopes.layer?.computation = computation
        // An invalidation during the configuration resets it.
        storage[token].rare?[token].scopes.layer?.isComputed = true
        let rules = Array(path).reversed().flatMap { $0.storage[token].rare?[token].scopes.rules ?? [] }
        return .compute(computation, rules)
    }

    /// Runs the rules that apply, in order, and publishes their values like one `update`.
    private func compute(_ computation: Computation, _ rules: [ScopeRule]) {
        let view = RuleView(self)
        let handle = Container(view: view)
        Current.run(computation) {
            for rule in rules where rule.matches(computation.path) { rule.configure(handle) }
            publish(view.end())
        }
        computation.finish()
        let waiters = family.lock.withLock { token in
            storage[token].rare?[token].scopes.layer?.computation = nil
            for node in subtree(token) where node.isConfigured(token) {
                node.reloading(token).forEach { $0.openIfPresent() }
            }
            return computation.waiters[token]
        }
        for waiter in waiters { waiter.raise() }
        Deferred.deliver(after: computation)
    }

    /// Sets the values that rules wrote, and resets those that only an earlier run wrote.
    private func publish(_ written: [Write]) {
        let keys = written.map(\.key)
        let before = family.lock.withLock { token in
            defer { storage[token].rare?[token].scopes.layer?.keys = keys }
            return storage[token].rare?[token].scopes.layer?.keys ?? []
        }
        let gone = before.filter { !keys.contains($0) }
            .map { Write(self, TypedKey(resetting: $0), .reset) }
        if !(written + gone).isEmpty { family.commit(written + gone) }
    }

    /// The cells of instances that are dropped when an input changes; read it under the lock.
    private func reloading(_ token: LockToken) -> some Sequence<CellReference> {
        storage.cells(token).lazy.filter { $0.has(CellFlags.loaded) && $0.state?[token].provenance?.reloads == true }
    }

    /// Whether all rules have run that a read here needs; read it under the lock.
    func isConfigured(_ token: LockToken) -> Bool {
        !family.hasScopes || path.allSatisfy { $0.storage[token].rare?[token].scopes.layer?.isComputed != false }
    }

    /// Makes the layers at or below this node run their rules again; call it under the lock.
    ///
    /// Returns the nodes whose scopes are observed.
    func invalidateLayers(_ token: LockToken) -> [Node] {
        family.state[token].layers.map(\.node).filter { layer in
            layer.isWithin(self) && layer.storage[token].rare?[token].scopes.layer?.isComputed == true
        }.filter { layer in
            layer.storage[token].rare?[token].scopes.layer?.isComputed = false
            layer.storage.raiseEpoch(token, to: family.state[token].tick(), reachesDescendants: true)
            let nodes = layer.subtree(token)
            // The next read of an instance that rules may drop must run the rules first.
            for node in nodes { node.reloading(token).forEach { $0.close() } }
            return nodes.contains { $0.storage[token].followerCount > 0 }
        }
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
        return try node.parent!.resolve(request, for: container, recorder: nil, load: load)
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
