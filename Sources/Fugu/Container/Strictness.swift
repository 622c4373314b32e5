/// The strictness of a container: it loads no feature that reaches outside the process, and reports each attempt.
package final class Strictness: Sendable {
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
        /// Whether the program must supply the feature.
        package var isRequired: Bool { key.isRequired }
        /// Whether the feature says in which container it lives.
        package var isHomeDeclared: Bool { key.traits.home.isFixed }
    }

    private let advise: @Sendable (String?) -> String
    let report: @Sendable (Refusal) -> Void
    let isForAll: Bool
    /// The test that created the container, or what stands for one if it belongs to none in particular.
    private let maker: String
    /// Called where the program would stop, if somebody else can go on without what runs there.
    ///
    /// It returns if nobody can.
    fileprivate let stop: (@Sendable (LoadError) -> Void)?
    /// What was given instead of a feature.
    private struct Placeholder: Sendable {
        let payload: Payload
        let failed: FailedTests?
    }

    /// The placeholders from which the assignment to a part begins: whatever wasn't set fails the test.
    ///
    /// They're kept, so that all who read a feature share its placeholder as they would share the feature.
    private let placeholders = Locked(KeyTable<Placeholder>())
    /// The placeholders that refused reads give, which don't fail a test again.
    private let refused = Locked(KeyTable<Placeholder>())

    /// - Parameters:
    ///   - isForAll: Whether the container belongs to no test in particular. Then neither do placeholders, and what is
    ///     made from one is not kept: else the first test would fail and the next ones pass with what it left.
    ///   - advise: Says what to do, given the line that sets a feature in the container `$0`, or `nil` if the feature has a value
    ///     for tests. Called on the thread that tried, outside of every lock.
    ///   - stop: Called where the program would stop; it returns if that can't be helped.
    ///   - report: Is given every load that was refused, in the same way.
    package init(
        isForAll: Bool = false, advise: @escaping @Sendable (_ line: String?) -> String = { $0 ?? "" },
        stop: (@Sendable (LoadError) -> Void)? = nil, report: @escaping @Sendable (Refusal) -> Void
    ) {
        self.stop = stop
        self.isForAll = isForAll
        maker = isForAll ? "a test" : TestProcess.runner?.presentTest ?? "a test"
        self.advise = advise
        self.report = report
    }

    /// Whether an external feature is refused.
    ///
    /// A value for tests belongs to one test, so a container of all tests doesn't load it.
    func refuses(_ request: borrowing Request) -> Bool { isForAll || !request.hasTestValue }

    /// Returns what is said of a load that is refused.
    func refusal(_ request: Request, _ parent: Frame?) -> Refusal {
        let way = (parent?.way ?? []) + [request.key]
        // The accessors of this library are no places to look at. What a load reads is not read by the wrapper.
        let wrapper = way.count > 1 ? nil : ReadPlace.current
        let injected = wrapper.map { SourcePlace(fileID: $0.fileID, line: $0.line, member: "@Injected") }
        let place = request.place?.outsideLibrary
        let error = LoadError.external(
            way, at: injected ?? request.readPlace, hasTestValue: request.hasTestValue,
            remedy: advise(request.hasTestValue ? nil : Messages.setLine(for: request.key)))
        return Refusal(
            error: error, key: request.key, read: way[0], place: injected ?? place,
            hasPlaceholder: request.placeholder != nil)
    }

    /// Returns the placeholder of a feature that has one.
    ///
    /// - `isReported`: Whether the read has failed the test. A check of loads fails none.
    func placeholder(_ request: Request, for container: Container, isReported: Bool) -> Payload {
        // A value for tests isn't kept here: other tests would get it.
        if request.hasTestValue { return request.placeholder!(container) }
        guard isReported, stop == nil else { return placeholder(request, container, in: placeholders, nil).payload }
        // A test that gets it without a refusal of its own, through what an earlier one left, hasn't failed.
        let placeholder = placeholder(request, container, in: refused, FailedTests(maker: maker))
        placeholder.failed?.addPresent()
        return placeholder.payload
    }

    private func placeholder(
        _ request: Request, _ container: Container, in table: borrowing Locked<KeyTable<Placeholder>>,
        _ failed: FailedTests?
    ) -> Placeholder {
        if let kept = table.withLock({ $0[request.key] }) { return kept }
        let payload = TestProcess.$isMakingForAll.withValue(isForAll) {
            TestProcess.$failed.withValue(failed) { request.placeholder!(container) }
        }
        let made = Placeholder(payload: payload, failed: failed)
        return table.withLock { table in
            table[request.key] = table[request.key] ?? made
            return table[request.key] ?? made
        }
    }
}

extension Container {
    /// Reports, in a strict container, that the load of a key that isn't external has made what's external as a type.
    ///
    /// If it has read that, the test has set it, or has failed.
    @inline(never) func checkMade(_ value: Any) {
        guard isStrict, case .handle(let load) = role, let type = type(of: value) as? any External.Type else { return }
        let key = Key(raw: type._key.raw)
        let hasRead = load.family.lock.withLock { token in
            load.state[token].firstInput?.key == key || load.state[token].moreInputs.contains { $0.key == key }
        }
        if !hasRead { load.family.reports.report(Messages.madeExternal(load, key)) }
    }
}

extension Node {
    /// Stops the program, since a read that can't throw has no value to give.
    func stop(_ error: LoadError) -> Never {
        let strictness = family.lock.withLock { token in storage[token].strictness }
        strictness?.stop?(error)
        stopProgram(error.description)
    }
}

extension Container {
    /// Makes this container strict, and with it all children and copies, those that are there too.
    package func makeStrict(_ strictness: Strictness) { setStrictness(strictness) }

    /// Lets this container, and with it all children and copies, those that are there too, load whatever it is asked for.
    ///
    /// Tests may share it.
    package func makeLive() {
        setStrictness(nil)
        watch(by: nil)
    }

    /// Lets what declares a home above this new child live where its inputs live, here or above.
    package func becomeTestRoot() {
        let node = node
        node.family.lock.withLock { token in node.storage[token].more().isTestRoot = true }
    }

    /// Whether this container is strict.
    package var isStrict: Bool {
        let node = node
        return node.family.lock.withLock { token in node.storage[token].strictness != nil }
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

    /// Whether readers of this container are told of instances that became outdated.
    var reportsOutdated: Bool { Node.isDebug || TestProcess.isTesting && isStrict }

    /// Reads a feature of which a part is about to be set: in a strict container, this fails nothing.
    ///
    /// What isn't set afterward is that of the placeholder.
    @usableFromInline func readPart<Instance>(_ key: UInt, _ read: () -> Instance) -> Instance {
        guard reportsOutdated else { return read() }
        let (node, key) = (node, Key(raw: key))
        let part = Frame(.modify, in: node.family, node, key, under: Frame.current, within: Frame.own)
        defer { part.end() }
        let instance = Context.run(nil, part, read)
        // What has a single part has no rest.
        if Mirror(reflecting: instance).children.count != 1 { node.noteRest(of: key) }
        return instance
    }

    /// Begins to configure this container: until the end, a read by which an accessor with `get` and `set` sets a part fails
    /// nothing.
    package func beginConfiguration() {
        let node = node
        node.family.lock.withLock { token in
            if node.storage[token].strictness != nil { node.storage[token].more().isConfiguring = true }
        }
    }

    /// Ends the configuration, and reports the features that were read in it and not set by its end.
    package func endConfiguration() {
        let node = node
        let (strictness, refusals) = node.family.lock.withLock { token -> (Strictness?, [Strictness.Refusal]) in
            guard let rare = node.storage[token].rare, rare.isConfiguring else { return (nil, []) }
            rare.isConfiguring = false
            return (node.storage[token].strictness, rare.refusals.takeAll().filter { !node.holds(token, $0.read) })
        }
        if let strictness { refusals.forEach(strictness.report) }
    }

    /// Runs what configures this new child.
    func configure<E>(_ body: (Container) throws(E) -> Void) throws(E) {
        guard TestProcess.isTesting, isStrict else { return try body(self) }
        beginConfiguration()
        defer { endConfiguration() }
        try body(self)
    }

    private func setStrictness(_ strictness: Strictness?) {
        let node = node
        let former = node.family.lock.withLock { token in
            node.subtree(token).map { node in
                defer { node.storage[token].strictness = strictness }
                return node.storage[token].strictness
            }
        }
        withExtendedLifetime(former) {}
    }
}
