// The reports of debug builds. Each comes from what passes the lock anyway: a write, a load, the end of a container. In release builds,
// the functions that the engine calls are empty.

import Synchronization

#if DEBUG
extension Node {
    /// The name, and where the container was made, if that's known.
    func nameWithPlace(_ token: LockToken) -> String {
        let name = displayName(token)
        return storage[token].made?.place.outsideLibrary.map { "\(name) (made at \($0))" } ?? name
    }

    /// What messages say of the container between two words, unless it's the root.
    func within(_ token: LockToken) -> String { isRoot ? "" : " in \(nameWithPlace(token))" }
}
#endif

extension Container {
    /// Remembers how the container was made, and where.
    @inline(__always)
    func wasMade(_ way: ContainerOrigin, _ fileID: StaticString, _ line: UInt) {
        #if DEBUG
        let node = asked
        node.family.lock.withLock { token in node.storage[token].made = (way, SourcePlace(fileID, line)) }
        #endif
    }

    /// A Boolean value that indicates whether a teardown closure is registered.
    package var hasClosers: Bool {
        let node = node
        return node.family.lock.withLock { token in
            node.subtree(token).contains { $0.hasClosers(token) }
        }
    }
}

extension Node {
    /// How long the last load of a key took whose instance lives here, if that's known.
    package func duration(_ token: LockToken, of key: Key) -> Duration? {
        #if DEBUG
        cell(token, key)?.place?[token].duration
        #else
        nil
        #endif
    }

    /// Reports closures that never ran, since the container was released without `close()`.
    @inline(__always)
    func noteReleased(_ token: LockToken, _ unclosed: [Key?], _ effects: inout Effects) {
        #if DEBUG
        if unclosed.isEmpty { return }
        let (name, origin) = (displayName(token), storage[token].made)
        effects.report(in: family) { Messages.neverClosed(unclosed, name, origin) }
        #endif
    }
}

// MARK: Instances that keep an old value

extension Node {
    /// Whether a change of a key here may leave an instance with an old value, here or below, which is reported.
    @inline(__always)
    func mayBeRead(_ token: LockToken, _ key: Key) -> Bool {
        #if DEBUG
        let (mask, hasChildren) = (storage[token].readMask, storage[token].firstChild != nil)
        return (hasChildren || mask != 0 && mask & key.mask != 0)
            && path.contains { $0.cell(token, key)?.has(CellFlags.input) == true }
        #else
        false
        #endif
    }

    /// Returns the paths from instances that live here to one of some keys that they were made from and that has changed, along what
    /// their loads read; of two that are made from each other, only that from the inner one.
    ///
    /// - `hasChanged`: Whether a key has changed since a time.
    func kept(
        _ token: LockToken, madeFrom sought: Set<Key>, _ hasChanged: (Key, UInt64) -> Bool
    ) -> [[Key]] {
        let mask = sought.reduce(0) { $0 | $1.mask }
        let kept = storage.cells(token).filter { cell in
            guard cell.key.kind != .property, cell.has(CellFlags.loaded), let place = cell.place,
                let provenance = place[token].provenance, provenance.mask & mask != 0
            else { return false }
            return provenance.keys.contains { sought.contains($0) && hasChanged($0, cell.time) }
        }
        let keys = Set(kept.map(\.key))
        return kept.compactMap { cell in
            family.way(from: cell.key, to: sought.contains) { key in
                let made = key == cell.key ? cell.place?[token].provenance : family.last(token, of: key)
                return made?.direct.filter { !keys.contains($0) } ?? []
            }
        }
    }

    /// Whether the node sees a value of a key that came after a time and not from code, or no longer the one from before.
    fileprivate func hasChanged(_ token: LockToken, _ key: Key, after time: UInt64) -> Bool {
        guard case .found(let cell, _) = look(token, key) else { return lost(token, key, after: time) != nil }
        return cell.time > time && cell.heldFlags != CellFlags.held
    }
}

extension Container {
    /// Returns the instances here and below that were loaded from an older value of one of some properties, each with that property.
    ///
    /// Instances that were loaded from one of the others are left out.
    ///
    /// - Complexity: O(*n*) for *n* instances and their inputs, and the lock is taken once for each container.
    package func keptInstances(madeFrom properties: [Key]) -> [(feature: Key, input: Key)] {
        if properties.isEmpty { return [] }
        let (node, sought) = (node, Set(properties))
        return node.family.lock.withLock { token in node.subtree(token) }.flatMap { node in
            node.family.lock.withLock { token in
                node.kept(token, madeFrom: sought) { node.hasChanged(token, $0, after: $1) }
            }.map { ($0[0], $0[$0.count - 1]) }
        }
    }
}

// MARK: Loads

extension Container {
    /// Reports a declared home whose key is set nowhere, when a child asks for the feature for the first time.
    @inline(__always)
    func checkHome(_ request: borrowing Request) {
        #if DEBUG
        Fallback.noteUse(of: self)
        let (node, key) = (node, request.key)
        guard let keys = request.traits.home.keys, !node.isRoot else { return }
        let isNew = node.family.lock.withLock { token in
            !node.path.contains { node in keys.contains { node.holds(token, $0) } }
                && node.family.state[token].past.isNew(.home, key, keys[0])
        }
        if isNew { report(Messages.homeUnset(key, keys)) }
        #endif
    }
}

extension Load {
    /// Notes the time at which the load begins.
    @inline(__always)
    func noteBegin(_ token: LockToken) {
        #if DEBUG
        if key.kind != .property { state[token].start = ProcessTime.now }
        #endif
    }

    /// Notes what the instance was made from, and reports one that's opened again and again for children.
    @inline(__always)
    func noteKept(_ token: LockToken, _ outcome: LoadOutcome, _ effects: inout Effects) {
        #if DEBUG
        if key.kind == .property { return }
        let home = outcome.home
        home.cell(token, key)?.place?[token].duration = ProcessTime.now - state[token].start
        if !outcome.provenance.reloads { home.storage[token].readMask |= outcome.provenance.mask }
        if !home.isRoot { outcome.checkOpened(token, &effects) }
        #endif
    }
}

#if DEBUG
extension LoadOutcome {
    fileprivate func checkOpened(_ token: LockToken, _ effects: inout Effects) {
        let family = home.family
        guard load.isExternal || lifetime?.teardown.hasClosers == true, !provenance.isLocal, !load.isReplaced,
            // Who keeps a child for each key or path opens one for each on purpose.
            home.storage[token].made?.way.isKeyed != true,
            family.record(token, of: key)?.isOverridden != true
        else { return }
        let homeKeys = provenance.homeKeys.filter { home.holds(token, $0) }
        if !homeKeys.isEmpty, let parent = home.parent {
            // The values are compared outside the lock.
            return effects.add(HomeCheck(key: key, homeKeys: homeKeys, home: home, parent: parent))
        }
        guard provenance.keys.contains(where: { home.holds(token, $0) }) else { return }
        let isInRoot = family.rootPlace(token, of: key)?[token].cell.has(CellFlags.loaded) == true
        // What each request makes for itself, such as a transaction, is meant to be closed with it.
        let former = family.state[token].past.loadedBelow[key]
        family.state[token].past.loadedBelow[key] = home.number
        guard isInRoot || load.isExternal && former.map({ $0 != home.number }) == true else { return }
        guard family.state[token].past.isNew(.again, key, key) else { return }
        let (key, name) = (key, home.nameWithPlace(token))
        let way = family.way(token, from: key) { home.holds(token, $0) }
        effects.report(in: family) { Messages.madeAgain(key, way, in: name) }
    }
}

/// Compares the values by which an instance lives in its home with the last ones beside it: for equal ones, the same thing is opened
/// again.
private struct HomeCheck: News {
    let key: Key
    /// The keys of the declared home that are set there.
    let homeKeys: [Key]
    let home: Node
    let parent: Node

    func tell() {
        let family = home.family
        let hashes = homeKeys.compactMap { family.hash(of: $0, in: home) }
        guard hashes.count == homeKeys.count else { return }
        let hash = homeKeys.count == 1 ? hashes[0] : hashes.hashValue
        let name = family.lock.withLock { token -> String? in
            let known = family.state[token].past.homeValues[key] ?? []
            let former = known.first { $0.hash == hash && $0.parent == parent.number }
            let others = known.filter { $0.hash != hash || $0.parent != parent.number }
            family.state[token].past.homeValues[key] = others.suffix(7) + [(hash, home.number, parent.number)]
            // The same container may open it again, such as after a change.
            guard let former, former.home != home.number,
                family.state[token].past.isNew(.again, key, homeKeys[0])
            else { return nil }
            return home.nameWithPlace(token)
        }
        if let name { family.reports.report(Messages.openedAgain(key, homeKeys, in: name)) }
    }
}

/// Gives the hash of a value as its text.
private struct HashTeller: ValueTeller {
    func text<Value>(of value: Value) -> String { (value as? any Hashable).map { "\($0.hashValue)" } ?? "" }
}

extension Family {
    /// Outside the lock: returns the hash of the value that a node sees of a property, if that has one.
    fileprivate func hash(of key: Key, in node: Node) -> Int? {
        let value = lock.withLock { token -> Payload? in
            guard case .found(let cell, _) = node.look(token, key) else { return nil }
            return cell.payload
        }
        return value.flatMap { key.tell($0, by: HashTeller()) }.flatMap { Int($0) }
    }
}

extension Write {
    /// The words for the write.
    var words: Messages.ChangeWords {
        switch (origin, setting) {
        case (.rule, _): ("changed by a rule", "add the rule for")
        case (.source, _): ("changed by a source", "apply the source for")
        case (.code, .nothing): ("reset", "reset")
        case (.code, _): ("set", "set")
        }
    }
}
#endif

// MARK: The shared container in place of the program's own

/// Reports, once in a debug build, code that falls back to ``Container/shared``, in which nothing is set, while the program uses
/// another root.
enum Fallback {
    #if DEBUG
    private struct State {
        var other: WeakReference<Node>?
        var isReported = false
    }
    private static let state = Locked(State())
    /// Whether nothing is left to note.
    private static let isNoted = Atomic(false)

    /// Notes that code uses a root of the program's own.
    static func noteUse(of container: Container) {
        guard !isNoted.load(ordering: .relaxed), case .owner = container.role, !TestProcess.isTesting else { return }
        let root = WeakReference(container.asked.ancestor(at: 0))
        state.withLock { $0.other = $0.other ?? root }
        isNoted.store(true, ordering: .relaxed)
    }
    #endif

    /// Checks a use of ``Container/current`` while no container is bound.
    @inline(__always) static func check() {
        #if DEBUG
        if !TestProcess.isTesting { checkSlowly() }
        #endif
    }

    #if DEBUG
    @inline(never) private static func checkSlowly() {
        guard let other = state.withLock({ $0.isReported ? nil : $0.other })?.object else { return }
        let shared = Container.shared.node
        guard other !== shared else {
            state.withLock { $0.other = nil }
            return isNoted.store(false, ordering: .relaxed)
        }
        let isUnset = shared.family.lock.withLock { token in
            shared.storage[token].heldMask == 0 && shared.storage[token].rare?.supplier.value == nil
        }
        guard isUnset,
            state.withLock({ state in
                defer { state.isReported = true }
                return !state.isReported
            })
        else { return }
        let name = other.family.lock.withLock { token in other.nameWithPlace(token) }
        shared.family.reports.report(Messages.fellBack(name))
    }
    #endif
}
