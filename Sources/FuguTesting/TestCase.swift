import Fugu
import Testing

/// A test case while it runs: where the failures of its container go.
final class TestCase: Sendable {
    /// The case that this task belongs to.
    ///
    /// A thread or a detached task belongs to none.
    @TaskLocal static var current: TestCase?

    private struct State {
        /// What was met off the test's task.
        var kept: [String] = []
        var hasEnded = false
        var watches: [OverrideWatch] = []
        /// The errors that are failures already, wherever they are thrown to.
        var recorded: Set<String> = []
    }

    let refusals = Refusals()
    private let sourceLocation: SourceLocation
    private let state = Locked(State())

    init(at sourceLocation: SourceLocation) { self.sourceLocation = sourceLocation }

    /// A strict container whose failures are the case's.
    func makeContainer() -> Container {
        let container = Container()
        makeStrict(container)
        return container
    }

    /// A strict child of the container that a trait further out has made.
    func makeChild(of parent: Container) -> Container {
        let child = parent.child()
        if !child.isStrict { makeStrict(child) }
        return child
    }

    /// A container that loads what it is asked for, and whose reports are the case's.
    func makeLiveContainer() -> Container {
        Runner.begin()
        let container = Container.makeLiveContainer()
        container.handleReports { [self] in record($0) }
        return container
    }

    private func makeStrict(_ container: Container) {
        refusals.makeStrict(container, advise: Messages.adviceForTrait) { [self] in record($0) }
    }

    /// Fails the test: at once on its own task, else at the end of the case.
    func record(_ text: String) {
        let isOwn = TestCase.current === self
        let hasEnded = state.withLock { state in
            state.recorded.insert(text)
            if !isOwn, !state.hasEnded { state.kept.append(text) }
            return state.hasEnded
        }
        if hasEnded { return issue(Messages.late(text)) }
        if isOwn { issue(text) }
    }

    /// Whether an error that the test throws has failed it already.
    func hasRecorded(_ error: any Error) -> Bool {
        guard error is UnimplementedError || error is LoadError else { return false }
        return state.withLock { $0.recorded.contains("\(error)") }
    }

    private func issue(_ text: String) { Issue.record("\(text)", sourceLocation: sourceLocation) }

    /// Runs what was registered to be run at the end.
    func close(_ container: Container) async {
        guard container.hasClosers else { return }
        do { try await container.close() } catch { record("\(error)") }
    }

    /// Records what was kept.
    ///
    /// What is met from now on fails the run.
    func end() {
        let kept = state.withLock { state in
            state.hasEnded = true
            defer { state.kept = [] }
            return state.kept
        }
        kept.forEach(issue)
    }

    /// What is set by now in the container of a trait hides the same of traits around it, so those may stay unread.
    ///
    /// - Returns: What is watched from now on, if it is to be.
    func recordOverrides(of container: Container, isWatching: Bool) -> OverrideWatch? {
        let outer = state.withLock { $0.watches }
        if isWatching || !outer.isEmpty {
            let swaps = container.overrides
            for watch in outer { watch.markRead(of: swaps) }
        }
        guard isWatching else { return nil }
        let watch = OverrideWatch(container)
        state.withLock { $0.watches.append(watch) }
        return watch
    }
}

/// What the container of a trait was given, and what of it was read.
final class OverrideWatch: Sendable {
    private let unread: Locked<Set<Override>>

    init(_ container: Container) {
        unread = Locked(Set(container.overrides))
        container.watchOverrides { [unread] override in unread.withLock { _ = $0.remove(override) } }
    }

    func markRead(of overrides: [Override]) { unread.withLock { $0.subtract(overrides) } }

    func reportUnused(to testCase: TestCase) {
        for name in unread.withLock({ $0.map(\.name) }).sorted() { testCase.record(Messages.unused(name)) }
    }
}
