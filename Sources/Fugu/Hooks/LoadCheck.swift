/// The findings of a check of a program's loads.
package struct LoadCheck: Sendable {
    /// The reason why a load is worth telling of.
    package enum Finding: Sendable, Hashable {
        /// Nothing supplies the feature.
        case forgotten
        case cycle
        /// It reaches outside and may be loaded once more for each child; nothing was loaded for it, so nobody knows where it lives.
        case external
        /// It reaches outside and has no placeholder, so what needs it wasn't loaded.
        case unknown
        /// The load threw another error.
        case failed(String)
    }

    /// The findings, each with the path to it.
    package fileprivate(set) var findings: [(path: [String], finding: Finding)] = []
    /// The names of what the child overrides.
    package fileprivate(set) var overridden: [String] = []
    /// The loaded features, for one root after another.
    package fileprivate(set) var graphs: [ContainerGraph] = []
    /// The number of the child in each graph.
    package static let child = 1
}

extension Container {
    /// Loads features in copies of this container, with placeholders for what reaches outside the process.
    ///
    /// - Parameters:
    ///   - members: The members of ``ContainerKeys`` that a child overrides, in which everything is loaded.
    ///   - list: Names the features.
    /// - Returns: What was found.
    package func checkLoads(
        overriding members: [PartialKeyPath<ContainerKeys>], _ list: (inout WarmUpList) -> Void
    ) async -> LoadCheck {
        var warmUp = WarmUpList()
        list(&warmUp)
        var check = LoadCheck()
        for item in warmUp.items {
            // What a load leaves that was given up is nobody else's concern.
            let run = CheckRun(of: self, overriding: members)
            await run.load(item)
            check.overridden = run.overridden
            let graph = run.child.graph
            check.add(run.findings.withLock { $0 }.map { ($0.path, $0.finding.masked($0.path, in: graph)) })
            check.graphs.append(graph)
            if !run.isGivenUp.withLock({ $0 }) { await run.close() }
        }
        return check
    }

    /// Sets a key to the value that it has.
    fileprivate func override(_ member: PartialKeyPath<ContainerKeys>) -> String {
        func set<K: ValueKey>(_ key: K) -> Key {
            let definition = key._key
            _ = definition.prepare(self, false)
            let raw = Key(raw: definition.raw)
            if let present = present(raw, definition.naming) { change(TypedKey(key), .set(present)) }
            return raw
        }
        func set<P: Property>(_: P.Type) -> Key {
            self[P.self] = self[P.self]
            return Key(raw: P._key.raw)
        }
        func set<F: Feature>(_: F.Type) -> Key {
            self[F.self] = self[F.self]
            return Key(raw: F._key.raw)
        }
        let value = ContainerKeys()[keyPath: member]
        if let key = value as? any ValueKey { return set(key).name }
        if let type = value as? any Property.Type { return set(type).name }
        if let type = value as? any Feature.Type { return set(type).name }
        fatalError(Messages.cannotOverride("\(member)"))
    }
}

extension LoadCheck {
    /// Adds findings, each key once.
    fileprivate mutating func add(_ found: [(path: [String], finding: Finding)]) {
        for (path, finding) in found {
            let isKnown = findings.contains { known in
                known.finding == finding
                    && (finding == .cycle ? Set(known.path) == Set(path) : known.path.last == path.last)
            }
            if !isKnown { findings.append((path, finding)) }
        }
    }
}

extension LoadCheck.Finding {
    /// Returns the finding with the text that the graph has of an error, in which no secret is.
    fileprivate func masked(_ path: [String], in graph: ContainerGraph) -> Self {
        guard case .failed = self,
            let entry = graph.entries.first(where: { $0.name == path.last && $0.state == .failed }),
            let text = entry.lastError
        else { return self }
        return .failed(text)
    }
}

/// The check of one root.
private final class CheckRun: Sendable {
    typealias Found = (path: [String], finding: LoadCheck.Finding)

    let copy: Container
    let child: Container
    let overridden: [String]
    let findings = Locked<[Found]>([])
    /// Whether a thread that can't go on is kept for ever.
    let isGivenUp = Locked(false)
    /// Goes on with the check.
    private let resume = Locked<CheckedContinuation<Void, Never>?>(nil)

    init(of container: Container, overriding members: [PartialKeyPath<ContainerKeys>]) {
        let copy = Container(copying: container)
        let child = copy.child()
        overridden = members.map { child.override($0) }
        (self.copy, self.child) = (copy, child)
        copy.makeStrict(
            Strictness(stop: { [weak self] in self?.stop($0) }, report: { [weak self] in self?.note($0) }))
    }

    func load(_ item: WarmUpList.Item) async {
        let frame = Frame(.warmUp, in: child.node.family, nil, under: nil, within: nil)
        guard let load = item.loadNow else {
            do {
                try await Scope.run(nil, frame) { try await item.load(child) }
            } catch {
                note(error, item.failure(error, in: frame))
            }
            return frame.end()
        }
        await withCheckedContinuation { continuation in
            resume.withLock { $0 = continuation }
            PlatformThread.run { [self] in
                do {
                    try Scope.run(nil, frame) { try load(child) }
                } catch {
                    note(error, item.failure(error, in: frame))
                }
                frame.end()
                goOn()
            }
        }
    }

    /// The close of what was really loaded is of no interest.
    func close() async { try? await copy.close() }

    private func goOn() {
        let continuation = resume.withLock { $0.take() }
        continuation?.resume()
    }

    /// Gives the thread up, unless it's one that tasks share.
    private func stop(_ error: LoadError) {
        if unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) { return }
        note(error, nil)
        isGivenUp.withLock { $0 = true }
        goOn()
        Signal().wait()
    }

    private func note(_ refusal: Strictness.Refusal) {
        let key = refusal.key
        let finding: LoadCheck.Finding =
            key.isRequired ? .forgotten : !refusal.hasPlaceholder ? .unknown : .external
        if finding == .external, key.traits.home.isFixed { return }
        add(refusal.error.path, finding)
    }

    private func note(_ error: any Error, _ failure: WarmUpError.Failure?) {
        guard let error = error as? LoadError else {
            return add(failure?.path ?? [], .failed("\(type(of: error))"))
        }
        switch error.code {
        // Told already.
        case .notSwapped: return
        case .notSupplied: add(error.path, .forgotten)
        case .cycle, .ownReplacement, .nestedTooDeep: add(error.path, .cycle)
        default: add(error.path, .failed(error.description))
        }
    }

    private func add(_ path: [String], _ finding: LoadCheck.Finding) {
        findings.withLock { $0.append((path, finding)) }
    }
}
