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
    private let placeholders = Locked(KeyTable<Payload>())
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
    fileprivate func isNew(_ key: Key) -> Bool { noted.withLock { $0.insert(key).inserted } }

    /// Does nothing: nobody can go on without what runs there.
    package func willStop(_ error: LoadError) {}

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
        guard let reader = work?.chain.first(where: { $0.load == nil }), case .part(let part, let home) = reader.role
        else {
            return false
        }
        guard let outermost = loads.last?.key else { return part == key && home === node }
        return part == outermost
    }

    /// Keeps a refusal until the configuration of a container ends, if it's being configured, and returns whether it is.
    private func note(_ refusal: Refusal, in node: Node) -> Bool {
        configured.withLock { configured in
            configured[ObjectIdentifier(node)]?.append(refusal)
            return configured[ObjectIdentifier(node)] != nil
        }
    }

    /// Lets refusals in a container wait for the end of its configuration.
    fileprivate func beginConfiguration(of node: Node) { configured.withLock { $0[ObjectIdentifier(node)] = [] } }

    /// Reports the refusals of features that weren't set by the end of the configuration.
    fileprivate func endConfiguration(of node: Node) {
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
        var remedy = advise(request.traits.hasTestValue ? nil : Messages.setLine(for: request.key))
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
        let made = TestProcess.$isRefusing.withValue(true) { request.placeholder!(container) }
        if isForAll { return made }
        return placeholders.withLock { table in
            table[request.key] = table[request.key] ?? made
            return table[request.key] ?? made
        }
    }
}

extension Container {
    /// Reports, in a strict container, that the load of a key that isn't external has made what's external as a type.
    ///
    /// If it has read that, the test has set it, or has failed.
    @inline(__always) func checkMade(_ value: @autoclosure () -> Any) {
        if TestProcess.isTesting { checkMadeSlowly(value()) }
    }

    @inline(never) private func checkMadeSlowly(_ value: Any) {
        guard isStrict, case .handle(let load) = role, let type = type(of: value) as? any External.Type else { return }
        let key = Key(raw: type._key.raw)
        let hasRead = load.family.lock.withLock { token in
            load.state[token].inputs.all.contains { $0.key == key }
        }
        if !hasRead { load.family.reports.report(Messages.madeExternal(load.key, key, load.way)) }
    }

    /// Whether the process may run tests.
    static var isTested: Bool { TestProcess.isTesting }

    /// Whether the load of a feature that has a value for tests gives it.
    @usableFromInline package var givesTestValue: Bool { PreviewRun.isOn || isStrict }

    /// Reports the feature that loads, which declares a value for tests in a way that isn't used.
    @usableFromInline func reportUnusedTestValue() {
        guard givesTestValue, case .handle(let load) = role else { return }
        if isNew(load.key) { report(Messages.unusedTestValue(load.key, load.way)) }
    }

    /// Reports the feature that loads and isn't external, although it declares a variable of that name.
    @usableFromInline func reportForgottenExternal(_ variable: StaticString) {
        // Outside of tests and previews, each load of an external feature comes here, too.
        guard TestProcess.isTesting || PreviewRun.isOn, givesTestValue, case .handle(let load) = role
        else { return }
        if isNew(load.key) { report(Messages.forgottenExternal(load.key, "\(variable)", load.way)) }
    }
}

extension Container {
    /// Makes this container strict, and with it all children and copies, those that are there too.
    package func makeStrict(_ strictness: Strictness) { setPolicy(strictness) }

    /// Lets this container, and with it all children and copies, those that are there too, load whatever it is asked for.
    ///
    /// Tests may share it.
    package func makeLive() {
        setPolicy(nil)
        listen(by: nil)
    }

    /// Lets what declares a home above this new child live where its inputs live, here or above.
    package func becomeHomeRoot() {
        let node = node
        node.family.lock.withLock { token in node.storage[token].more().isHomeRoot = true }
    }

    /// Whether this container is strict.
    package var isStrict: Bool {
        let node = node
        return node.family.lock.withLock { token in node.storage[token].policy != nil }
    }

    /// Takes away every feature that was loaded in this container, so that the next read asks for it again.
    package func dropLoadedFeatures() {
        let node = node
        var effects = Effects()
        node.family.lock.withLock { token in
            for cell in node.storage.cells(token) where cell.has(CellFlags.loaded) && cell.key.kind != .property {
                if let place = cell.place { effects.drop(token, place) }
            }
        }
        effects.perform()
    }

    /// Reads a feature of which a part is about to be set: in a strict container, this fails nothing.
    ///
    /// What isn't set afterward is that of the placeholder.
    @usableFromInline func readPart<Instance>(_ key: UInt, _ read: () -> Instance) -> Instance {
        let (node, key) = (node, Key(raw: key))
        if !TestProcess.isTesting || !isStrict { return read() }
        let part = Work(.part(of: key, in: node), in: node.family, under: Work.current, within: Work.own)
        defer { part.end() }
        return Context.run(nil, part, read)
    }

    /// Begins to configure this container: until the end, a read by which an accessor with `get` and `set` sets a part fails
    /// nothing.
    package func beginConfiguration() { strictness?.beginConfiguration(of: node) }

    /// Ends the configuration, and reports the features that were read in it and not set by its end.
    package func endConfiguration() { strictness?.endConfiguration(of: node) }

    /// Runs what configures this new child.
    func configure<E>(_ body: (Container) throws(E) -> Void) throws(E) {
        guard TestProcess.isTesting, let strictness else { return try body(self) }
        strictness.beginConfiguration(of: node)
        defer { strictness.endConfiguration(of: node) }
        try body(self)
    }

    /// Whether nothing was reported of a feature yet; in a preview, each load reports.
    private func isNew(_ key: Key) -> Bool { strictness?.isNew(key) ?? true }

    private var strictness: Strictness? {
        let node = node
        return node.family.lock.withLock { token in node.storage[token].policy } as? Strictness
    }

    /// Sets what decides whether external features load here and below.
    package func setPolicy(_ policy: (any LoadPolicy)?) {
        let node = node
        let former = node.family.lock.withLock { token in
            node.subtree(token).map { node in
                defer { node.storage[token].policy = policy }
                return node.storage[token].policy
            }
        }
        withExtendedLifetime(former) {}
    }
}
