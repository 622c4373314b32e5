import Fugu

/// The findings of a check of a program's loads.
struct LoadCheck: Sendable {
    /// The reason why a load is reported.
    enum Finding: Sendable, Hashable {
        /// Nothing supplies the feature.
        case forgotten
        case cycle
        /// The feature reaches outside the process and may be loaded again for each child.
        ///
        /// A placeholder was used, so where its instance would live is unknown.
        case external
        /// The feature reaches outside the process and has no placeholder, so what needs it wasn't loaded.
        case unknown
        /// The load threw another error.
        case failed(feature: String, String)
    }

    /// The findings of one root, each with the path to it, and a snapshot of what was loaded; errors can quote secrets.
    typealias Root = (findings: [(path: [String], finding: Finding)], snapshot: GraphSnapshot)

    /// The names of the keys that the child overrides.
    fileprivate(set) var overridden: [String] = []
    fileprivate(set) var roots: [Root] = []
}

extension Container {
    /// Loads features in copies of this container, with placeholders for what reaches outside the process.
    ///
    /// - Parameters:
    ///   - members: The members of ``ContainerKeys`` that a child overrides, in which everything is loaded.
    ///   - list: Names the features.
    /// - Returns: The findings.
    func checkLoads(
        overriding members: [PartialKeyPath<ContainerKeys>], _ list: (inout WarmUpList) -> Void
    ) async -> LoadCheck {
        var warmUp = WarmUpList()
        list(&warmUp)
        var check = LoadCheck()
        for item in warmUp.items {
            // Each root has its own copy, so that a load that was given up doesn't affect the others.
            let run = CheckRun(of: self, overriding: members)
            await run.load(item)
            check.overridden = run.overridden
            check.roots.append((run.findings.withLock { $0 }, GraphSnapshot(drawing: run.child)))
            if !run.isGivenUp.withLock({ $0 }) { await run.close() }
        }
        return check
    }
}

/// The check of one root.
private final class CheckRun: Sendable {
    typealias Found = (path: [String], finding: LoadCheck.Finding)

    let copy: Container
    let child: Container
    let overridden: [String]
    let findings = Locked<[Found]>([])
    /// Whether a load was given up, whose thread then blocks forever.
    let isGivenUp = Locked(false)
    /// Resumes the check.
    private let resume = Locked<CheckedContinuation<Void, Never>?>(nil)

    init(of container: Container, overriding members: [PartialKeyPath<ContainerKeys>]) {
        let copy = Container(copying: container)
        let child = copy.child()
        overridden = members.map { member in
            guard let name = child.hold(member) else { fatalError(Messages.cannotOverride("\(member)")) }
            return name
        }
        (self.copy, self.child) = (copy, child)
        copy.makeStrict(
            Strictness(stop: { [weak self] in self?.stop($0) }, report: { [weak self] in self?.note($0) }))
    }

    /// Loads a root, on no actor, whoever checks.
    @concurrent func load(_ item: KeyLoader) async {
        guard item.blocksItsThread else { return note(await item.failures(in: child, isAlone: true)) }
        await withCheckedContinuation { continuation in
            resume.withLock { $0 = continuation }
            PlatformThread.run { [self] in
                note(item.failuresNow(in: child))
                goOn()
            }
        }
    }

    /// Closes the copy, and ignores errors.
    func close() async { try? await copy.close() }

    private func goOn() {
        let continuation = resume.withLock { $0.take() }
        continuation?.resume()
    }

    /// Gives up the load by blocking its thread forever, unless that's one that tasks share.
    private func stop(_ error: LoadError) {
        if unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) { return }
        note(error, [])
        isGivenUp.withLock { $0 = true }
        goOn()
        PlatformThread.blockForever()
    }

    private func note(_ refusal: Strictness.Refusal) {
        let finding: LoadCheck.Finding =
            refusal.isRequired ? .forgotten : !refusal.hasPlaceholder ? .unknown : .external
        if finding == .external, refusal.isHomeDeclared { return }
        add(refusal.error.path, finding)
    }

    private func note(_ failures: [WarmUpError.Failure]) {
        for failure in failures { note(failure.error, failure.path) }
    }

    private func note(_ error: any Error, _ path: [String]) {
        guard let error = error as? LoadError else {
            return add(path, .failed(feature: path.last ?? "?", "\(type(of: error))"))
        }
        switch error.code {
        // Already reported.
        case .notSet: return
        case .notSupplied: add(error.path, .forgotten)
        case .cycle, .ownReplacement, .nestedTooDeep: add(error.path, .cycle)
        default: add(error.path, .failed(feature: error.feature, error.description))
        }
    }

    private func add(_ path: [String], _ finding: LoadCheck.Finding) {
        findings.withLock { $0.append((path, finding)) }
    }
}
