// The checks of debug builds and tests. Each reports what facts show to be wrong.

extension Diagnostics {
    /// Keeps what later facts are compared with, and reports what this one shows.
    func check(_ token: LockToken, _ fact: Fact, _ effects: inout Effects) {
        switch fact {
        case .read(let read): check(token, read, &effects)
        case .wrote(let write, let kind?, _): keep(token, write, kind)
        case .began(let load): load.mark(token, 0)
        case .ended(let outcome, .kept, _): check(token, outcome, &effects)
        case .released(let node, let unclosed):
            let record = state[token].take(node) ?? NodeRecord()
            effects.garbage.add(record)
            if unclosed.isEmpty { return }
            let (name, origin) = (node.displayName(token), record.origin)
            effects.report(in: node.family) { Messages.neverClosed(unclosed, name, origin) }
        default: break
        }
    }

    // MARK: Writes

    /// Keeps a write, with which reads of instances that were made before are compared.
    private func keep(_ token: LockToken, _ write: Write, _ kind: ChangeKind) {
        let (node, key) = (write.node, write.key)
        if write.origin == .code, write.setting.isNothing {
            // What a layer wraps goes with the layer, and a default is the same again.
            if key.decorated != nil || key.kind == .property && kind == .changed && !node.holds(token, key) { return }
        }
        let record = state[token].more(of: node)
        let time = node.family.state[token].now
        record.writes[key] = (time, write.words)
        state[token].lastWrite = time
        if let part = record.part, part.key == key {
            record.rests[key] = (part.rest, time)
            record.part = nil
        } else if record.rests.contains(key) {
            record.rests[key] = nil
        }
    }

    /// Returns the last write, after a time and not reported yet for a feature, of a key from which it was made, as its home sees
    /// the key.
    private func change(
        _ token: LockToken, of key: Key, madeFrom provenance: Provenance, in home: Node, since time: UInt64
    ) -> (key: Key, write: KeyWrite)? {
        var last: (key: Key, write: KeyWrite)?
        for input in provenance.keys {
            for node in home.path {
                let known = input.known(at: node.depth)
                if let write = state[token].record(of: node)?.writes[known],
                    write.time > max(time, last?.write.time ?? 0)
                {
                    last = (input.decorated ?? input, write)
                }
                // What's written above isn't seen here.
                let cell = node.cell(token, known)
                if cell.map({ $0.has(CellFlags.held) || $0.has(CellFlags.loaded) }) == true { break }
            }
        }
        guard let last, state[token].isNew(.outdated, key, last.key) else { return nil }
        return last
    }

    // MARK: Reads

    private func check(_ token: LockToken, _ read: Read, _ effects: inout Effects) {
        let node = read.node
        noteRead(token, of: read.key, in: node)
        let report =
            captured(token, read) ?? late(token, read) ?? beside(token, read) ?? outlived(token, read)
            ?? outdated(token, read)
        if let report { effects.report(in: node.family, report) }
    }

    /// Reports an instance that was made before one of its inputs changed, or a value of which a part was set before.
    private func outdated(_ token: LockToken, _ read: Read) -> ReportText? {
        guard let (cell, owner) = read.seen else { return nil }
        let (key, home) = (read.key, owner.object)
        let isPart = !cell.has(CellFlags.loaded)
        var (made, since) = (cell.place?[token].provenance, cell.place?[token].since ?? 0)
        if isPart {
            guard let rest = state[token].record(of: home)?.rests[cell.key] else { return nil }
            (made, since) = (rest.provenance, rest.time)
            // A node below may set what the rest was made from.
            for node in read.node.path(below: home) {
                guard let input = rest.provenance.keys.first(where: { node.holds(token, $0) }) else { continue }
                let isNew = state[token].more(of: node).isNew(.part, key, input)
                return isNew ? { @Sendable in Messages.restOverridden(key, input) } : nil
            }
        }
        guard let made else { return nil }
        // Each write is looked for once.
        let record = state[token].more(of: home)
        let last = max(since, record.checked[cell.key] ?? 0)
        if state[token].lastWrite <= last { return nil }
        record.checked[cell.key] = state[token].lastWrite
        guard let change = change(token, of: key, madeFrom: made, in: home, since: last) else { return nil }
        let (node, family) = (read.node, home.family)
        let found = family.way(token, from: key) { $0 == change.key }
        let way = found.last == change.key ? found : found + [change.key]
        let isReplaced = way.dropLast().contains { key in
            key.decorated != nil || node.path.contains { $0.holds(token, key) }
        }
        let (words, place) = (change.write.words, family.within(token, home))
        return { Messages.outdated(way, place, by: words, isPart: isPart, isReplaced: isReplaced) }
    }

    /// Reports a load that reads its own family without its handle.
    private func captured(_ token: LockToken, _ read: Read) -> ReportText? {
        guard read.recorder == nil, let load = Context.bound?.own?.load,
            load.family === read.node.family, state[token].isNew(.captured, load.key, read.key)
        else { return nil }
        let (key, feature, place) = (read.key, load.key, read.node.family.within(token, read.node))
        return { Messages.unrecordedRead(of: key, place, by: feature) }
    }

    /// Reports a read through a kept handle while the current container overrides the key below the instance's home.
    private func late(_ token: LockToken, _ read: Read) -> ReportText? {
        guard case .handle(let load) = read.container.role, load.isFinished,
            let caller = Context.bound?.container?.asked
        else { return nil }
        let (home, key) = (read.node, read.key)
        guard caller !== home, caller.isWithin(home),
            caller.path(below: home).contains(where: { $0.holds(token, key) }),
            state[token].more(of: caller).isNew(.late, load.key, key)
        else { return nil }
        let name = caller.family.nameWithPlace(token, of: caller)
        return { Messages.lateRead(of: key, in: name, by: load.key) }
    }

    /// Reports an ``Injected`` that reads from the container in which it was made, while one beside it has something else.
    private func beside(_ token: LockToken, _ read: Read) -> ReportText? {
        guard let injected = ReadPlace.current, injected.made === read.container,
            let (way, current) = passed(token, read), state[token].more(of: current).isNew(.beside, read.key, read.key)
        else { return nil }
        let family = current.family
        let (made, name) = (family.nameWithPlace(token, of: read.node), family.nameWithPlace(token, of: current))
        return family.unlessSame(way, in: read.node, and: current) {
            Messages.readBeside(way, at: injected.place, made: made, current: name)
        }
    }

    /// Reports, once, code that outlives an operation: it reads from the closed container while one beside it has something else.
    private func outlived(_ token: LockToken, _ read: Read) -> ReportText? {
        guard case .owner = read.container.role, read.node.storage[token].isClosed,
            let (way, current) = passed(token, read)
        else { return nil }
        let record = state[token].more(of: read.node)
        if record.isOutlived { return nil }
        record.isOutlived = true
        let family = current.family
        let (made, name) = (family.nameWithPlace(token, of: read.node), family.nameWithPlace(token, of: current))
        return family.unlessSame(way, in: read.node, and: current) { Messages.outlived(way, made: made, current: name) }
    }

    /// Returns the path from what's read to what the bound container has otherwise, if that container is neither above the one
    /// that's read nor below it.
    private func passed(_ token: LockToken, _ read: Read) -> (way: [Key], current: Node)? {
        let node = read.node
        guard let current = Context.bound?.container?.asked, current.family === node.family, !current.isWithin(node),
            !node.isWithin(current)
        else { return nil }
        let passed = current.path.filter { !node.isWithin($0) }
        let isPassed: (Key) -> Bool = { key in passed.contains { $0.holds(token, key) } }
        let way = isPassed(read.key) ? [read.key] : node.family.way(token, from: read.key, to: isPassed)
        return way.last.map(isPassed) == true ? (way, current) : nil
    }

    // MARK: Loads

    /// Keeps how long a load took, and reports an instance that's opened again and again for children.
    private func check(_ token: LockToken, _ outcome: LoadOutcome, _ effects: inout Effects) {
        let (home, facts, key) = (outcome.home, outcome.facts, outcome.key)
        if let mark = outcome.load.mark(token) {
            state[token].more(of: home).durations[outcome.knownKey] = ProcessTime.now - mark.start
        }
        // Who keeps a child for each key or path opens one for each on purpose.
        let isKeyed = state[token].record(of: home)?.origin?.way.isKeyed == true
        guard !home.isRoot, !isKeyed, facts.isExternal || outcome.lifetime?.teardown.hasClosers == true,
            !outcome.provenance.isLocal, !facts.isReplaced
        else { return }
        let family = home.family
        let homeKeys = outcome.provenance.homeKeys.filter { home.holds(token, $0) }
        if !homeKeys.isEmpty, let parent = home.parent {
            // The values are compared outside the lock.
            return effects.add(HomeCheck(key: key, homeKeys: homeKeys, home: home, parent: parent, diagnostics: self))
        }
        guard outcome.provenance.keys.contains(where: { home.holds(token, $0) }) else { return }
        let isInRoot = family.rootPlace(token, of: key)?[token].cell.has(CellFlags.loaded) == true
        // What each request makes for itself, such as a transaction, is meant to be closed with it.
        let former = state[token].loadedBelow[key]
        state[token].loadedBelow[key] = home.number
        guard isInRoot || facts.isExternal && former.map({ $0 != home.number }) == true else { return }
        guard state[token].isNew(.again, key, key) else { return }
        let way = family.way(token, from: key) { home.holds(token, $0) }
        let name = family.nameWithPlace(token, of: home)
        effects.report(in: family) { Messages.madeAgain(key, way, in: name) }
    }

    // MARK: Uses

    /// Who observes a key sees what's set.
    func observed(_ node: Node, _ key: Key?) {
        node.family.lock.withLock { token in if let key { noteRead(token, of: key, in: node) } }
    }

    private func noteRead(_ token: LockToken, of key: Key, in node: Node) {
        guard let holder = node.path.first(where: { $0.holds(token, key) }) else { return }
        state[token].record(of: holder)?.unread.remove(key.known(at: holder.depth))
    }

    /// A copy takes what's set in a container and those above, and nothing more is known of that.
    func copied(_ node: Node) {
        node.family.lock.withLock { token in
            for node in node.path { state[token].record(of: node)?.unread = [] }
        }
    }

    /// Reports a load that registers a teardown closure with another container.
    func checkRegistration(in container: Container) {
        // What a kept handle belongs to registers its own.
        guard let load = Frame.current?.load, load.family === container.asked.family,
            load.node.isWithin(container.asked)
        else { return }
        load.family.reports.report(Messages.closerBesideLoad(load.key))
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
    let diagnostics: Diagnostics

    func tell() {
        let hashes = homeKeys.compactMap { home.family.hash(of: $0, in: home) }
        guard hashes.count == homeKeys.count else { return }
        let hash = homeKeys.count == 1 ? hashes[0] : hashes.hashValue
        let name = home.family.lock.withLock { token -> String? in
            let state = diagnostics.state
            let record = state[token].more(of: parent)
            let known = record.homeValues[key] ?? []
            record.homeValues[key] = known.filter { $0.hash != hash }.suffix(7) + [(hash, home.number)]
            // The same container may open it again, such as after a change.
            guard let former = known.first(where: { $0.hash == hash }), former.home != home.number,
                state[token].isNew(.again, key, homeKeys[0])
            else { return nil }
            return home.family.nameWithPlace(token, of: home)
        }
        if let name { home.family.reports.report(Messages.openedAgain(key, homeKeys, in: name)) }
    }
}

extension Family {
    /// The name of a container, and where it was made, if that's known.
    func nameWithPlace(_ token: LockToken, of node: Node) -> String {
        let name = node.displayName(token)
        let place = diagnostics?.state[token].record(of: node)?.origin?.place.outsideLibrary
        return place.map { "\(name) (made at \($0))" } ?? name
    }

    /// What messages say of a container between two words, unless it's the root.
    func within(_ token: LockToken, _ node: Node) -> String {
        node.isRoot ? "" : " in \(nameWithPlace(token, of: node))"
    }

    /// Outside the lock: returns the hash of the value that a node sees of a property, if that has one.
    fileprivate func hash(of key: Key, in node: Node) -> Int? {
        let value = lock.withLock { token -> Payload? in
            guard case .found(let cell, _) = node.look(token, key) else { return nil }
            return cell.payload
        }
        return value.flatMap { key.tell($0, by: HashTeller()) }.flatMap { Int($0) }
    }

    /// Returns a report's text, unless two nodes certainly see equal values of the last key of a path.
    fileprivate func unlessSame(
        _ way: [Key], in node: Node, and other: Node, _ text: @escaping @Sendable () -> String
    ) -> ReportText {
        { [key = way[way.count - 1]] in
            let hash = self.hash(of: key, in: node)
            return hash != nil && hash == self.hash(of: key, in: other) ? nil : text()
        }
    }

    /// Returns the paths from kept instances that live in a node to the properties, where that is, and whether to report it.
    fileprivate func kept(
        _ token: LockToken, in node: Node, madeFrom sought: Set<Key>
    ) -> [(way: [Key], place: String, isNew: Bool)] {
        let mask = sought.reduce(0) { $0 | $1.mask }
        let kept = node.storage.cells(token).filter { cell in
            guard cell.key.kind != .property, cell.has(CellFlags.loaded), let place = cell.place,
                let provenance = place[token].provenance, provenance.mask & mask != 0
            else { return false }
            return provenance.keys.contains {
                sought.contains($0) && hasChanged(token, $0, for: node, after: place[token].since)
            }
        }
        let keys = Set(kept.map(\.key))
        return kept.compactMap { cell in
            // Through none of the others.
            let way = way(from: cell.key, to: sought.contains) { key in
                let made =
                    key == cell.key ? cell.place?[token].provenance : last(token, of: key)
                return made?.direct.filter { !keys.contains($0) } ?? []
            }
            guard let way else { return nil }
            // The next read of the instance would say the same.
            let isNew = diagnostics?.state[token].isNew(.outdated, cell.key, way[way.count - 1])
            return (way, within(token, node), isNew == true)
        }
    }

    /// Whether a node sees a value of a key that came after a time and not from code, or no longer the one from before.
    private func hasChanged(_ token: LockToken, _ key: Key, for node: Node, after time: UInt64) -> Bool {
        guard case .found(let cell, _) = node.look(token, key) else {
            return node.lost(token, key, after: time) != nil
        }
        return cell.time > time && cell.heldFlags != CellFlags.held
    }
}

/// Gives the hash of a value as its text.
private struct HashTeller: ValueTeller {
    func text<Value>(of value: Value) -> String { (value as? any Hashable).map { "\($0.hashValue)" } ?? "" }
}

extension Container {
    /// Reports a declared home whose key is set nowhere, when a child asks for the feature for the first time.
    @inline(never) func checkHome(_ request: borrowing Request) {
        let (node, key) = (node, request.key)
        guard let keys = request.home.keys, let diagnostics = node.family.diagnostics, !node.isRoot else { return }
        let isNew = node.family.lock.withLock { token in
            !node.path.contains { node in keys.contains { node.holds(token, $0) } }
                && diagnostics.state[token].isNew(.home, key, keys[0])
        }
        if isNew { report(Messages.homeUnset(key, keys)) }
    }

    /// Remembers what the instance was made from of which code is about to set a part.
    func noteRest(of key: Key) {
        let node = node
        guard let diagnostics = node.family.diagnostics else { return }
        var garbage = Garbage()
        node.family.lock.withLock { token in
            guard case .found(let cell, let owner) = node.look(token, key),
                let rest = cell.place?[token].provenance
                    ?? diagnostics.state[token].record(of: owner.object)?.rests[cell.key]?.provenance
            else { return }
            let record = diagnostics.state[token].more(of: node)
            garbage.add(record.part?.rest)
            record.part = (key, rest)
        }
        garbage.dispose()
    }
}

// MARK: Values that nothing reads

extension Container {
    /// The entries that code set in this container, with the times that identify what it set.
    package var overrides: [Key: UInt64] {
        let node = node
        return node.family.lock.withLock { token in
            let set = node.storage.cells(token).filter { cell in
                // Code didn't set what a decoration wraps.
                guard cell.has(CellFlags.held), !cell.has(CellFlags.automatic), cell.key.decorated == nil else {
                    return false
                }
                // What replaces it will have another time.
                cell.mark(CellFlags.input)
                return true
            }
            return Dictionary(uniqueKeysWithValues: set.map { ($0.key, $0.time) })
        }
    }

    /// Awaits a read of each of some entries that code has set here.
    package func awaitReads(of keys: Set<Key>) {
        let node = node
        guard let diagnostics = node.family.diagnostics else { return }
        node.family.lock.withLock { token in diagnostics.state[token].more(of: node).unread = keys }
    }

    /// The entries that nothing has read since.
    package var unread: Set<Key> {
        let node = node
        return node.family.lock.withLock { token in node.family.diagnostics?.state[token].record(of: node)?.unread }
            ?? []
    }

    /// A Boolean value that indicates whether a teardown closure is registered.
    package var hasClosers: Bool {
        let node = node
        return node.family.lock.withLock { token in
            node.subtree(token).contains { $0.hasClosers(token) }
        }
    }
}

// MARK: The shared container in place of the program's own

/// Reports, once in a debug build, code that falls back to ``Container/shared``, in which nothing is set, while the program uses
/// another root.
enum Fallback {
    private struct State {
        var other: WeakReference<Node>?
        var isReported = false
    }
    private static let state = Locked(State())

    /// Notes that code uses a root of the program's own.
    static func noteUse(of container: Container) {
        #if DEBUG
        if TestProcess.isTesting { return }
        if state.withLock({ $0.isReported || $0.other != nil }) { return }
        let root = WeakReference(container.asked.ancestor(at: 0))
        state.withLock { $0.other = $0.other ?? root }
        #endif
    }

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
        guard other !== shared else { return state.withLock { $0.other = nil } }
        let isUnset = shared.family.lock.withLock { token in
            shared.storage[token].heldMask == 0 && shared.storage[token].rare?.supplier.value == nil
        }
        guard isUnset,
            state.withLock({ state in
                defer { state.isReported = true }
                return !state.isReported
            })
        else { return }
        let name = other.family.lock.withLock { token in other.family.nameWithPlace(token, of: other) }
        shared.family.reports.report(Messages.fellBack(at: ReadPlace.current?.place, name))
    }
    #endif
}

// MARK: Instances that keep what they were loaded from, though sources have another value now

extension Container {
    /// Returns the instances here and below that were loaded from an older value of one of some properties, each with that property.
    ///
    /// Instances that were loaded from one of the others are left out. In debug builds and in tests, each instance is reported once.
    ///
    /// - Complexity: O(*n*) for *n* instances and their inputs, and the lock is taken once for each container.
    package func keptInstances(madeFrom properties: [Key]) -> [(feature: Key, input: Key)] {
        if properties.isEmpty { return [] }
        let (node, sought) = (node, Set(properties))
        let nodes = node.family.lock.withLock { token in node.subtree(token) }
        var kept: [(feature: Key, input: Key)] = []
        for node in nodes {
            let found = node.family.lock.withLock { token in node.family.kept(token, in: node, madeFrom: sought) }
            for (way, place, isNew) in found {
                kept.append((way[0].decorated ?? way[0], way[way.count - 1]))
                if isNew { node.family.reports.report(Messages.keptAtReload(way, place)) }
            }
        }
        return kept
    }
}

extension Write {
    /// The words for the write.
    fileprivate var words: Messages.ChangeWords {
        switch (origin, setting) {
        case (.rule, _): ("changed by a rule", "add the rule for")
        case (.source, _): ("changed by a source", "apply the source for")
        case (.code, .nothing): ("reset", "reset")
        case (.code, .loader(let loader)):
            switch loader.link?.layers.layer.kind {
            case .decoration: ("decorated", "decorate")
            case .element: ("added to", "add to")
            case nil: ("set", "set")
            }
        case (.code, _): ("set", "set")
        }
    }
}
