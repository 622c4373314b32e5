import Fugu

/// What a check of a program's loads has in the place of external features.
///
/// Nothing reaches outside the process. A stand-in lives where the feature declares to live, and its inputs don't count.
final class StandIns: LoadPolicy {
    /// A feature that wasn't loaded.
    struct Use: Sendable {
        /// What stood in for it.
        enum Instead: Sendable { case placeholder, testValue, error }

        let key: Key
        let home: Home
        let instead: Instead
        /// The path from what the program reads to the feature.
        let way: [Key]
    }

    /// A load that has failed since a feature wasn't loaded.
    struct FailedLoad: Sendable {
        let key: Key
        /// The depth of the container for which it was loaded.
        let depth: Int
        /// What it had read.
        let reads: [Key]
    }

    private let stop: @Sendable (LoadError) -> Void
    private let goOn: @Sendable (LoadError) -> Void
    private let used = Locked<[Key: Use]>([:])
    private let unloaded = Locked<[GraphSnapshot.Place: FailedLoad]>([:])

    /// - Parameters:
    ///   - stop: Called where the program would stop; it returns if that can't be helped.
    ///   - goOn: Called where a container overrides what a declared home was made from.
    init(stop: @escaping @Sendable (LoadError) -> Void, goOn: @escaping @Sendable (LoadError) -> Void) {
        (self.stop, self.goOn) = (stop, goOn)
    }

    /// The features that weren't loaded.
    var uses: [Use] { used.withLock { Array($0.values) } }

    /// The loads that have failed, each unless a later one has succeeded.
    var failed: [FailedLoad] { unloaded.withLock { Array($0.values) } }

    /// Forgets what was used and has failed so far.
    func removeAll() {
        used.withLock { $0 = [:] }
        unloaded.withLock { $0 = [:] }
    }

    func substitutes(_ request: borrowing Request) -> Bool { true }

    func answer(to request: Request, under work: Work?) -> LoadAnswer {
        let (key, placeholder) = (request.key, request.placeholder)
        let way = (work?.way ?? []) + [key]
        let instead: Use.Instead =
            request.traits.hasTestValue ? .testValue : placeholder == nil ? .error : .placeholder
        let use = Use(key: key, home: request.traits.home, instead: instead, way: way)
        used.withLock { $0[key] = $0[key] ?? use }
        if instead == .testValue { return .standIn(nil) }
        let error: @Sendable () -> LoadError = {
            .external(way, at: nil, hasTestValue: false, remedy: Fugu.Messages.setLine(for: key))
        }
        return .standIn(
            Replacement(
                load: { handle in
                    if let placeholder { return placeholder(handle) }
                    if !key.kind.throws { handle.node.stop(error()) }
                    throw error()
                }, loadAsync: { _ in throw error() }))
    }

    func willStop(_ error: LoadError) { stop(error) }
    func willGoOn(_ error: LoadError) { goOn(error) }
}

extension StandIns: FactSink {
    func hear(_ token: LockToken, _ fact: Fact, _ effects: inout Effects) {
        guard case .ended(let outcome, _, let error) = fact else { return }
        let load = outcome.load
        let isUnset = (error as? LoadError)?.code == .notSet
        let failed = FailedLoad(key: load.key, depth: load.node.depth, reads: outcome.inputs)
        let place = GraphSnapshot.Place(key: load.key, container: load.node.number)
        unloaded.withLock { $0[place] = isUnset ? failed : nil }
    }
}

extension Container {
    /// Lets others stand in for external features, here and below.
    func use(_ standIns: StandIns) {
        setPolicy(standIns)
        let family = node.family
        var garbage = Garbage()
        family.lock.withLock { token in family.setSink(token, standIns, &garbage) }
        garbage.dispose()
    }
}
