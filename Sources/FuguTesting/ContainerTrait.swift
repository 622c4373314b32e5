public import Fugu
public import Testing

/// A trait that gives every test case its own container as `Container.current`.
///
///     @Test(.container { $0.clock = .immediate })
///     func greets() { … }
///
///     @Suite(.container) struct StoreTests { … }
///
///     @Test(.liveContainer) func answers() async throws { … }
///
/// Each case, and each argument of a test, has a new container; cases that run at the same time never see each other's.
/// The container of `.container` is *strict*: it never loads a feature that reaches outside the process and wasn't
/// set. A read of such a feature fails the test and gives the placeholder, or throws if the kind can. The container
/// of `.liveContainer` loads the real features. What either container reports otherwise, such as a wrong value in a
/// configuration file, fails the test, too.
///
/// Traits nest. A trait on a suite holds for all tests and suites within. An inner trait adds to the outer one, and its
/// values win.
///
/// A failure on a thread or in a detached task that doesn't know its test is kept and recorded when the case ends. If
/// anything registered a teardown closure, the container is closed at the end of the case.
///
/// In a process that links this library, `Container.shared` is strict from the start, with or without a trait. What an
/// app that hosts tests has loaded there before is dropped. So is every `Container()` that the program makes while the current
/// container is strict. A test with a trait fails if it uses `Container.shared` itself, which the trait doesn't configure.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    /// A closure that configures the container of a test case; it's called for each case.
    public typealias Configuration = @Sendable (_ container: Container) async throws -> Void

    let isLive: Bool
    let configure: Configuration

    /// The value `true`: the trait holds for everything within a suite.
    public var isRecursive: Bool { true }

    /// Runs a test case with its container.
    ///
    /// The testing library calls it.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - testCase: The case of the test, or `nil` for a suite.
    ///   - function: A closure that runs the case.
    /// - Throws: What `function` throws.
    @concurrent public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        if let enclosing = TestCase.current {
            let container = isLive ? enclosing.makeLiveContainer() : enclosing.makeChild(of: .current)
            return try await run(function, in: container, of: enclosing)
        }
        let testCase = TestCase(of: test)
        // It copies what the program's start has set, which isn't the test's doing.
        let live = isLive ? testCase.makeLiveContainer() : nil
        try await TestCase.$current.withValue(testCase) {
            defer { testCase.end() }
            try await run(function, in: live ?? testCase.makeContainer(), of: testCase)
        }
    }

    private func run(
        _ function: @concurrent @Sendable () async throws -> Void, in container: Container, of testCase: TestCase
    ) async throws {
        var failure: (any Error)?
        container.listen(by: Maker())
        do {
            try await Container.with(container) {
                container.beginConfiguration()
                try await configure(container)
                container.endConfiguration()
                try await function()
            }
        } catch {
            failure = error
        }
        await testCase.close(container)
        // A failure that is already recorded must not be recorded again.
        if let failure, !testCase.hasRecorded(failure) { throw failure }
    }
}

extension Trait where Self == ContainerTrait {
    /// Gives every test case its own strict container as `Container.current`.
    public static var container: Self { container() }

    /// Gives every test case its own strict container as `Container.current`, configured by a closure.
    ///
    /// - Parameter configure: A closure that sets what the test needs. An error that it throws fails the test. It can set a
    ///   part of an external feature, `$0.mailer.send = { … }`: the rest comes from the placeholder.
    /// - Returns: The trait.
    public static func container(_ configure: @escaping ContainerTrait.Configuration = { _ in }) -> Self {
        ContainerTrait(isLive: false, configure: configure)
    }

    /// Not available: the closure sets values.
    @available(*, unavailable, message: "set the value in a closure, as in .container { $0.timeout = 3 }")
    public static func container<K: ValueKey>(_ key: KeyPath<ContainerKeys, K>, _ value: K.Value) -> Self {
        fatalError()
    }

    /// Gives every test case its own container as `Container.current` that loads the real features.
    public static var liveContainer: Self { liveContainer() }

    /// Gives every test case its own container as `Container.current` that loads the real features, configured by a
    /// closure.
    ///
    /// The container has what enclosing traits set, or else what was set in `Container.shared`, but no loaded instances.
    ///
    /// - Parameter configure: A closure that sets what the test needs. An error that it throws fails the test.
    /// - Returns: The trait.
    public static func liveContainer(_ configure: @escaping ContainerTrait.Configuration = { _ in }) -> Self {
        ContainerTrait(isLive: true, configure: configure)
    }
}
