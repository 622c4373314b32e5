package import Fugu

/// The strictness of a container: it loads no feature that reaches outside the process, and reports each attempt.
package final class Strictness: LoadPolicy, LoadRefuser {
    /// A load that was refused.
    package struct Refusal: Sendable {
        /// The error: the refused feature, the loads that needed it, and the fix.
        package let error: LoadError
        /// The feature that would have been loaded.
        let key: Key
        /// The feature that was read: the same, or one that needs it.
        let read: Key
        /// Where it was read, or a key that names it was made, if that is known.
        package let place: SourcePlace?
        package let hasPlaceholder: Bool

        /// The type that names in code what was read, if it's a type.
        package var typeRead: String? { read.isValueKey ? nil : read.codeName }
    }

    private let advise: @Sendable (String?) -> String
    let report: @Sendable (Refusal) -> Void
    private let isForAll: Bool
    /// The placeholders that readers were given, which all who read a feature share, as they would share the feature.
    private let placeholders = Locked<[Key: Payload]>([:])
    /// The features of which something was reported.
    private let noted = Locked<Set<Key>>([])
    /// The refusals meanwhile in each container that is being configured.
    private let configured = Locked<[ObjectIdentifier: [Refusal]]>([:])

    /// - Parameters:
    ///   - isForAll: Whether the container belongs to no test in particular. Then neither placeholders nor what is made from one is
    ///     kept: else the first test would fail and the next ones pass with what it left.
    ///   - advise: Says what to do, given the line that sets a feature in the container `$0`, or `nil` if the feature has a value
    ///     for tests. Called on the thread that tried, outside of every lock.
    ///   - report: Is given every load that was refused, in the same way.
    package init(
        isForAll: Bool = false, advise: @escaping @Sendable (_ line: String?) -> String = { $0 ?? "" },
        report: @escaping @Sendable (Refusal) -> Void
    ) {
        self.isForAll = isForAll
        self.advise = advise
        self.report = report
    }

    /// Refuses an external feature, unless it has a value for tests.
    ///
    /// That belongs to one test, so a container of all tests doesn't load it. What's made from it lives where its inputs live.
    package func answer(to request: Request, under work: Work?) -> LoadAnswer {
        isForAll || !request.traits.hasTestValue ? .refuse(self) : .load
    }

    /// Whether a value for tests is loaded in place of an external feature.
    package func substitutes(_ request: borrowing Request) -> Bool { request.traits.hasTestValue }

    /// Returns whether nothing was reported of a feature yet, and notes that something is.
    package func isNew(_ key: Key) -> Bool { noted.withLock { $0.insert(key).inserted } }

    /// Reports that the load of a key that isn't external has made what's external as a type.
    ///
    /// If it has read that, the test has set it, or has failed.
    package func check(_ value: Any, madeBy load: Load) {
        guard let type = type(of: value) as? any External.Type else { return }
        let key = type._key.key
        let hasRead = load.family.lock.withLock { token in load.inputs(token).contains { $0.key == key } }
        if !hasRead { load.family.reports.report(Messages.madeExternal(load.key, key, load.way)) }
    }

    /// Returns what a reader gets instead of a feature; it fails the test unless only a part of that is set.
    ///
    /// A plain feature without a stand-in has to be loaded, since the read can't throw.
    package func refusal(of request: Request, in node: Node, under work: Work?) -> LoadRefusal {
        let loads = work.map { $0.chain.prefix { $0.load != nil }.compactMap(\.load) } ?? []
        // Reading a feature to set a part of it isn't a mistake.
        if request.placeholder != nil, isForPart(request.key, node, work, loads) {
            return (true, false, { [self] in partly(request, for: $0) })
        }
        let refusal = refusal(request, work)
        if request.key.kind == .feature, request.placeholder == nil {
            report(refusal)
            return (isForAll, true, { _ in throw refusal.error })
        }
        // The closure that configures the container may still set what it has read, maybe through loads.
        let isConfiguring = note(refusal, in: loads.last?.node ?? node)
        return (
            isForAll || isConfiguring, false,
            { [self] in
                if isConfiguring {
                    if request.placeholder != nil { return partly(request, for: $0) }
                } else {
                    report(refusal)
                    if request.placeholder != nil { return placeholder(request, for: $0) }
                }
                throw refusal.error
            }
        )
    }

    /// Whether a part of what is read here, or of what is loaded from it, is about to be set.
    private func isForPart(_ key: Key, _ node: Node, _ work: Work?, _ loads: [Load]) -> Bool {
        guard let part = work?.chain.first(where: { $0.load == nil })?.part else { return false }
        guard let outermost = loads.last?.key else { return part.key == key && part.node === node }
        return part.key == outermost
    }

    /// Keeps a refusal until the configuration of a container ends, if it's being configured, and returns whether it is.
    private func note(_ refusal: Refusal, in node: Node) -> Bool {
        configured.withLock { configured in
            configured[ObjectIdentifier(node)]?.append(refusal)
            return configured[ObjectIdentifier(node)] != nil
        }
    }

    /// Lets refusals in a container wait for the end of its configuration.
    package func beginConfiguration(of node: Node) { configured.withLock { $0[ObjectIdentifier(node)] = [] } }

    /// Reports the refusals of features that weren't set by the end of the configuration.
    package func endConfiguration(of node: Node) {
        let refusals = configured.withLock { $0.removeValue(forKey: ObjectIdentifier(node)) } ?? []
        let left = node.family.lock.withLock { token in refusals.filter { !node.holds(token, $0.read) } }
        left.forEach(report)
    }

    /// Returns what is said of a load that is refused.
    func refusal(_ request: Request, _ parent: Work?) -> Refusal {
        let way = (parent?.way ?? []) + [request.key]
        // The accessors of this library are no places to look at. What a load reads is not read by the wrapper.
        let injected = way.count > 1 ? nil : ReadPlace.current
        let place = request.place?.outsideLibrary
        var remedy = advise(request.traits.hasTestValue ? nil : Fugu.Messages.setLine(for: request.key))
        if !request.key.kind.throws, request.placeholder == nil {
            remedy += Messages.withoutStandIn(request.key)
        }
        if !request.traits.hasTestValue, request.key.hasUnusedTestValue { remedy += Messages.testValueIsUnused }
        let error = LoadError.external(
            way, at: injected ?? request.readPlace, hasTestValue: request.traits.hasTestValue, remedy: remedy)
        return Refusal(
            error: error, key: request.key, read: way[0], place: injected ?? place,
            hasPlaceholder: request.placeholder != nil)
    }

    /// Returns the placeholder from which the assignment to a part begins: whatever isn't set fails the test.
    private func partly(_ request: Request, for container: Container) -> Payload { request.placeholder!(container) }

    /// Returns the placeholder for a reader whose test has failed, which doesn't fail it again.
    private func placeholder(_ request: Request, for container: Container) -> Payload {
        // A value for tests isn't kept here: other tests would get it.
        if request.traits.hasTestValue { return request.placeholder!(container) }
        if let kept = placeholders.withLock({ $0[request.key] }) { return kept }
        let made = Runner.$isRefusing.withValue(true) { request.placeholder!(container) }
        if isForAll { return made }
        return placeholders.withLock { table in
            table[request.key] = table[request.key] ?? made
            return table[request.key] ?? made
        }
    }
}

extension Container {
    /// Makes this container strict, and with it all children and copies, those that are there too.
    package func makeStrict(_ strictness: Strictness) { setPolicy(strictness) }
}
