public import Fugu

/// The features that a program loads, their homes, and the missing ones, found without running the program.
///
/// Get one from ``Fugu/Container/check(overriding:loading:)``. Its ``description`` is the same in each run, so a test can compare
/// it:
///
/// ```text
/// lives in the root
///   Pool
/// lives where \.requestID is set
///   Session: RequestLog → \.requestID
/// reaches outside, and isn't shared
///   Mailer: Signup → Mailer
/// nothing supplies
///   Payments: Checkout → Payments
/// ```
public struct ContainerCheck: Sendable, CustomStringConvertible {
    /// A feature in a check.
    public struct Feature: Sendable, Hashable {
        /// The name of the feature.
        public let name: String
        /// The names of the keys on the path that explains the finding: from one of the roots to the feature, or from the feature
        /// to the override because of which it lives in a child.
        public let path: [String]
    }

    /// The names of the keys that the child overrides.
    public let overridden: [String]
    /// The features that live in the root: one instance for all.
    public let shared: [Feature]
    /// The features that live in the child, because of something that it overrides.
    public let overriding: [Feature]
    /// The features that live in every container that reads them, since they declare it.
    public let local: [Feature]
    /// External features that don't declare that they're shared.
    ///
    /// They weren't loaded, so it isn't known where they would live.
    public let external: [Feature]
    /// External features with a value for tests, which was loaded in their place.
    public let tested: [Feature]
    /// External features without a placeholder.
    ///
    /// Features that need them weren't loaded; set them to check those, too.
    public let unknown: [Feature]
    /// Features that nothing supplies; see `Required`.
    public let forgotten: [Feature]
    /// The paths of loads that need themselves.
    public let cycles: [[String]]
    /// Other failures: the feature whose load failed, with the text of its error.
    public let failures: [(feature: Feature, error: String)]

    /// A Boolean value that indicates whether everything could be loaded: nothing is forgotten, no load needs itself, and none
    /// failed.
    public var isSound: Bool { forgotten.isEmpty && cycles.isEmpty && failures.isEmpty }

    init(_ check: LoadCheck) {
        overridden = check.overridden
        let roots = check.roots.map { (findings: $0.findings, graph: ContainerGraph($0.snapshot)) }
        tested = Set(roots.flatMap(\.graph.entries).filter { $0.state == .testValue }.map(\.name)).sorted()
            .map { Feature(name: $0, path: []) }
        let lives = Lives(roots.flatMap(\.graph.entries).filter { $0.kind != .property && $0.state == .loaded })
        let findings = Findings(roots)
        (shared, overriding, local) = (lives.shared, lives.overriding, lives.local)
        func found(_ finding: LoadCheck.Finding) -> [Feature] {
            findings.all.filter { $0.finding == finding }.map { Feature(name: $0.path.last ?? "?", path: $0.path) }
                .sorted { $0.name < $1.name }
        }
        (external, unknown, forgotten) = (found(.external), found(.unknown), found(.forgotten))
        cycles = found(.cycle).map(\.path)
        failures = findings.all.compactMap { path, finding in
            guard case .failed(let feature, let error) = finding else { return nil }
            return (Feature(name: feature, path: path), error)
        }
    }

    /// The findings in a fixed order.
    public var description: String {
        var lines: [String] = []
        func add(_ title: String, _ texts: [String]) {
            if texts.isEmpty { return }
            lines.append(title)
            lines += texts.map { "  " + $0.split(separator: "\n").joined(separator: "\n    ") }
        }
        add(Messages.livesInTheRoot, shared.map(\.name))
        add(Messages.livesWhere(overridden), overriding.map { Messages.checked($0.name, $0.path) })
        add(Messages.livesWhereRead, local.map(\.name))
        add(Messages.isNotShared, external.map { Messages.checked($0.name, $0.path) })
        add(Messages.isForTests, tested.map(\.name))
        add(Messages.hasNoPlaceholder, unknown.map { Messages.checked($0.name, $0.path) })
        add(Messages.isForgotten, forgotten.map { Messages.checked($0.name, $0.path) })
        add(Messages.needsItself, cycles.map { Messages.checked(nil, $0) })
        add(Messages.hasFailed, failures.map { "\(Messages.checked($0.feature.name, $0.feature.path)): \($0.error)" })
        return lines.joined(separator: "\n")
    }
}

/// The findings, each key once, with the graph's text of an error, which contains no secret.
private struct Findings {
    private(set) var all: [(path: [String], finding: LoadCheck.Finding)] = []

    init(_ roots: [(findings: [(path: [String], finding: LoadCheck.Finding)], graph: ContainerGraph)]) {
        for root in roots {
            for (path, finding) in root.findings { add(path, masked(finding, in: root.graph)) }
        }
    }

    private mutating func add(_ path: [String], _ finding: LoadCheck.Finding) {
        let isKnown = all.contains { known in
            known.finding == finding
                && (finding == .cycle ? Set(known.path) == Set(path) : known.path.last == path.last)
        }
        if !isKnown { all.append((path, finding)) }
    }

    private func masked(
        _ finding: LoadCheck.Finding, in graph: ContainerGraph
    ) -> LoadCheck.Finding {
        guard case .failed(let feature, _) = finding,
            let text = graph.entries.first(where: { $0.name == feature && $0.state == .failed })?.lastError
        else { return finding }
        return .failed(feature: feature, text)
    }
}

/// Where features live, each listed once.
private struct Lives {
    var shared: [ContainerCheck.Feature] = []
    var overriding: [ContainerCheck.Feature] = []
    var local: [ContainerCheck.Feature] = []

    init(_ entries: [ContainerGraph.Entry]) {
        var seen: Set<String> = []
        for entry in entries.sorted(by: { ($0.name, $0.depth) < ($1.name, $1.depth) }) {
            guard seen.insert("\(entry.name) \(entry.depth)").inserted else { continue }
            if entry.depth == 0 {
                shared.append(ContainerCheck.Feature(name: entry.name, path: []))
            } else if entry.isLocal {
                local.append(ContainerCheck.Feature(name: entry.name, path: []))
            } else {
                overriding.append(ContainerCheck.Feature(name: entry.name, path: entry.anchors))
            }
        }
    }
}

extension Container {
    /// Loads the features of a program in a copy of this container, and returns all findings at once: where each instance would
    /// live, which features nothing supplies, which need themselves, and which reach outside the process but aren't shared.
    ///
    /// Where an instance lives follows from what its load reads, so a change deep in a program can move a database from the
    /// server to each request. A test that compares the text of a check fails after such a change:
    ///
    /// ```swift
    /// let check = await container.check(overriding: \.requestID) { $0.load(Handlers.self) }
    /// #expect("\(check)" == expected)
    /// ```
    ///
    /// The check takes what was set in this container and its ancestors into copies, one for each root, and loads everything in a
    /// child that overrides what a request overrides. External features give their placeholders or values for tests and aren't
    /// loaded; to check what one reads, replace its load by one that reads the same and opens nothing. All other loads run for real,
    /// also those with which `replace` was called, and their features are listed by home. The copies are closed afterward.
    ///
    /// A cycle of plain features, which would stop the program, costs the check one thread that never ends. Inside the load of
    /// an async feature, it stops the program as usual.
    ///
    /// - Parameters:
    ///   - keys: The members of `ContainerKeys` that each request sets. The child has the values that this container has.
    ///   - roots: A closure that names what the program reads itself.
    /// - Returns: The findings.
    /// - Complexity: Besides the loads, O(*r* *n* log *n*) for *r* roots and *n* features.
    public func check(
        overriding keys: PartialKeyPath<ContainerKeys>..., loading roots: (inout WarmUpList) -> Void
    ) async -> ContainerCheck {
        ContainerCheck(await checkLoads(overriding: keys, roots))
    }
}

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
