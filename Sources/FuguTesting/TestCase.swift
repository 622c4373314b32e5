import Fugu
import Testing

/// A test case that is running with a container of its own, which receives the failures of that container.
final class TestCase: Sendable {
    /// The case of this task.
    ///
    /// A thread or a detached task has none.
    @TaskLocal static var current: TestCase?

    private struct State {
        /// The failures from other tasks and threads.
        var kept: [String] = []
        var hasEnded = false
        /// What the case has done through `Container.shared`.
        var uses: Set<String> = []
        /// What was refused.
        var refusals: Set<String> = []
        /// The errors that don't fail the case when it throws them: those that have failed it, and those of a refused feature.
        var recorded: Set<String> = []
    }

    private static let count = Locked(0)

    /// The number of the case in the process.
    let number = TestCase.count.withLock { count in
        count += 1
        return count
    }
    /// The name of the test.
    let name: String
    let sourceLocation: SourceLocation
    /// What receives the failures if the container was made by hand, and where that was.
    private let caller: (audience: Audience, place: SourcePlace)?
    private let state = Locked(State())

    /// The cases that have a container now, in the order in which they began.
    static var running: [TestCase] { cases.withLock { $0.values.sorted { $0.number < $1.number } } }
    private static let cases = Locked<[Int: TestCase]>([:])

    /// Creates a case whose container a trait makes.
    init(of test: Test) {
        name = test.readableName
        sourceLocation = test.sourceLocation
        caller = nil
        Failure.recordKept()
        TestCase.cases.withLock { $0[number] = self }
    }

    /// Creates a case whose container the test makes by hand at a place.
    private init(at place: SourcePlace) {
        let test = Test.current
        name = test?.readableName ?? "\(place)"
        sourceLocation = test?.sourceLocation ?? SourceLocation(of: place)
        caller = (.present(), place)
        // What doesn't know its test can't be said to run.
        switch audience {
        case .unknownTest, .nobody: break
        default: TestCase.cases.withLock { $0[number] = self }
        }
    }

    /// Runs an operation whose container the test makes by hand, as a case, unless it's within one.
    static func byHand<R, E>(at place: SourcePlace, _ operation: () throws(E) -> R) throws(E) -> R {
        if current != nil { return try operation() }
        let testCase = TestCase(at: place)
        defer { testCase.end() }
        do { return try $current.withValue(testCase) { try operation() } } catch { throw error as! E }
    }

    /// Runs an async operation whose container the test makes by hand, as a case, unless it's within one.
    static func byHand<R, E>(at place: SourcePlace, _ operation: () async throws(E) -> R) async throws(E) -> R {
        if current != nil { return try await operation() }
        let testCase = TestCase(at: place)
        defer { testCase.end() }
        do { return try await $current.withValue(testCase) { try await operation() } } catch { throw error as! E }
    }

    /// Whether the container was made by hand, and not by a trait.
    var isByHand: Bool { caller != nil }
    /// What receives the failures that concern the test.
    var audience: Audience { caller?.audience ?? .testCase(self) }

    /// Returns a strict container whose failures belong to the case.
    func makeContainer() -> Container {
        let container = Container()
        makeStrict(container)
        return container
    }

    /// Returns a strict child of the container of an enclosing trait.
    func makeChild(of parent: Container) -> Container {
        if parent.isStrict {
            let child = parent.child()
            child.becomeHomeRoot()
            return child
        }
        // A strict child would share what's loaded with its parent.
        let copy = Container(copying: parent)
        makeStrict(copy)
        return copy
    }

    /// Returns a container that loads every feature, and whose reports belong to the case.
    func makeLiveContainer() -> Container {
        Runner.begin()
        let container = Container.makeLiveContainer()
        container.handleReports { [self] in record($0) }
        return container
    }

    private func makeStrict(_ container: Container) {
        Runner.begin()
        container.makeStrict(Strictness(advise: Messages.adviceForTrait) { [self] in refuse($0) })
        container.handleReports { [self] in record($0) }
    }

    /// Fails the test: immediately on its own task; otherwise, at the end of the case.
    func record(_ text: String) {
        if let caller { return caller.audience.fail(text, at: caller.place) }
        let isOwn = TestCase.current === self
        let hasEnded = state.withLock { state in
            state.recorded.insert(text)
            if !isOwn, !state.hasEnded { state.kept.append(text) }
            return state.hasEnded
        }
        if hasEnded { return issue(Messages.late(text, name)) }
        if isOwn { issue(text) }
    }

    /// Fails the test because a feature was refused, once for each feature and place.
    private func refuse(_ refusal: Strictness.Refusal) {
        let text = refusal.error.description
        if state.withLock({ $0.refusals.insert(text).inserted }) { record(text) }
    }

    /// Fails the test because it uses `Container.shared` beside its own container, once for each place.
    func record(_ use: ContainerUse, of key: Key?, at place: SourcePlace?) {
        let text = Messages.usesShared(use, key?.name, at: place)
        if state.withLock({ $0.uses.insert(text).inserted }) { record(text) }
    }

    /// Whether the case has failed because it uses `Container.shared`.
    var hasUsedShared: Bool { state.withLock { !$0.uses.isEmpty } }

    /// Lets the test throw an error that doesn't fail it.
    func pass(_ error: some Error) { state.withLock { _ = $0.recorded.insert("\(error)") } }

    /// Returns a Boolean value that indicates whether an error that the test throws is already recorded.
    func hasRecorded(_ error: any Error) -> Bool {
        guard error is UnimplementedError || error is LoadError else { return false }
        return state.withLock { $0.recorded.contains("\(error)") }
    }

    private func issue(_ text: String) { Failure.record(text, at: sourceLocation) }

    /// Runs the teardown closures of a container.
    func close(_ container: Container) async {
        guard container.hasClosers else { return }
        do { try await container.close() } catch { record("\(error)") }
    }

    /// Records the collected failures.
    ///
    /// A failure after this call fails the run.
    func end() {
        TestCase.cases.withLock { _ = $0.removeValue(forKey: number) }
        let kept = state.withLock { state in
            state.hasEnded = true
            defer { state.kept = [] }
            return state.kept
        }
        kept.forEach(issue)
    }
}
