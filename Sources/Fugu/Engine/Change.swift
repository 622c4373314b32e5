// All changes: one commit for all writes.

/// A write to a key in a node.
enum Operation {
    case set(Payload)
    case replace(Replacement)
    case reset
    /// A value that rules set, or `nil` to remove it.
    ///
    /// It never replaces what code set.
    case rule(Payload?)
    /// The sources' current answer.
    ///
    /// It never replaces what code or a rule set.
    case supply(SourceAnswer<Payload>)

    var replacement: Replacement? { if case .replace(let replacement) = self { replacement } else { nil } }
}

/// A loader that replaces the feature's own.
final class Replacement: Sendable {
    let load: @Sendable (Container) throws -> Payload
    let loadAsync: (@Sendable (Container) async throws -> Payload)?
    /// The place in a chain of decorations and lists, if it's part of one.
    let link: Link?
    /// The value that code has set, if a test awaits its first read, and what that read calls.
    let awaited: (value: Payload, onRead: @Sendable () -> Void)?

    @inline(never) init(
        load: @escaping @Sendable (Container) throws -> Payload,
        loadAsync: (@Sendable (Container) async throws -> Payload)? = nil, link: Link? = nil,
        awaited: (value: Payload, onRead: @Sendable () -> Void)? = nil
    ) {
        self.load = load
        self.loadAsync = loadAsync
        self.link = link
        self.awaited = awaited
    }

    /// Returns the same loader in a chain.
    func linked(_ link: Link) -> Replacement { Replacement(load: load, loadAsync: loadAsync, link: link) }
}

/// One operation of a commit.
struct Write {
    let node: Node
    let key: Key
    let equal: Equality
    let operation: Operation
    /// Whether the value equals the one that's seen now, which has this time, once that's known.
    fileprivate var answer: (time: UInt64, isEqual: Bool)?
    /// Whether the container was released, so that the write isn't done but reported, unlike others of the commit.
    fileprivate var isTooLate = false

    init(_ node: Node, _ key: TypedKey, _ operation: Operation) {
        self.init(node, key.key, key.equal, operation)
    }

    init(_ node: Node, _ key: Key, _ equal: Equality, _ operation: Operation) {
        self.node = node
        self.key = key
        self.equal = equal
        self.operation = operation
    }

    /// The value that the write stores.
    var value: Payload? {
        switch operation {
        case .set(let payload), .rule(let payload?), .supply(.success(let payload?)): payload
        default: nil
        }
    }
}

// MARK: One key in one node

extension Write {
    private var family: Family { node.family }
    /// The time of the value that's seen now, if the new one equals it.
    fileprivate var equalTime: UInt64? { answer.flatMap { $0.isEqual ? $0.time : nil } }

    /// Performs the operation in the key's cell, under the lock.
    ///
    /// Returns the change to announce, or `nil` if there's none.
    ///
    /// - `isOpen`: Whether readers may see the value at once.
    fileprivate func apply(
        _ token: LockToken, to cell: CellReference, isOpen: Bool, _ effects: inout Effects
    ) -> ChangeKind? {
        // One copy, because each `switch` would make its own.
        let operation = operation
        let (wasHeld, wasLoaded) = (cell.has(CellFlags.held), cell.has(CellFlags.loaded))
        let isByCode = cell.heldFlags == CellFlags.held
        switch operation {
        case .rule(let payload):
            let rare = node.place(token, key)[token].more()
            rare.rule.set(payload, &effects.garbage)
            if isByCode { return nil }
        case .supply(let answer):
            if case .success(nil) = answer, !cell.has(CellFlags.automatic), cell.place?[token].rare == nil {
                return nil
            }
            let rare = node.place(token, key)[token].more()
            rare.supplied.replace(by: answer, &effects.garbage)
            if isByCode || rare.rule.value != nil { return nil }
            if case .success(nil) = answer, !wasHeld { return nil }
        case .reset:
            node.markReset(token, key, changesLoader: wasHeld)
            guard isByCode || wasLoaded || key.isInherited else {
                if let place = cell.place { effects.noteReset(token, place) }
                return nil
            }
        case .replace: node.markReset(token, key, changesLoader: true)
        case .set:
            // Neither observers nor instances that were made from the equal value notice.
            if equalTime != nil, isByCode, !wasLoaded, cell.has(CellFlags.hasWord), let value {
                effects.garbage.add(cell.exchange(value))
                emit(token, operation, isNew: false, &effects)
                return nil
            }
        }
        if wasLoaded { cell.place?.forget(token, &effects.garbage) }
        if let place = cell.place, let rare = place[token].rare {
            if rare.rest != nil { place.forgetRest(token, &effects.garbage) }
            if let replacement = rare.replacement.value {
                rare.replacement.set(nil, &effects.garbage)
                // A layer that is added keeps what was there.
                if let link = replacement.link, operation.replacement?.link == nil {
                    effects.collectInner(of: link, in: node)
                }
            }
        }
        let time = family.state[token].tick()
        // A value that hides an inherited one becomes readable only after the links past this node have become invalid.
        let opensLater = isOpen && !wasHeld && !node.isRoot
        // An equal value keeps the time, so that nothing seems to have changed.
        put(token, operation, in: cell, at: equalTime ?? time, isOpen: isOpen && !opensLater, &effects)
        let isHeld = cell.has(CellFlags.held)
        if isHeld != wasHeld {
            if isHeld { node.storage[token].heldMask |= key.mask }
            node.raiseEpoch(token, to: time)
            if let place = cell.place { if isHeld { place.unlink(token) } else { place.link(token) } }
        }
        if opensLater { cell.openIfPresent() }
        emit(token, operation, isNew: !wasHeld && !node.isRoot, &effects)
        // What a container below had of what was wrapped here goes, too.
        if isHeld == wasHeld { return key.isInherited && !isHeld ? .unset : .changed }
        return isHeld ? .held : .unset
    }

    /// Changes the cell itself.
    private func put(
        _ token: LockToken, _ operation: Operation, in cell: CellReference, at time: UInt64, isOpen: Bool,
        _ effects: inout Effects
    ) {
        switch operation {
        case .set(let payload):
            effects.garbage.add(cell.store(payload, flags: CellFlags.held, at: time, isOpen: isOpen))
        case .replace(let replacement):
            effects.garbage.add(cell.clear(flags: CellFlags.held, at: time))
            node.place(token, key)[token].more().replacement.set(replacement, &effects.garbage)
        case .reset, .rule, .supply:
            // The write uncovers what a rule or a source gives.
            let rare = cell.place?[token].rare
            let flags = CellFlags.held | CellFlags.automatic
            if let rule = rare?.rule.value {
                effects.garbage.add(cell.store(rule, flags: flags, at: time, isOpen: isOpen))
                return
            }
            switch rare?.supplied.value ?? .success(nil) {
            case .success(let payload?):
                effects.garbage.add(cell.store(payload, flags: flags, at: time, isOpen: isOpen))
            // Held without a value, so that the default is loaded here instead.
            case .failure: effects.garbage.add(cell.clear(flags: flags, at: time))
            case .success(nil): effects.garbage.add(cell.clear(at: time))
            }
        }
    }

    private func emit(_ token: LockToken, _ operation: Operation, isNew: Bool, _ effects: inout Effects) {
        guard family.hasEvents else { return }
        let kind: EventKind =
            switch operation {
            case .set where isNew, .replace where isNew, .rule where isNew: .overridden
            case .set, .rule(_?): .set
            case .replace: .replaced
            case .reset, .rule(nil): .reset
            case .supply: .supplied
            }
        node.emit(token, kind, key, &effects)
    }
}

// MARK: The commit

/// A comparison of a write's value with the one that's seen, which is user code and happens outside the lock.
private typealias Comparison = (index: Int, old: Payload, new: Payload, time: UInt64)

/// A reason why writes aren't done at once.
private enum Obstacle {
    case compare([Comparison])
    case wait(Wait)
    case circle(Key)
}

/// The writes of a commit: a single one, which needs no list, or several.
protocol WriteList {
    var count: Int { get }
    subscript(index: Int) -> Write { get set }
    /// Calls `body` with each write, in order, and its index, without copying the write.
    mutating func updateEach(_ body: (Int, inout Write) -> Void)
}

extension Write: WriteList {
    var count: Int { 1 }
    subscript(_: Int) -> Write {
        get { self }
        set { self = newValue }
    }
    mutating func updateEach(_ body: (Int, inout Write) -> Void) { body(0, &self) }
}

extension [Write]: WriteList {
    mutating func updateEach(_ body: (Int, inout Write) -> Void) { for index in indices { body(index, &self[index]) } }
}

extension Family {
    /// Performs all writes at once, when no `modify` of their keys is in progress, and notifies the observers of values
    /// that have changed.
    ///
    /// Returns whether the writes were done.
    ///
    /// - `transaction`: The `modify` or the update that ends with the commit.
    /// - `outdates`: Whether instances that were made from the keys before become outdated: not if reads return the same as before,
    ///   and not if a source or what rules read has changed by itself.
    /// - `isObsolete`: Called under the lock. If it returns `true`, nothing is done.
    /// - `alongside`: Called under the lock, after the writes.
    @discardableResult
    func commit(
        _ writes: consuming some WriteList, endOf transaction: Frame? = nil, outdates: Bool = true,
        unless isObsolete: (LockToken) -> Bool = { _ in false }, alongside: (LockToken) -> Void = { _ in }
    ) -> Bool {
        var writes = writes
        while true {
            var effects = Effects()
            var isDone = false
            let obstacle = lock.withLock { token -> Obstacle? in
                if isObsolete(token) { return nil }
                if let obstacle = self.obstacle(token, &writes, transaction) { return obstacle }
                perform(token, &writes, transaction, outdates: outdates, &effects)
                while case var inner = effects.takeInner(), !inner.isEmpty {
                    perform(token, &inner, transaction, outdates: false, &effects)
                }
                alongside(token)
                if let transaction, transaction.kind == .modify { effects.wake(transaction.finish(token)) }
                isDone = true
                return nil
            }
            switch obstacle {
            case nil:
                writes.updateEach { _, write in
                    if write.isTooLate, write.key.decorated == nil {
                        reports.report(Messages.changeAfterEnd(.key(write.key)))
                    }
                }
                effects.perform()
                return isDone
            case .compare(let open):
                for each in open {
                    writes[each.index].answer = (each.time, writes[each.index].equal(each.old, each.new))
                }
            case .wait(let wait): wait.block()
            case .circle(let key): stopProgram(Messages.circleOfWaits(key, Frame.current))
            }
        }
    }

    /// Returns what must be done before the writes, or `nil`.
    private func obstacle(
        _ token: LockToken, _ writes: inout some WriteList, _ transaction: Frame?
    ) -> Obstacle? {
        var open: [Comparison] = []
        var found: Obstacle?
        writes.updateEach { index, write in
            if found == nil { found = obstacle(token, &write, index, transaction, &open) }
        }
        return found ?? (open.isEmpty ? nil : .compare(open))
    }

    /// Returns what must be waited for before one write, or `nil`, and adds the comparison that it needs to `open`.
    @inline(never)
    private func obstacle(
        _ token: LockToken, _ write: inout Write, _ index: Int, _ transaction: Frame?, _ open: inout [Comparison]
    ) -> Obstacle? {
        if write.node.isEnded(token) {
            write.isTooLate = true
            return nil
        }
        // Without these flags, nothing would notice whether the values are equal.
        guard let cell = write.node.storage.existingCell(token, write.key), cell.has(CellFlags.noticed) else {
            if write.answer != nil { write.answer = nil }
            return nil
        }
        if let exclusion = cell.place?[token].rare?.exclusion, exclusion !== transaction {
            return exclusion.beginWait(token, for: Frame.current).map { .wait($0) } ?? .circle(exclusion.key!)
        }
        guard let new = write.value, case .found(let seen, _) = write.node.lookInline(token, write.key),
            let old = seen.payload
        else {
            if write.answer != nil { write.answer = nil }
            return nil
        }
        if write.answer?.time != seen.time {
            guard let isEqual = write.equal.known(old, new) else {
                open.append((index, old, new, seen.time))
                return nil
            }
            write.answer = (seen.time, isEqual)
        }
        // Two cells will have the same time, so neither may be given another value that keeps it.
        if seen != cell, write.answer?.isEqual == true { for each in [seen, cell] { each.mark(CellFlags.input) } }
        return nil
    }

    /// Performs the writes.
    ///
    /// Readers must never see an old value after a new one, so several cells are closed before the first one is changed.
    private func perform(
        _ token: LockToken, _ writes: inout some WriteList, _ transaction: Frame?, outdates: Bool,
        _ effects: inout Effects
    ) {
        let isOne = writes.count == 1
        if !isOne {
            writes.updateEach { _, write in
                if !write.isTooLate { write.node.storage.cell(token, write.key).close() }
            }
        }
        var changes: [(place: Place, kind: ChangeKind)] = []
        writes.updateEach { _, write in
            if !write.isTooLate {
                perform(token, write, isOne: isOne, transaction, outdates: outdates, &effects, &changes)
            }
        }
        if !isOne {
            writes.updateEach { _, write in
                if !write.isTooLate { write.node.storage.existingCell(token, write.key)?.openIfPresent() }
            }
        }
        for change in changes { effects.announce(token, change.place, change.kind, endOf: transaction) }
    }

    /// Performs one write, and announces its change, or adds it to those that are announced after all writes.
    @inline(never)
    private func perform(
        _ token: LockToken, _ write: Write, isOne: Bool, _ transaction: Frame?, outdates: Bool,
        _ effects: inout Effects, _ changes: inout [(place: Place, kind: ChangeKind)]
    ) {
        let cell = write.node.storage.cell(token, write.key)
        let kind = write.apply(token, to: cell, isOpen: isOne, &effects)
        if outdates, let kind, write.equalTime == nil, write.node.reportsOutdated(token) {
            write.node.noteOutdated(token, write, kind)
        }
        guard let kind, let place = cell.place else { return }
        if isOne, kind != .unset { return effects.announce(token, place, kind, endOf: transaction) }
        changes.append((place, kind))
        // Keys that later writes of this commit set must not anchor instances that were loaded before.
        if kind == .unset {
            changes += effects.dropUnanchored(token, place).map { ($0, .dropped) }
        }
    }

    /// Resets every key that was set, loaded, or observed in a node, or that's being loaded for it or a descendant.
    func resetAll(in node: Node) {
        let keys = lock.withLock { token in
            // A place without a value may be that of a follower whose load has failed.
            let cells = node.storage.cells(token).filter {
                $0.has(CellFlags.held | CellFlags.loaded) || $0.place != nil
            }
            var keys = Set(cells.map(\.key))
            guard node.subtree(token).contains(where: { $0.storage[token].inProgress > 0 }) else { return keys }
            for load in loads(token) where load.node!.isWithin(node) { keys.insert(load.key!.known(at: node.depth)) }
            return keys
        }
        // What was made from them here goes, too.
        commit(keys.map { Write(node, TypedKey(resetting: $0), .reset) }, outdates: false)
    }
}

extension Place {
    /// Forgets what a part's rest was made from, unless the write sets the part.
    @inline(never)
    fileprivate func forgetRest(_ token: LockToken, _ garbage: inout Garbage) {
        let rare = self[token].rare!
        if !rare.setsPart {
            garbage.add(rare.rest)
            rare.rest = nil
            markSpecial(token)
        }
        rare.setsPart = false
    }

    /// Calls `body` with the followers here and below that see what's seen here.
    @inline(never) func forEachFollower(_ token: LockToken, _ body: (Follower) -> Void) {
        var open = [self]
        while let place = open.popLast() {
            if let follower = place[token].rare?.follower.value { body(follower) }
            place.forEachBelow(token) { open.append($0) }
        }
    }
}

extension Node {
    /// Marks a key as reset, so that a load in progress isn't kept here, nor below if it has another loader now.
    fileprivate func markReset(_ token: LockToken, _ key: Key, changesLoader: Bool) {
        guard family.rootPlace(token, of: key)?[token].rare?.loads.isEmpty == false else { return }
        let rare = place(token, key)[token].more()
        rare.resetTime = family.state[token].tick()
        if changesLoader { rare.loaderTime = rare.resetTime }
    }

    /// Whether the next reader of an instance that was made from a key reports that code has set the key since.
    fileprivate func reportsOutdated(_ token: LockToken) -> Bool { Node.isDebug || storage[token].strictness != nil }

    /// Whether all containers report outdated instances, and reads are checked after the loads.
    @inline(__always) static var isDebug: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// Whether instances may be here or below that were made from a key.
    private func mayBeInput(_ token: LockToken, _ key: Key) -> Bool {
        // What was read in a node below this one and is hidden there now is looked for only if it's a feature: a default of its own
        // is rare there, and to look for one at each set would cost more than it tells.
        key.kind != .property && storage[token].firstChild != nil
            || path.contains { $0.storage.existingCell(token, key)?.has(CellFlags.input) == true }
    }

    /// Closes the cells of instances that were made from a key before code changed it.
    ///
    /// They stay, but their next reader reports them.
    fileprivate func noteOutdated(_ token: LockToken, _ write: Write, _ kind: ChangeKind) {
        guard mayBeInput(token, write.key) else { return }
        // A reset of what was loaded concerns no descendant with an instance of its own. A default is the same again.
        let wasLoaded = kind == .changed && !holds(token, write.key)
        if wasLoaded, write.key.kind == .property { return }
        var open = [self]
        while let node = open.popLast() {
            for cell in node.storage.cells(token) where cell.has(CellFlags.loaded | CellFlags.held) {
                guard let place = cell.place, let provenance = place[token].provenance ?? place[token].rare?.rest,
                    provenance.mask & write.key.mask != 0, provenance.keys.contains(write.key)
                else { continue }
                let key = write.key.decorated ?? write.key
                place[token].more().outdatedBy = (key, Messages.words(for: write.operation))
                cell.close()
            }
            var child = node.storage[token].firstChild?.object
            while let next = child {
                let hasOwn = wasLoaded && next.storage.existingCell(token, write.key)?.has(CellFlags.loaded) == true
                if !hasOwn, !next.hides(token, write.key) { open.append(next) }
                child = next.storage[token].nextSibling?.object
            }
        }
    }

    /// Remembers what an instance was made from of which a part is about to be set.
    func noteRest(of key: Key) {
        family.lock.withLock { token in
            guard case .found(let cell, _) = look(token, key), let made = cell.place,
                let rest = made[token].provenance ?? made[token].rare?.rest
            else { return }
            let rare = place(token, key)[token].more()
            (rare.rest, rare.setsPart) = (rest, true)
            place(token, key).markSpecial(token)
        }
    }

    /// Sets a value for the first time, unless something observes, loads, or depends on the key; returns whether it did.
    func setAlone(_ key: Key, _ payload: Payload) -> Bool {
        let replaced: Garbage? = family.lock.withLock { token in
            guard !isEnded(token), !family.hasEvents, !(reportsOutdated(token) && mayBeInput(token, key)) else {
                return nil
            }
            let cell = storage.cell(token, key)
            guard cell.isEmpty, cell.place == nil else { return nil }
            let time = family.state[token].tick()
            storage[token].heldMask |= key.mask
            raiseEpoch(token, to: time)
            return cell.store(payload, flags: CellFlags.held, at: time)
        }
        replaced?.dispose()
        return replaced != nil
    }
}
