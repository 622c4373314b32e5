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
/// depends on features that weren't loaded
///   Signup: Mailer
/// external, without a declared home
///   Mailer: Signup → Mailer
/// missing
///   Payments: Checkout
/// ```
public struct ContainerCheck: Sendable, CustomStringConvertible {
    /// A feature in a check.
    public struct Feature: Sendable, Hashable {
        /// The name of the feature.
        public let name: String
        /// The names of the keys on the path that explains the finding: from one of the roots to the feature, or from the feature
        /// to the override because of which it lives in a child, or to what wasn't loaded.
        public let path: [String]
        /// The names of the features that weren't loaded because they need this one, if it's missing or has no placeholder.
        public let unloaded: [String]

        init(name: String, path: [String], unloaded: [String] = []) {
            (self.name, self.path, self.unloaded) = (name, path, unloaded)
        }
    }

    /// The names of the keys that the child overrides.
    public let overridden: [String]
    /// The features that live in the root: one instance for all.
    ///
    /// A feature that wasn't loaded is among them if it declares that.
    public let shared: [Feature]
    /// The features that live in the child, because of something that it overrides.
    public let overriding: [Feature]
    /// The features that live in every container that reads them, since they declare it.
    public let local: [Feature]
    /// The features whose home isn't known, since they depend on an external feature that wasn't loaded and declares no home.
    ///
    /// Features that live in the child in any case aren't among them. Neither are those that declare where they live.
    public let undetermined: [Feature]
    /// External features that declare no home.
    ///
    /// They weren't loaded, so it isn't known where they would live. Those that declare a home are listed by it.
    public let external: [Feature]
    /// External features with a value for tests, which was loaded in their place.
    ///
    /// What that reads doesn't count.
    public let tested: [Feature]
    /// External features without a placeholder.
    ///
    /// Features that need them weren't loaded, and are listed with them; set them to check those, too.
    public let unknown: [Feature]
    /// Features that nothing supplies, with those that need them; see `FeatureKey.required`.
    public let missing: [Feature]
    /// The paths of loads that need themselves.
    public let cycles: [[String]]
    /// Other failures: the feature whose load failed, or of which the child doesn't share the instance in the declared home, with
    /// the text of its error.
    public let failures: [(feature: Feature, error: String)]

    /// A Boolean value that indicates whether something couldn't be loaded: a feature is missing, or a load needs itself or failed.
    public var hasProblems: Bool { !(missing.isEmpty && cycles.isEmpty && failures.isEmpty) }

    init(_ check: LoadCheck) {
        overridden = check.overridden
        let graphs = check.roots.map { ContainerGraph($0.snapshot) }
        tested = Set(graphs.flatMap(\.entries).filter { $0.state == .testValue }.map(\.name)).sorted()
            .map { Feature(name: $0, path: []) }
        var homes = CheckedHomes()
        for root in check.roots { homes.add(root) }
        let findings = Findings(check.roots)
        (shared, overriding, local) = (homes.shared.sorted, homes.overriding.sorted, homes.local.sorted)
        undetermined = homes.undetermined.sorted
        func found(_ finding: LoadCheck.Finding) -> [Feature] {
            findings.all.filter { $0.finding == finding }.map { path, finding in
                let name = path.last ?? "?"
                return Feature(name: name, path: path, unloaded: findings.unloaded[name, default: []].sorted())
            }.sorted { $0.name < $1.name }
        }
        (external, unknown, missing) = (found(.external), found(.unknown), found(.missing))
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
        add(Messages.dependsOnUnloaded, undetermined.map { Messages.checked($0.name, $0.path) })
        add(Messages.hasNoHome, external.map { Messages.checked($0.name, $0.path) })
        add(Messages.isForTests, tested.map(\.name))
        add(Messages.hasNoPlaceholder, unknown.map { Messages.unloaded($0.name, $0.unloaded) })
        add(Messages.isMissing, missing.map { Messages.unloaded($0.name, $0.unloaded) })
        add(Messages.needsItself, cycles.map { Messages.checked(nil, $0) })
        add(Messages.hasFailed, failures.map { "\(Messages.checked($0.feature.name, $0.feature.path)): \($0.error)" })
        return lines.joined(separator: "\n")
    }
}

/// The findings, each key once, with texts of errors that contain no secret.
private struct Findings {
    private(set) var all: [(path: [String], finding: LoadCheck.Finding)] = []
    /// What was on the way to a feature that nothing gives, in any root.
    private(set) var unloaded: [String: Set<String>] = [:]
    private static let longestText = 1_000

    init(_ roots: [LoadCheck.Root]) {
        for root in roots {
            let secrets = SecretTexts(in: root.snapshot)
            for (path, finding) in root.findings {
                if case .failed(let feature, let text) = finding {
                    // Cut after masking: what is left of a secret that was cut isn't found.
                    let masked = secrets.masked(text)
                    let isLong = masked.count > Self.longestText
                    add(path, .failed(feature: feature, isLong ? masked.prefix(Self.longestText) + "…" : masked))
                } else {
                    add(path, finding)
                }
            }
        }
    }

    private mutating func add(_ path: [String], _ finding: LoadCheck.Finding) {
        if finding == .unknown || finding == .missing, let name = path.last {
            unloaded[name, default: []].formUnion(path.dropLast())
        }
        let isKnown = all.contains { known in
            known.finding == finding
                && (finding == .cycle ? Set(known.path) == Set(path) : known.path.last == path.last)
        }
        if !isKnown { all.append((path, finding)) }
    }
}

/// The values of secret properties and their parts, which an error could quote.
private struct SecretTexts {
    /// Longer ones first, so that what is left of a secret around another isn't shown.
    private let texts: [[UInt8]]

    init(in snapshot: GraphSnapshot) {
        let collector = SecretCollector()
        for entry in snapshot.entries { entry.tellSecret(to: collector) }
        texts = collector.texts.map { Array($0.utf8) }.sorted { $0.count > $1.count }
    }

    /// Returns the text with these secrets masked.
    func masked(_ text: String) -> String {
        // The standard library's function would link regular expressions into every program.
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            let secret = texts.first { rest.starts(with: $0) }
            result += secret.map { _ in Array("(secret)".utf8) } ?? [byte]
            rest.removeFirst(secret?.count ?? 1)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

private final class SecretCollector: ValueTeller {
    private(set) var texts: Set<String> = []

    func text<Value>(of value: Value) -> String {
        add(value)
        return ""
    }

    private func add(_ value: Any) {
        if let text = value as? String { return add([text, "\(text.debugDescription.dropFirst().dropLast())"]) }
        let mirror = Mirror(reflecting: value)
        let isEmpty = value is any Collection && mirror.children.isEmpty
        if value is any CustomStringConvertible && !(value is Bool) && !isEmpty || mirror.displayStyle == .enum {
            add(["\(value)"])
        }
        guard mirror.displayStyle != .class else { return }
        for child in mirror.children { add(child.value) }
    }

    /// A text of one or two characters is in most errors by accident, and could be guessed: masked, it would make them
    /// unreadable, and show where it is.
    private func add(_ more: [String]) { texts.formUnion(more.lazy.filter { $0.utf8.count > 2 }) }
}

extension Container {
    /// Loads the features of a program in a copy of this container, and returns all findings at once: where each instance would
    /// live, which features nothing supplies, which need themselves, and which reach outside the process.
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
    /// loaded. So they count as living where they declare to live, and it isn't known where the features live that depend on those
    /// without a declared home. To check what one reads, replace its load by one that reads the same and opens nothing. All other
    /// loads run for real, also those with which `replace` was called, and their features are listed by home. The copies are closed
    /// afterward.
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
        case missing
        case cycle
        /// The feature reaches outside the process and declares no home.
        ///
        /// A placeholder was used, so where its instance would live is unknown.
        case external
        /// The feature reaches outside the process and has no placeholder, so what needs it wasn't loaded.
        case unknown
        /// The load threw another error.
        case failed(feature: String, String)
    }

    /// The findings of one root, each with the path to it.
    struct Root: Sendable {
        let findings: [(path: [String], finding: Finding)]
        /// What was loaded; errors can quote secrets.
        let snapshot: GraphSnapshot
        /// What wasn't loaded.
        let standIns: [StandIns.Use]
        /// What has failed since something wasn't loaded.
        let failed: [StandIns.FailedLoad]
        /// The declared home of each feature.
        let homes: [Key: Home]
    }

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
            await check.roots.append(run.root)
            await run.close()
        }
        return check
    }
}

/// The check of one root.
private final class CheckRun: Sendable {
    private let copy: Container
    private let child: Container
    private let standIns: StandIns
    private let progress = CheckProgress()
    let overridden: [String]

    init(of container: Container, overriding members: [PartialKeyPath<ContainerKeys>]) {
        let copy = Container(copying: container)
        // What a load of a check does wrong is in the check, or is said when the program does it.
        copy.handleReports { _ in }
        let child = copy.child()
        let standIns = StandIns { [progress] in
            progress.stop($0)
        } goOn: { [progress] in
            progress.note($0, [])
        }
        copy.use(standIns)
        overridden = members.map { member in
            guard let name = child.hold(member) else { fatalError(Messages.cannotOverride("\(member)")) }
            return name
        }
        // What was loaded to learn the values, the program may never load.
        for container in [child, copy] { container.dropLoadedFeatures() }
        standIns.removeAll()
        (self.copy, self.child, self.standIns) = (copy, child, standIns)
    }

    /// Loads a root, on no actor, whoever checks.
    @concurrent func load(_ item: KeyDefinition) async {
        guard item.blocksItsThread else { return progress.note(await item.failures(in: child, isAlone: true)) }
        await withCheckedContinuation { continuation in
            progress.begin(continuation)
            PlatformThread.run { [self] in
                progress.note(item.failuresNow(in: child))
                progress.end()
            }
        }
    }

    /// What was found.
    var root: LoadCheck.Root {
        get async {
            let (snapshot, uses) = (GraphSnapshot(drawing: child), standIns.uses)
            let loaded = Set(snapshot.entries.filter(\.isLoaded).map(\.place.key))
            let failed = standIns.failed.filter { !loaded.contains($0.key) }
            var homes: [Key: Home] = [:]
            for key in Set(snapshot.entries.map(\.place.key) + failed.map(\.key)) where key.kind != .property {
                homes[key] = await key.home
            }
            return LoadCheck.Root(
                findings: progress.findings + uses.compactMap(\.finding), snapshot: snapshot, standIns: uses,
                failed: failed, homes: homes)
        }
    }

    /// Closes the copy, unless a load was given up, and ignores errors.
    func close() async { if !progress.isGivenUp { try? await copy.close() } }
}

extension StandIns.Use {
    /// The finding, unless it's only listed.
    fileprivate var finding: (path: [String], finding: LoadCheck.Finding)? {
        let path = way.map(\.name)
        if key.isRequired { return (path, .missing) }
        if instead == .error { return (path, .unknown) }
        return instead == .placeholder && home.isInferred ? (path, .external) : nil
    }
}

/// What the check of one root has found so far, and the check that waits for its end.
private final class CheckProgress: Sendable {
    private struct State {
        var findings: [(path: [String], finding: LoadCheck.Finding)] = []
        /// Whether a load was given up, whose thread then blocks forever.
        var isGivenUp = false
        /// Resumes the check.
        var resume: CheckedContinuation<Void, Never>?
    }
    private let state = Locked(State())

    var findings: [(path: [String], finding: LoadCheck.Finding)] { state.withLock { $0.findings.map(\.self) } }
    var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

    func begin(_ continuation: CheckedContinuation<Void, Never>) { state.withLock { $0.resume = continuation } }

    /// Lets the check go on.
    func end() { state.withLock { $0.resume.take() }?.resume() }

    /// Gives up the load by blocking its thread forever, unless that's one that tasks share.
    func stop(_ error: LoadError) {
        if unsafe withUnsafeCurrentTask(body: { unsafe $0 != nil }) { return }
        note(error, [])
        state.withLock { $0.isGivenUp = true }
        end()
        PlatformThread.blockForever()
    }

    func note(_ failures: [WarmUpError.Failure]) {
        for failure in failures { note(failure.error, failure.path) }
    }

    func note(_ error: any Error, _ path: [String]) {
        guard let error = error as? LoadError else {
            return add(path, .failed(feature: path.last ?? "?", "\(error)"))
        }
        switch error.code {
        case .notSet: add(error.path, .unknown)
        case .notSupplied: add(error.path, .missing)
        case .cycle, .ownReplacement, .nestedTooDeep: add(error.path, .cycle)
        default: add(error.path, .failed(feature: error.feature, error.description))
        }
    }

    private func add(_ path: [String], _ finding: LoadCheck.Finding) {
        state.withLock { $0.findings.append((path, finding)) }
    }
}

/// Where the features of a check live.
///
/// The engine has placed what was loaded. Where that depends on a stand-in for a feature that declares no home, the place says
/// nothing.
struct CheckedHomes {
    /// Features, each name once.
    struct List {
        private var paths: [String: [String]] = [:]

        var sorted: [ContainerCheck.Feature] {
            paths.map { ContainerCheck.Feature(name: $0.key, path: $0.value) }.sorted { $0.name < $1.name }
        }

        mutating func add(_ name: String, _ path: [String] = []) { paths[name] = paths[name] ?? path }
    }

    private(set) var shared = List()
    private(set) var overriding = List()
    private(set) var local = List()
    private(set) var undetermined = List()

    /// Adds the features of one root.
    mutating func add(_ root: LoadCheck.Root) {
        let standIns = Dictionary(uniqueKeysWithValues: root.standIns.map { ($0.key, $0) })
        func home(_ key: Key) -> Home { root.homes[key] ?? .inferred }
        let entries =
            root.snapshot.entries.map { Entry($0, home($0.place.key)) } + root.failed.map { Entry($0, home($0.key)) }
        let names = GraphNames(of: entries.flatMap { [$0.key] + $0.anchors + $0.reads })
        let next = Self.unknownInputs(of: entries, standIns)
        for entry in entries where entry.key.kind != .property {
            let (key, home) = (entry.key, entry.home)
            if let standIn = standIns[key], key.isRequired || standIn.home.isInferred { continue }
            guard entry.isLoaded || entry.hasFailed else { continue }
            let name = names[key]
            if home.isLocal || entry.isLocal {
                local.add(name)
            } else if let input = next[key], !entry.isFixed, entry.depth == 0 || !entry.isLoaded {
                undetermined.add(name, sequence(first: input) { next[$0] }.map { names[$0] })
            } else if entry.depth == 0 {
                shared.add(name)
            } else {
                let anchors = entry.isLoaded ? entry.anchors : Array(home.keys?.prefix(1) ?? [])
                overriding.add(name, anchors.map { names[$0] })
            }
        }
    }

    /// Returns, for each key whose place isn't known because of a stand-in, the input that leads there.
    private static func unknownInputs(of entries: [Entry], _ standIns: [Key: StandIns.Use]) -> [Key: Key] {
        var next: [Key: Key] = [:]
        /// Follows the readers of some keys, as far as they count.
        func follow(_ keys: [Key], where counts: (Entry) -> Bool) {
            var readers: [Key: [Key]] = [:]
            for entry in entries where standIns[entry.key] == nil && counts(entry) {
                for read in entry.reads { readers[read, default: []].append(entry.key) }
            }
            var open = keys.sorted { $0.name < $1.name }
            var index = 0
            while index < open.count {
                for reader in readers[open[index]] ?? [] where next[reader] == nil {
                    next[reader] = open[index]
                    open.append(reader)
                }
                index += 1
            }
        }
        // What has failed since a stand-in did may read more, once that's loaded.
        follow(standIns.values.filter { $0.instead == .error }.map(\.key)) { $0.hasFailed }
        let failed = entries.filter { $0.hasFailed && !$0.isKnown }.map(\.key)
        follow(failed + standIns.values.filter(\.home.isInferred).map(\.key)) { entry in
            entry.depth == 0 && !entry.isKnown
        }
        return next
    }

    /// What was loaded or set, or has failed, with the declared home of its key.
    private struct Entry {
        let key: Key
        let home: Home
        let depth: Int
        let reads: [Key]
        var anchors: [Key] = []
        var isLocal = false
        /// Whether there's an instance.
        var isLoaded = false
        /// Whether its load has failed since something wasn't loaded.
        var hasFailed = false
        /// Whether the instance lives where the declaration says.
        var isFixed: Bool { home.isFixed }
        /// Whether it's known where it lives, whatever it's made from.
        var isKnown: Bool { isFixed || home.isLocal || isLocal }

        init(_ entry: GraphSnapshot.Entry, _ home: Home) {
            (key, self.home, depth, reads) = (entry.place.key, home, entry.depth, entry.reads)
            (anchors, isLocal) = (entry.anchors, entry.isLocal)
            isLoaded = entry.isLoaded
        }

        init(_ load: StandIns.FailedLoad, _ home: Home) {
            (key, self.home, depth, reads, hasFailed) = (load.key, home, load.depth, load.reads, true)
        }
    }
}

extension Container {
    /// Sets a key to the value that it has, and returns its name, or `nil` if a child can't override it.
    ///
    /// A required key without a value stays missing, for those that need it.
    fileprivate func hold(_ member: PartialKeyPath<ContainerKeys>) -> String? {
        func set<K: PlainValueKey>(_ key: K) -> Key {
            let definition = key._key
            let raw = Key(raw: definition.raw)
            if !raw.isRequired { _ = definition.prepare(in: self, reportsFailure: false) }
            if let present = present(raw, definition.naming) { change(TypedKey(key), to: .value(present)) }
            return raw
        }
        return (ContainerKeys()[keyPath: member] as? any PlainValueKey).map { set($0).name }
    }
}
