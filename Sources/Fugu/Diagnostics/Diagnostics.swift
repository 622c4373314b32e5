// Facts become reports and events here. The engine knows nothing of it.

import Synchronization

/// What listens to the facts of a family: the checks of debug builds and tests, and the observers of events.
///
/// Checks hear every read, so they're chosen when a root is made, and its children have them, too. Observers of events hear what
/// passes the lock, so they come and go.
final class Diagnostics: FactSink {
    /// Whether facts are checked for mistakes.
    let isChecking: Bool
    /// Receives what tests want to know of each use.
    private let uses = Locked<(any UseListener)?>(nil)
    let observers = EventObservers()
    let state = FamilyLocked(DiagnosticsState())

    init(isChecking: Bool) { self.isChecking = isChecking }

    deinit { state.free() }

    /// The diagnostics for a root that code makes, which a test process checks, and a debug build.
    static func ofRoot() -> Diagnostics? {
        guard TestProcess.isTesting else { return ofProgram() }
        let diagnostics = Diagnostics(isChecking: true)
        diagnostics.setListener(TestProcess.runner?.listenerForRoot())
        return diagnostics
    }

    /// The diagnostics for the shared container, which is told later who listens.
    static func ofShared() -> Diagnostics? { isDebug || TestProcess.isTesting ? Diagnostics(isChecking: true) : nil }

    /// The diagnostics for a root that a program makes, which a debug build checks.
    static func ofProgram() -> Diagnostics? { isDebug ? Diagnostics(isChecking: true) : nil }

    private static var isDebug: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    func hear(_ token: LockToken, _ fact: Fact, _ effects: inout Effects) {
        if isChecking { check(token, fact, &effects) }
        if !observers.isEmpty { observers.hear(token, fact, &effects) }
    }

    func used(_ container: Container, _ use: ContainerUse, _ key: Key?, at place: () -> SourcePlace?) {
        switch (container.role, use) {
        case (.owner, .registered): checkRegistration(in: container)
        case (.owner, .copied): copied(container.asked)
        case (.owner, .observed): observed(container.asked, key)
        case (.owner, _): Fallback.noteUse(of: container)
        case (.handle(let load), _) where load.isFinished: break
        default: return
        }
        guard let uses = uses.withLock({ $0 }) else { return }
        uses.used(container, use, key) { ReadPlace.current?.place ?? place() }
    }

    /// Lets a listener know of each use, or nobody.
    func setListener(_ listener: (any UseListener)?) {
        let former = uses.withLock { uses in
            defer { uses = listener }
            return uses
        }
        withExtendedLifetime(former) {}
    }
}

/// Receives what code is about to do with a container, on the thread that does it and outside every lock.
///
/// - `place`: Looks for the place.
package protocol UseListener: Sendable {
    func used(_ container: Container, _ use: ContainerUse, _ key: Key?, at place: () -> SourcePlace?)
}

/// What's known of a family's past.
///
/// The family's lock protects it.
struct DiagnosticsState {
    private var records: [ObjectIdentifier: NodeRecord] = [:]
    private var reported: Set<Reported> = []
    /// The number of the node below the root in which each feature was loaded last.
    var loadedBelow = KeyTable<Int>()
    /// The time of the last write that changed something.
    var lastWrite: UInt64 = 0

    /// Returns what's known of a node, if anything is.
    func record(of node: Node) -> NodeRecord? { records[ObjectIdentifier(node)] }

    /// Returns what's known of a node, which is empty at first.
    mutating func more(of node: Node) -> NodeRecord {
        if let known = records[ObjectIdentifier(node)] { return known }
        let made = NodeRecord()
        records[ObjectIdentifier(node)] = made
        return made
    }

    /// Removes and returns what's known of a node.
    mutating func take(_ node: Node) -> NodeRecord? {
        defer { records[ObjectIdentifier(node)] = nil }
        return records[ObjectIdentifier(node)]
    }

    /// Records a report about a feature and a key, and returns whether it's the first one of its topic.
    mutating func isNew(_ topic: Reported.Topic, _ feature: Key, _ key: Key) -> Bool {
        reported.insert(Reported(topic: topic, feature: feature, key: key)).inserted
    }
}

/// A report that was made.
struct Reported: Hashable {
    enum Topic { case outdated, part, captured, late, beside, home, again, testValue, external }
    let topic: Topic
    let feature: Key
    let key: Key
}

/// What's known of a node's past, until it ends.
///
/// The family's lock protects it.
final class NodeRecord {
    /// How the container was made, and where.
    var origin: (way: ContainerOrigin, place: SourcePlace)?
    /// The last write of each key that changed it.
    var writes = KeyTable<KeyWrite>()
    /// What a value was made from of which code has set a part, and when.
    var rests = KeyTable<(provenance: Provenance, time: UInt64)>()
    /// The key of which code is about to set a part, and what the rest was made from.
    var part: (key: Key, rest: Provenance)?
    /// How long the last load of each key took.
    var durations = KeyTable<Duration>()
    /// The keys of which a test awaits a read.
    var unread: Set<Key> = []
    /// The hashes of the last values by which each feature below was to live, and the numbers of its homes.
    var homeValues = KeyTable<[(hash: Int, home: Int)]>()
    /// The time of the last write up to which each key that lives here was checked at a read.
    var checked = KeyTable<UInt64>()
    /// Whether code was found to read here that outlives the operation.
    var isOutlived = false
    /// The reports of reads that ignore what is overridden here.
    private var reported: Set<Reported> = []

    init() {}

    /// Records a report about a reader and a key, and returns whether it's the first one of its topic.
    func isNew(_ topic: Reported.Topic, _ reader: Key, _ key: Key) -> Bool {
        reported.insert(Reported(topic: topic, feature: reader, key: key)).inserted
    }
}

/// A write that changed a key.
typealias KeyWrite = (time: UInt64, words: Messages.ChangeWords)

extension Family {
    /// The diagnostics that check the family, if any do.
    var diagnostics: Diagnostics? { checker as? Diagnostics }
}

extension Container {
    /// Remembers how the container was made, and where, if it's checked.
    @inline(__always)
    func wasMade(_ way: ContainerOrigin, _ fileID: StaticString, _ line: UInt) {
        if asked.family.checker != nil { remember((way, SourcePlace(fileID, line))) }
    }

    @inline(never) private func remember(_ origin: (way: ContainerOrigin, place: SourcePlace)) {
        let node = node
        guard let diagnostics = node.family.diagnostics else { return }
        node.family.lock.withLock { token in
            diagnostics.state[token].more(of: node).origin = origin
        }
    }

    /// Records a report about a feature, and returns whether it's the first one of its topic, or nobody checks the family.
    func isNew(_ topic: Reported.Topic, _ key: Key) -> Bool {
        let family = node.family
        guard let diagnostics = family.diagnostics else { return true }
        return family.lock.withLock { token in diagnostics.state[token].isNew(topic, key, key) }
    }

    /// Lets a listener know of each use of the containers of this root, or nobody.
    package func listen(by listener: (any UseListener)?) { node.family.diagnostics?.setListener(listener) }
}
