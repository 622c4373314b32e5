// What the engine says of what happens, for those who look on. It names keys, nodes, and works, and holds no value.

/// Something that happened in a family.
package enum Fact {
    /// A write was done: what it changed for readers, or `nil` if they see an equal value, and whether the key wasn't held before.
    case wrote(Write, ChangeKind?, isNew: Bool)
    /// A loaded instance was dropped.
    case dropped(Key, Node)
    case began(Load)
    /// A load has ended, maybe with an error.
    case ended(LoadOutcome, LoadEnd, (any Error)?)
    /// A read has waited since a time for a load that another one began.
    case waited(Load, by: Work?, since: Duration)
    /// The closers of an instance have run or, without a key, a container was closed; it began at a time.
    case closed(Key?, Node, since: Duration, (any Error)?)
}

/// How a load ended.
package enum LoadEnd {
    case kept(in: CellReference)
    case overtaken, notKept, failed
}

/// What makes events of the facts of a family.
package protocol FactSink: AnyObject, Sendable {
    /// Receives a fact under the lock, and adds what's to be done about it to the effects.
    func hear(_ token: LockToken, _ fact: Fact, _ effects: inout Effects)
}

/// What code does with a container.
package enum ContainerUse: Sendable {
    case read, changed, observed, closed
    /// A teardown closure was registered that isn't that of an instance being loaded.
    case registered
    /// A child was made.
    case child
    case copied
}

/// Receives what code is about to do with a container where that isn't answered at once, on the thread that does it and outside every
/// lock.
///
/// - `place`: Looks for the place.
package protocol UseListener: Sendable {
    func used(_ container: Container, _ use: ContainerUse, _ key: Key?, at place: () -> SourcePlace?)
}

/// Something to tell outside every lock.
package protocol News: Sendable { func tell() }

/// The time since the first use.
///
/// Instants of the clock have a size that only the standard library knows, so whatever holds one is copied by calls.
package enum ProcessTime {
    package static let origin = ContinuousClock.now
    @inline(never) package static var now: Duration { origin.duration(to: .now) }
}

/// What was noted of a load when it began: its number among those of the family, and the time.
package typealias LoadMark = (number: UInt64, start: Duration)

extension Family {
    /// Passes a fact on, if somebody listens.
    @inline(__always)
    func emit(_ token: LockToken, _ fact: @autoclosure () -> Fact, _ effects: inout Effects) {
        if isHeard { emitSlowly(token, fact(), &effects) }
    }

    @inline(never) private func emitSlowly(_ token: LockToken, _ fact: Fact, _ effects: inout Effects) {
        state[token].sink.value?.hear(token, fact, &effects)
    }

    /// Outside the lock: passes a fact on, if somebody listens.
    @inline(__always) func emit(_ fact: @autoclosure () -> Fact) { if isHeard { emitUnlocked(fact()) } }

    @inline(never) private func emitUnlocked(_ fact: Fact) {
        var effects = Effects()
        lock.withLock { token in emit(token, fact, &effects) }
        effects.perform()
    }
}
