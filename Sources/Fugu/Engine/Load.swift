// A load, from its handle to its end.

/// The request that a load answers.
struct LoadFacts: Sendable {
    /// Where the feature declares that its instance lives.
    let home: Home
    let reloads: Bool
    let isExternal: Bool
    /// The nearest node that holds the key without a value: the instance lives there or deeper.
    let limit: UnmanagedReference<Node>?
    /// Where the instance is expected to live.
    let expected: UnmanagedReference<Node>
    /// When it began.
    let begun: UInt64
    /// Whether it is for its reader alone, since the container is closed: nothing is kept.
    let isForReaderAlone: Bool
}

/// Something that a load has read.
struct Input {
    let key: Key
    /// Where it stood; nil for what was given to the load and not kept, or has failed.
    let cell: CellReference?
    /// When it had come there.
    let time: UInt64

    /// For what was given and not kept: it counts as changed at once.
    static let neverKept = UInt64.max

    let provenance: Provenance?
    let lifetime: Lifetime?

    /// Its identity: another instance of the key is another input.
    struct Identity: Hashable {
        let key: Key
        let lifetime: ObjectIdentifier?
    }
    var identity: Identity { Identity(key: key, lifetime: lifetime.map { ObjectIdentifier($0) }) }

    /// Whether it's in its cell, and all that it was made from is among the keys.
    fileprivate func isWithin(_ keys: [Key]) -> Bool {
        cell != nil && provenance?.keys.allSatisfy { keys.contains($0) } ?? true
    }
}

/// The changing part of a load.
///
/// The lock of the family protects it.
struct LoadRecord {
    fileprivate var first: Input?
    fileprivate var more: [Input] = []
    /// The identities of the inputs, once they are many.
    private var seen: Set<Input.Identity>?
    private(set) var mask: UInt64 = 0
    /// The depth of the deepest node that held what was read.
    fileprivate(set) var depth = 0
    fileprivate(set) var isLocal = false
    /// Whether it was made from a placeholder that nobody asked for: then it is neither kept nor given to who waits, each of
    /// whom is to meet the failure.
    var isProvisional = false
    /// Whether nobody waits for it any more.
    fileprivate(set) var isAbandoned = false
    /// The asker's container while the load runs, for children made from the handle; whoever runs the load keeps it.
    fileprivate(set) var container: UnmanagedReference<Container>?
    /// Where the handle reads after the load.
    fileprivate(set) var home: UnmanagedReference<Node>?
    /// Where it stands among the loads of the key.
    fileprivate var index = -1

    var inputs: [Input] { first.map { [$0] + more } ?? [] }

    mutating func append(_ input: Input) {
        if mask & input.key.mask != 0, contains(input) { return }
        mask |= input.key.mask
        if first == nil { first = input } else { more.append(input) }
    }

    /// Whether the same was read before.
    ///
    /// A key that is read again may have another instance by now, which is needed, too.
    private mutating func contains(_ input: Input) -> Bool {
        if more.count < 8 {
            return first?.identity == input.identity || more.contains { $0.identity == input.identity }
        }
        if seen == nil { seen = Set(inputs.map(\.identity)) }
        return !seen!.insert(input.identity).inserted
    }

    /// Whether the inputs are those of a provenance: a quick look at short ones, before another one is made.
    fileprivate func isMadeFrom(_ provenance: Provenance) -> Bool {
        let keys = provenance.keys
        guard let first, keys.count <= 16, provenance.direct.count == 1 + more.count, provenance.direct[0] == first.key,
            first.isWithin(keys)
        else { return false }
        for (index, input) in more.enumerated() {
            guard provenance.direct[index + 1] == input.key, input.isWithin(keys) else { return false }
        }
        return keys.allSatisfy { key in
            key == first.key || first.provenance?.keys.contains(key) == true
                || more.contains { $0.key == key || $0.provenance?.keys.contains(key) == true }
        }
    }

    /// Gives up the inputs, which are to be released outside the lock.
    fileprivate mutating func forgetInputs(_ garbage: inout Garbage) {
        guard let first else { return }
        garbage.add(first.provenance)
        garbage.add(first.lifetime)
        if !more.isEmpty { garbage.add(Retained(more)) }
        (self.first, more, seen) = (nil, [], nil)
    }
}

/// How a load ended.
struct LoadOutcome {
    let result: Result<Payload, any Error>
    /// From the load to the one that threw the error, if it has failed.
    var way: [Key] = []
    let home: Node
    let provenance: Provenance
    let lifetime: Lifetime?
    /// Whether something changed meanwhile that it was made from.
    let hasOldInputs: Bool
    /// Whether it is not kept because of that: who waited asks again.
    let isOutdated: Bool
    /// Whether it is right for who began the load alone.
    let isProvisional: Bool
}

/// Where waiters find the outcome of a load; the lock of the family protects it.
final class PendingOutcome: Sendable {
    let state = FamilyLocked<LoadOutcome?>(nil)
    deinit { state.free() }
}

/// The loads of one key that are under way in a family.
///
/// Whoever runs a load keeps it until it has left the list.
struct LoadList {
    private(set) var all: [Frame] = []
    /// By where the instance is expected to live, once they are many.
    private var homes: [UnmanagedReference<Node>: [Frame]] = [:]

    mutating func append(_ token: LockToken, _ load: Frame) {
        load.state[token].load.index = all.count
        all.append(load)
        if all.count == 8 {
            for load in all { homes[load.load!.expected, default: []].append(load) }
        } else if all.count > 8 {
            homes[load.load!.expected, default: []].append(load)
        }
    }

    mutating func remove(_ token: LockToken, _ load: Frame) {
        let index = load.state[token].load.index
        // The list goes with the root, which a load through a kept handle may survive.
        guard index >= 0, index < all.count, all[index] === load else { return }
        load.state[token].load.index = -1
        let last = all.removeLast()
        if index < all.count {
            all[index] = last
            last.state[token].load.index = index
        }
        if all.isEmpty { return homes = [:] }
        guard !homes.isEmpty else { return }
        let expected = load.load!.expected
        homes[expected]?.removeAll { $0 === load }
        if homes[expected]?.isEmpty == true { homes[expected] = nil }
    }

    /// Returns those that may be joined by who expects the instance in a node.
    func candidates(at home: UnmanagedReference<Node>) -> [Frame] { homes.isEmpty ? all : homes[home] ?? [] }
}

// MARK: What is read

extension Frame {
    /// Records that the load read a key from a cell of a node.
    @inline(__always)
    func record(_ token: LockToken, _ cell: CellReference, of owner: UnmanagedReference<Node>) {
        let depth = owner.depth
        guard !isFinished, depth <= node!.depth else { return }
        if !cell.has(CellFlags.input) { cell.mark(CellFlags.input) }
        let place = cell.place
        let provenance = place?[token].provenance
        add(
            token,
            Input(
                key: cell.key, cell: cell, time: cell.time, provenance: provenance,
                lifetime: provenance == nil ? nil : place?[token].lifetime), depth)
        outerRecorder(token)?.record(token, cell, of: owner)
    }

    /// The load from whose handle the asker was made: what is read through its children is its input, too.
    private func outerRecorder(_ token: LockToken) -> Frame? {
        guard let outer = node!.storage[token].rare?.recorder, outer !== self, !outer.isFinished,
            chain.contains(where: { $0 === outer })
        else { return nil }
        return outer
    }

    /// Records an input whose value was given to the load but not kept.
    func record(_ token: LockToken, _ outcome: LoadOutcome, of key: Key, hasFailed: Bool = false) {
        guard !isFinished, outcome.home.depth <= node!.depth else { return }
        if outcome.isProvisional { state[token].load.isProvisional = true }
        let time = hasFailed && !outcome.hasOldInputs ? 0 : Input.neverKept
        add(
            token,
            Input(key: key, cell: nil, time: time, provenance: outcome.provenance, lifetime: outcome.lifetime),
            outcome.home.depth)
        outerRecorder(token)?.record(token, outcome, of: key, hasFailed: hasFailed)
    }

    /// Records a key that has no value: an external feature that was refused, or a setting that is missing or wrong.
    ///
    /// It counts as read from the root.
    func recordMissing(_ token: LockToken, of key: Key, isProvisional: Bool = false) {
        guard !isFinished else { return }
        if isProvisional { state[token].load.isProvisional = true }
        let root = node!.ancestor(at: 0)
        record(token, root.storage.cell(token, key), of: UnmanagedReference(root))
    }

    func add(_ token: LockToken, _ input: Input, _ depth: Int) {
        if holdBack(token, input, depth) { return }
        if depth > state[token].load.depth { state[token].load.depth = depth }
        if input.provenance?.isLocal == true { state[token].load.isLocal = true }
        state[token].load.append(input)
    }

    /// Whether an input has changed since it was read.
    func hasOldInputs(_ token: LockToken) -> Bool {
        if family.state[token].now == load!.begun { return false }
        guard let first = state[token].load.first else { return false }
        return isOld(token, first) || state[token].load.more.contains { isOld(token, $0) }
    }

    /// Whether this input has changed since it was read.
    func isOld(_ token: LockToken, _ input: Input) -> Bool {
        guard let known = input.cell else { return input.time == Input.neverKept }
        if known.time != input.time { return true }
        guard case .found(let cell, _) = node!.look(token, input.key) else { return known.has(CellFlags.hasWord) }
        return cell != known
    }

    /// Adds a closer, if the load hasn't ended.
    func add(_ closer: Closer) -> Bool {
        family.lock.withLock { token in
            // Looked at under the lock, where loads end: what comes a moment too late must not be lost.
            if isFinished { return false }
            state[token].more().closers.append(closer)
            return true
        }
    }

    /// The node that the handle reads and writes after the load.
    var homeNode: Node { family.lock.withLock { token in state[token].load.home?.object } ?? node! }
    /// The asker's container, as long as the load runs.
    var askedContainer: Container? { family.lock.withLock { token in state[token].load.container?.object } }
}

// MARK: The run

extension Frame {
    /// Runs the load on this thread.
    ///
    /// Returns what its own asker gets.
    func run(
        for container: Container, _ recorder: Frame?, _ loader: (Container) throws -> Payload
    ) throws -> Payload {
        // A default reads nothing through a handle.
        let view = key!.kind == .property ? container : Container(handle: self)
        let bound = view === container ? nil : view
        let span = LoadSpan.begin(self)
        var closerCount = 0
        let result: Result<Payload, any Error>
        do {
            result = .success(try Scope.run(bound, self) { try loader(view) })
        } catch {
            result = .failure(error)
        }
        if load!.isForReaderAlone {
            closerCount = family.lock.withLock { token in state[token].rare?.closers.count ?? 0 }
        }
        let given = endLoad(with: result, recorder, span)
        if view !== container { view.answers(from: homeNode) }
        deliver()
        if load!.isForReaderAlone {
            family.reports.report(Messages.loadedAfterClosing(way + [key!], closers: closerCount))
        }
        return try given.get()
    }

    /// Begins the load in a separate task, which keeps the container that was asked.
    ///
    /// `mayRunHere`: Whether what doesn't suspend may be done when this returns, on this thread.
    func start(
        for container: Container, _ recorder: Frame?, mayRunHere: Bool,
        _ loader: @escaping @Sendable (Container) async throws -> Payload
    ) {
        let priority = Task.currentPriority
        let task = Task<Void, Never>.start(atOnce: mayRunHere) { [self] in
            let view = Container(handle: self)
            let span = LoadSpan.begin(self)
            let result: Result<Payload, any Error>
            do {
                // Whom all have left before it began does not begin: another load may be under way by now.
                try Task.checkCancellation()
                result = .success(try await Scope.run(view, self) { try await loader(view) })
            } catch {
                result = .failure(error)
                // What it opened is closed before anyone is notified.
                await closeFailed()
            }
            _ = endLoad(with: result, recorder, span)
            view.answers(from: homeNode)
            deliver()
            withExtendedLifetime(container) {}
        }
        let raised: UInt8 = family.lock.withLock { token in
            if isFinished { return 0 }
            let rare = state[token].more()
            rare.task = task
            // Somebody more urgent may wait by now.
            if rare.priority > priority.rawValue { return rare.priority }
            rare.priority = priority.rawValue
            return 0
        }
        guard raised > 0, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        task.escalatePriority(to: TaskPriority(rawValue: raised))
    }

    /// Runs the closers of a load that has failed, also if it was cancelled.
    private func closeFailed() async {
        let closers = family.lock.withLock { token in
            defer { state[token].rare?.closers = [] }
            return state[token].rare?.closers ?? []
        }
        for closer in closers.reversed() {
            let error = await Task { await closer.run(in: self, nil) }.value
            if let error { family.reports.report(Messages.closerFailed(of: key!, error)) }
        }
    }

    /// Ends the load: keeps what was made, unless something else stands there by now, and wakes the waiters.
    ///
    /// Returns what the load's own asker gets.
    private func endLoad(
        with result: Result<Payload, any Error>, _ recorder: Frame?, _ span: LoadSpan?
    ) -> Result<Payload, any Error> {
        var effects = Effects(in: self)
        var given = result
        var inputs: [Key] = []
        let failedWay: [Key] = if case .failure(let error) = result { [key!] + way(to: error) } else { [] }
        let report = family.lock.withLock { token -> String? in
            let end = LoadEnd(token, of: self, recorder, failedWay, span?.duration)
            state[token].load.home = UnmanagedReference(end.home)
            // First of all: as soon as the instance is in its cell, others may read through the handle that it kept.
            effects.wake(finish(token))
            let report = end.settle(token, &given, &effects)
            if !failedWay.isEmpty { inputs = state[token].load.inputs.map(\.key) }
            end.leave(token, &effects)
            span?.end(token, end.kind(token, result), of: self, end.home, result, &effects)
            return report
        }
        effects.perform()
        if let report { family.reports.report(report) }
        if case .failure(let error) = result {
            remember(error, failedWay, inputs)
            if case .failure = given { parent?.needFailed(failedWay, error) }
        }
        return given
    }
}

/// The end of a load, under the lock: where what was made belongs, and what becomes of it.
private struct LoadEnd {
    let load: Frame
    /// The load that reads the instance through its handle.
    let recorder: Frame?
    let home: Node
    let provenance: Provenance
    let lifetime: Lifetime?
    let isOutdated: Bool
    let duration: Duration?
    /// From the load to the one that threw the error, if it has failed.
    private let failedWay: [Key]
    /// The family's record of the key.
    private let place: Place

    private var key: Key { load.key! }
    private var asker: Node { load.node! }
    private var facts: LoadFacts { load.load! }

    init(_ token: LockToken, of load: Frame, _ recorder: Frame?, _ failedWay: [Key], _ duration: Duration?) {
        self.load = load
        self.failedWay = failedWay
        self.recorder = recorder
        self.duration = duration
        let (asker, facts, state) = (load.node!, load.load!, load.state)
        place = asker.ancestor(at: 0).place(token, load.key!)
        var isLocal = facts.home.isLocal || state[token].load.isLocal
        var home = isLocal ? asker : asker.ancestor(at: max(state[token].load.depth, facts.limit?.depth ?? 0))
        var others: [Key] = []
        while home !== asker, load.draft == nil, let older = Self.older(token, than: load, seenFrom: home) {
            if older.isLocal {
                isLocal = true
                home = asker
            } else {
                let below = home.depth
                var first = asker
                for node in asker.path where node.depth > below && node.holdsAny(token, of: older.keys, older.mask) {
                    first = node
                }
                let reasons = older.keys.filter { first.holds(token, $0) }
                // Whoever holds one of these once more has a copy, too.
                home =
                    asker.path.firstResult { node in
                        reasons.contains { node.holds(token, $0) } ? UnmanagedReference(node) : nil
                    }!.object
                others += reasons
            }
        }
        self.home = home
        isOutdated = load.hasOldInputs(token)
        provenance = Self.provenance(token, of: load, isLocal: isLocal, others, place[token].rare?.last)
        lifetime = Self.lifetime(token, of: load, home, hasInstance: failedWay.isEmpty)
    }

    /// Returns what an older instance was made from that a node sees and the asker does not, if there is one: of the key, or
    /// of something that was read.
    ///
    /// It stays as it is for containers that share it: the new one lives where the older one begins to be wrong.
    private static func older(_ token: LockToken, than load: Frame, seenFrom home: Node) -> Provenance? {
        let (asker, state) = (load.node!, load.state)
        var held: UInt64 = 0
        _ = asker.path.firstResult { node -> Bool? in
            if node === home { return true }
            held |= node.storage[token].heldMask
            return nil
        }
        // Nothing between hides anything, which is nearly always so.
        if held == 0 { return nil }
        func hidden(_ key: Key, _ known: CellReference?) -> Provenance? {
            guard case .found(let cell, let owner) = home.look(token, key), cell != known,
                let older = cell.place?[token].provenance,
                !owner.use({ older.isValid(token, for: asker, from: $0, held) })
            else { return nil }
            return older
        }
        if let older = hidden(load.key!, nil) { return older }
        if let first = state[token].load.first, let older = hidden(first.key, first.cell) { return older }
        for input in state[token].load.more { if let older = hidden(input.key, input.cell) { return older } }
        return nil
    }

    /// Returns what the instance was made from: the same object as last time, if it is the same.
    ///
    /// - `others`: Keys on which the home depends beside the inputs.
    private static func provenance(
        _ token: LockToken, of load: Frame, isLocal: Bool, _ others: [Key], _ last: Provenance?
    ) -> Provenance {
        let (state, reloads) = (load.state, load.load!.reloads)
        guard let first = state[token].load.first else {
            return isLocal || reloads
                ? Provenance(direct: [], keys: [], mask: 0, isLocal: isLocal, reloads: reloads) : .none
        }
        if state[token].load.more.isEmpty, others.isEmpty, first.provenance?.keys.isEmpty ?? true {
            if let last, last.keys.count == 1, last.keys[0] == first.key, last.direct.count == 1,
                last.isLocal == isLocal,
                last.reloads == reloads
            {
                return last
            }
            let keys = [first.key]
            return Provenance(direct: keys, keys: keys, mask: first.key.mask, isLocal: isLocal, reloads: reloads)
        }
        if others.isEmpty, let last, last.isLocal == isLocal, last.reloads == reloads,
            state[token].load.isMadeFrom(last)
        {
            return last
        }
        var (direct, lists, mask) = ([Key](), [others.sortedUnique()], state[token].load.mask)
        direct.reserveCapacity(1 + state[token].load.more.count)
        for key in others { mask |= key.mask }
        for input in state[token].load.inputs {
            direct.append(input.key)
            guard let made = input.provenance else { continue }
            mask |= made.mask
            lists.append(made.keys)
            if input.cell == nil { direct += made.direct }
        }
        let keys = (lists + [direct.sortedUnique()]).merged()
        let made = Provenance(direct: direct, keys: keys, mask: mask, isLocal: isLocal, reloads: reloads)
        return last.map { made.isEqual(to: $0) ? $0 : made } ?? made
    }

    /// Only what has closers, or was made from something that has, needs a lifetime.
    private static func lifetime(_ token: LockToken, of load: Frame, _ home: Node, hasInstance: Bool) -> Lifetime? {
        let state = load.state
        var uses: [Lifetime] = []
        if let used = state[token].load.first?.lifetime { uses.append(used) }
        for input in state[token].load.more { if let used = input.lifetime { uses.append(used) } }
        let closers = state[token].rare?.closers ?? []
        if closers.isEmpty, uses.isEmpty || !hasInstance { return nil }
        let order = load.family.state[token].tick()
        return Lifetime(load.key!, home: home, order: order, closers: closers, uses: uses)
    }

    /// Keeps what was made, or says what the asker gets instead; returns what is to be reported.
    func settle(_ token: LockToken, _ given: inout Result<Payload, any Error>, _ effects: inout Effects) -> String? {
        guard case .success(let payload) = given else {
            dropLifetime(token)
            publish(token, given)
            guard case .found(let cell, let owner) = lookAgain(token), !cell.has(CellFlags.loaded),
                let set = cell.payload
            else {
                // What it has read decides what becomes of who goes on without it.
                recorder?.record(token, outcome(token, given), of: key, hasFailed: true)
                if let place = home.storage.existingCell(token, key)?.place {
                    let isOutdated = !load.state[token].load.isProvisional && (isOutdated || wasReset(token))
                    effects.noteFailure(token, place, of: provenance, isOutdated: isOutdated)
                }
                return nil
            }
            recorder?.record(token, cell, of: owner)
            given = .success(set)
            if owner.depth <= home.depth { publish(token, given, in: cell, of: owner.object) }
            return nil
        }
        if facts.isForReaderAlone {
            // Those that need it, and each other, are given it, too.
            for frame in load.chain where frame.node === asker && frame.load?.isForReaderAlone == true {
                frame.state[token].more().alone[key] = payload
            }
            // Closers that it registered don't run.
            if let lifetime { effects.garbage.add(Retained(lifetime.takeClosers())) }
            publish(token, given)
            return nil
        }
        rememberLast(token, &effects)
        if case .found(let cell, let owner) = lookAgain(token), let other = cell.payload {
            // Set meanwhile, or loaded by another: that stays.
            recorder?.record(token, cell, of: owner)
            given = .success(other)
            if owner.depth <= home.depth {
                publish(token, given, in: cell, of: owner.object)
                dropLifetime(token)
            } else {
                publish(token, .success(payload))
                // Who does not see what was set below the home still shares what was loaded for it.
                if case .missing = home.look(token, key), isWanted(token) {
                    _ = keep(token, payload, &effects)
                } else {
                    dropLifetime(token)
                }
            }
            return nil
        }
        publish(token, given)
        if let draft = load.draft, let write = draft.pendingWrite(token, of: key, in: home), !write.operation.isSet {
            let made = DraftInstance(payload, provenance, lifetime, at: load.family.state[token].now)
            draft.keep(token, made, of: key, in: home, &effects)
            recorder?.record(token, outcome(token, given), of: key)
            return nil
        }
        guard isWanted(token) else {
            recorder?.record(token, outcome(token, given), of: key)
            dropLifetime(token)
            repeatIfObserved(token, &effects)
            return nil
        }
        let cell = keep(token, payload, &effects)
        let owner = UnmanagedReference(home)
        var isSeen = home === asker
        if !isSeen, case .found(let seen, _) = asker.look(token, key) { isSeen = seen == cell }
        if isSeen {
            recorder?.record(token, cell, of: owner)
            asker.link(token, key, to: cell, of: owner)
        } else {
            recorder?.record(token, outcome(token, given), of: key)
            // Something was set or replaced meanwhile that hides it from the asker.
            repeatIfObserved(token, &effects)
        }
        return madeAgain(token)
    }

    /// The asker's present view.
    private func lookAgain(_ token: LockToken) -> Look {
        asker.isEnded(token) ? .missing(limit: nil) : asker.look(token, key, through: load.draft)
    }

    private func dropLifetime(_ token: LockToken) { lifetime?.leave(token) }

    /// Whether to keep what was made.
    ///
    /// That is so if the key was not reset meanwhile, if what puts the instance below the root is still set, and, for
    /// an instance that reloads, if none of its inputs has changed.
    private func isWanted(_ token: LockToken) -> Bool {
        if load.state[token].load.isProvisional || isOutdated && facts.reloads { return false }
        if home.isEnded(token) || home.storage[token].isClosed && key.kind != .property { return false }
        return !wasReset(token) && provenance.isAnchored(token, key, in: home)
    }

    private func wasReset(_ token: LockToken) -> Bool { home.wasReset(token, key, since: facts.begun) }

    private func keep(_ token: LockToken, _ payload: Payload, _ effects: inout Effects) -> CellReference {
        let cell = home.storage.cell(token, key)
        if let place = cell.place { place.forget(token, &effects.garbage) }
        effects.garbage.add(
            cell.store(payload, flags: CellFlags.loaded | cell.heldFlags, at: load.family.state[token].tick()))
        if key.kind != .property {
            let place = home.isRoot ? place : home.place(token, key)
            place.settle(token, provenance, lifetime)
            place[token].isOutdated = isOutdated
            #if DEBUG
            place[token].duration = duration
            #endif
            place[token].loadCount += 1
        }
        if let place = cell.place { effects.announce(token, place, .loaded) }
        return cell
    }

    /// Loads again at once, if it's observed, what was reset meanwhile or made from old values.
    private func repeatIfObserved(_ token: LockToken, _ effects: inout Effects) {
        guard !load.state[token].load.isProvisional, let place = home.storage.existingCell(token, key)?.place else {
            return
        }
        effects.noteNotKept(token, place, of: provenance)
    }

    private func outcome(_ token: LockToken, _ result: Result<Payload, any Error>) -> LoadOutcome {
        LoadOutcome(
            result: result, way: failedWay, home: home, provenance: provenance, lifetime: lifetime,
            hasOldInputs: isOutdated, isOutdated: isOutdated && facts.reloads,
            isProvisional: load.state[token].load.isProvisional)
    }

    /// Leaves to the waiters what was made, or what stands in a cell instead.
    private func publish(
        _ token: LockToken, _ result: Result<Payload, any Error>, in cell: CellReference? = nil, of owner: Node? = nil
    ) {
        guard let pending = load.state[token].rare?.outcome else { return }
        guard let cell, let owner else { return pending.state[token] = outcome(token, result) }
        pending.state[token] = LoadOutcome(
            result: result, home: owner, provenance: cell.place?[token].provenance ?? .none,
            lifetime: cell.place?[token].lifetime, hasOldInputs: false, isOutdated: false, isProvisional: false)
    }

    /// Remembers the provenance, from which the home of the next load is guessed.
    private func rememberLast(_ token: LockToken, _ effects: inout Effects) {
        if key.kind == .property || place[token].rare?.last === provenance { return }
        let rare = place[token].more()
        effects.garbage.add(rare.last)
        rare.last = provenance
    }

    /// Takes the load off all lists.
    func leave(_ token: LockToken, _ effects: inout Effects) {
        place[token].rare?.loads.remove(token, load)
        asker.endUnderWay(token, &effects)
        let state = load.state
        state[token].load.forgetInputs(&effects.garbage)
        // Whoever keeps it: the last reference isn't let go here.
        effects.garbage.add(lifetime)
        state[token].load.container = nil
        guard let rare = state[token].rare else { return }
        // What events call it is asked for later still, and what is deferred is reported later.
        let left = RareFrameState()
        (left.number, left.deferred) = (rare.number, rare.deferred)
        state[token].rare = left
        effects.garbage.add(rare)
    }

    /// Returns what debug builds report of an instance that is made again for a child.
    private func madeAgain(_ token: LockToken) -> String? {
        #if DEBUG
        guard !home.isRoot, facts.isExternal || lifetime?.hasClosers == true, !provenance.isLocal, facts.limit == nil,
            !facts.home.isFixed, provenance.keys.contains(where: { home.holds(token, $0) })
        else { return nil }
        let family = load.family
        let rare = place[token].more()
        guard rare.isMadeBelow || place[token].cell.has(CellFlags.loaded) else {
            rare.isMadeBelow = true
            return nil
        }
        guard family.state[token].isNew(key, key) else { return nil }
        return Messages.madeAgain(key, family.way(token, from: key) { home.holds(token, $0) })
        #else
        return nil
        #endif
    }

    /// Returns what events call it.
    func kind(_ token: LockToken, _ result: Result<Payload, any Error>) -> EventRecord.Kind {
        if case .failure = result { return .failed }
        guard let cell = home.storage.existingCell(token, key), cell.has(CellFlags.loaded), let place = cell.place,
            place[token].provenance === provenance
        else {
            if case .found = lookAgain(token) { return .overtaken }
            return .notKept
        }
        return place[token].loadCount > 1 ? .reloaded : .loaded
    }
}

extension Family {
    /// Returns the way from a feature to a key that meets a condition, along what the last loads have read.
    func way(_ token: LockToken, from key: Key, to isMet: (Key) -> Bool) -> [Key] {
        var ways: [Key: Key] = [:]
        var open = [key]
        var index = 0
        while index < open.count {
            let next = open[index]
            index += 1
            if next != key, isMet(next) {
                return sequence(first: next) { ways[$0] }.reversed()
            }
            for input in rootPlace(token, of: next)?[token].rare?.last?.direct ?? []
            where input != key && ways[input] == nil {
                ways[input] = next
                open.append(input)
            }
        }
        return [key]
    }
}

// MARK: Waiters

extension Frame {
    /// Adds one who waits for the end.
    func join(_ token: LockToken, _ waiter: Waiter) -> PendingOutcome {
        state[token].more().waiters.append(waiter)
        return pendingOutcome(token)
    }

    func pendingOutcome(_ token: LockToken) -> PendingOutcome {
        state[token].more().outcome.orMade(PendingOutcome())
    }

    /// Puts the load on the list of its key's loads.
    func begin(_ token: LockToken, for container: UnmanagedReference<Container>, in loads: inout LoadList) {
        loads.append(token, self)
        state[token].load.container = container
        node!.beginUnderWay(token)
    }

    /// Returns when the load has ended.
    ///
    /// - Throws: `CancellationError` if the task that waits is cancelled first.
    func await(_ waiter: TaskWaiter) async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return try await waiter.wait { [self] in withdraw(waiter) }
        }
        escalate(to: Task.currentPriority)
        try await waiter.wait { [self] in withdraw(waiter) }
    }

    /// Notes that code in this frame waits for an async load that it has begun.
    func beginWait(for load: Frame) {
        family.lock.withLock { token in state[token].more().ownLoads[ObjectIdentifier(load)] = load }
    }

    func endWait(for load: Frame) {
        family.lock.withLock { token in _ = state[token].rare?.ownLoads.removeValue(forKey: ObjectIdentifier(load)) }
    }

    /// Raises the priority of the load's task, and of those of the loads that it waits for.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func escalate(to priority: TaskPriority) {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var open = [self]
        while let frame = open.popLast() {
            let (task, ownLoads) = frame.family.lock.withLock { token -> (Task<Void, Never>?, [Frame]) in
                let rare = frame.state[token].more()
                guard rare.priority < priority.rawValue else { return (nil, []) }
                rare.priority = priority.rawValue
                return (rare.task, Array(rare.ownLoads.values))
            }
            task?.escalatePriority(to: priority)
            open += (ownLoads + Waits.targets(of: frame)).filter { seen.insert(ObjectIdentifier($0)).inserted }
        }
    }

    /// Lets a task go that does not wait any longer.
    ///
    /// When the last one has left, the load is cancelled, and the next reader begins a new one.
    private func withdraw(_ waiter: TaskWaiter) {
        let task: Task<Void, Never>? = family.lock.withLock { token in
            if isFinished { return nil }
            guard let rare = state[token].rare else { return nil }
            rare.waiters.remove(waiter)
            // Who began it may not wait yet.
            guard rare.waiters.isEmpty, rare.isLaunched else { return nil }
            state[token].load.isAbandoned = true
            return rare.task
        }
        task?.cancel()
    }
}

extension Node {
    /// Whether the key was reset here or above after a load of it began.
    func wasReset(_ token: LockToken, _ key: Key, since begun: UInt64) -> Bool {
        if family.state[token].now == begun { return false }
        return path.firstResult { node in
            node.storage.existingCell(token, key)?.place?[token].rare.map { $0.resetTime > begun } == true ? true : nil
        } ?? false
    }

    /// A load that was asked for here, or a read that waits here for one, begins: no closing goes on until its end.
    func beginUnderWay(_ token: LockToken) { storage[token].underWay += 1 }

    func endUnderWay(_ token: LockToken, _ effects: inout Effects) {
        storage[token].underWay -= 1
        if storage[token].underWay == 0 { wakeIdle(token, &effects) }
    }

    /// Wakes whoever waits until nothing is under way here.
    func wakeIdle(_ token: LockToken, _ effects: inout Effects) {
        guard let rare = storage[token].rare, !rare.idle.isEmpty else { return }
        effects.wake(rare.idle.map { .task($0) })
        rare.idle = []
    }
}

/// A record of a load that failed, for graphs: not its error, which may keep anything, but its text.
struct FailedLoad: Sendable {
    let text: String
    /// From the key to the one whose load threw the error.
    let way: [Key]
    /// The inputs that it had read by then.
    let inputs: [Key]
    var count = 1

    private static let longestText = 500

    /// Outside every lock, since the error says what it is.
    init(_ error: any Error, way: [Key], inputs: [Key]) {
        let text = "\(error)"
        self.text = text.count > Self.longestText ? text.prefix(Self.longestText) + "…" : text
        self.way = way
        self.inputs = inputs
    }
}

extension Frame {
    /// Outside the lock: remembers that the load has failed.
    fileprivate func remember(_ error: any Error, _ way: [Key], _ inputs: [Key]) {
        if error is CancellationError { return }
        var failure = FailedLoad(error, way: way, inputs: inputs)
        family.lock.withLock { token in
            guard let node, !node.isEnded(token) else { return }
            let rare = node.storage[token].more()
            failure.count += rare.failures[key!]?.count ?? 0
            rare.failures[key!] = failure
        }
    }
}

extension Task where Failure == Never {
    /// Starts a task.
    ///
    /// If it is to start at once, and the platform has that, it runs on the caller's thread until it suspends for the
    /// first time: what doesn't suspend costs no hop to another thread.
    static func start(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task(operation: operation)
        }
        return .immediate(operation: operation)
    }

    /// Starts a task that inherits nothing from its caller, otherwise the same.
    static func startDetached(
        atOnce: Bool, _ operation: sending @escaping @isolated(any) () async -> Success
    ) -> Task {
        guard atOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return .detached(operation: operation)
        }
        return .immediateDetached(operation: operation)
    }
}

extension Task<Never, Never> {
    /// Whether code isolated so runs on an actor, which is not to be held up.
    ///
    /// Not in place: the compiler (6.3.1) fails there.
    @inline(never)
    static func isOnActor(_ isolation: (any Actor)?) -> Bool { isolation != nil }
}
