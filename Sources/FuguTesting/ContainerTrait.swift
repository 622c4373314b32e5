public import Fugu
public import Testing

/// Gives every test case a strict container of its own as `Container.current`.
///
///     @Test(.container { $0.timestamp = .constant(0) })
///     func greets() { … }
///
///     @Suite(.container) struct StoreTests { … }
///
/// Each case, also each argument of a test, has a new container; cases that run at the same time never see each other's.
/// It is *strict*: a feature that reaches outside the process and was not swapped is not loaded. Its read fails the
/// test and gives the feature's placeholder, or throws where the kind can. What the container reports otherwise, such as a
/// wrong value from a configuration file, fails the test too.
///
/// Traits nest: on a suite, the trait holds for all tests and suites within. What a trait further in configures is a child
/// of what is there, so that the outer swaps hold and the inner ones win.
///
/// A failure on a thread or in a detached task that knows nothing of the test is kept and recorded when the case ends. If
/// anything registered by `onClose`, the container is closed at the end of the case; loads that go on then are waited for.
///
/// From the first case with the trait on, `Container.shared` is strict in this process, for code that the test's container
/// does not reach. What was loaded there before stays.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    /// What makes the test's container what it is; called for each case.
    public typealias Configuration = @Sendable (_ container: Container) async throws -> Void

    let configure: Configuration
    let reportsUnusedSwaps: Bool

    /// Yes: it holds for everything within a suite.
    public var isRecursive: Bool { true }

    /// Runs a test case with its container. Called by the testing library.
    @concurrent public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        SharedContainer.becomeStrict()
        if let enclosing = TestCase.current {
            return try await run(function, in: Container.current.child(), of: enclosing)
        }
        let testCase = TestCase(at: test.sourceLocation)
        try await TestCase.$current.withValue(testCase) {
            defer { testCase.end() }
            try await run(function, in: testCase.makeContainer(), of: testCase)
        }
    }

    private func run(
        _ function: @concurrent @Sendable () async throws -> Void, in container: Container, of testCase: TestCase
    ) async throws {
        var failure: (any Error)?
        do {
            try await Container.$current.withValue(container) {
                testCase.refusals.beginConfiguration()
                try await configure(container)
                testCase.refusals.endConfiguration(of: container).forEach(testCase.record)
                let swaps = testCase.noteSwaps(of: container, isWatching: reportsUnusedSwaps)
                try await function()
                swaps?.reportUnused(to: testCase)
            }
        } catch {
            failure = error
        }
        await testCase.close(container)
        if let failure { throw failure }
    }
}

extension Trait where Self == ContainerTrait {
    /// Gives every test case a strict container of its own as `Container.current`.
    public static var container: Self { container() }

    /// Gives every test case a strict container of its own as `Container.current`, configured by a closure.
    ///
    /// - Parameters:
    ///   - reportsUnusedSwaps: Whether what `configure` set and nobody read fails the test at its end, one by one. What a
    ///     trait further in set anew does not count.
    ///   - configure: Swaps what the test needs. What it throws fails the test. A part of an external feature can be set,
    ///     `$0.mailer.send = { … }`: the rest is its placeholder's. (Elsewhere in a test that is a read of what was not
    ///     swapped, and so a failure.)
    public static func container(
        reportsUnusedSwaps: Bool = false, _ configure: @escaping ContainerTrait.Configuration = { _ in }
    ) -> Self {
        ContainerTrait(configure: configure, reportsUnusedSwaps: reportsUnusedSwaps)
    }
}
