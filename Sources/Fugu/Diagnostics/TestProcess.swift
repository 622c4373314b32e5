import Synchronization

/// The interface through which FuguTesting serves a process that links it.
package protocol TestRunner: Sendable {
    /// Makes the shared container strict, and listens to its uses.
    func prepareShared(_ container: Container)

    /// Returns what listens to the uses of a root that is being made.
    func listenerForRoot() -> (any UseListener)?

    /// Makes a root strict if the current container is.
    func prepareRoot(_ container: Container)

    /// Returns a function that fails the test running when it's called or, if there's none, the test running now.
    ///
    /// - Parameter place: The place of the failure if no test is known.
    /// - Returns: A function that receives a failure and whether it's thrown. It returns the error to throw, which
    ///   doesn't fail the test a second time.
    func failing(at place: SourcePlace) -> @Sendable (UnimplementedError, _ isThrown: Bool) -> any Error

    /// Returns the text with which the process stops, followed by the tests in which that may happen.
    func naming(_ text: String) -> String

    /// Warns the test that runs on this thread, once.
    func warn(_ text: String)
}

extension Container {
    /// Warns the test that runs, if this container is strict.
    package func warnTest(_ text: @autoclosure () -> String?) {
        if TestProcess.isTesting, isStrict, let text = text() { TestProcess.runner?.warn(text) }
    }

    /// Whether this is the shared container itself.
    package var isShared: Bool { node === Container.shared.node }
    /// Whether this is a child of the shared container, or below one.
    package var isBelowShared: Bool { !isShared && node.isWithin(Container.shared.node) }

    /// Whether ``shared`` is bound as ``current``, or loads something.
    package static var isSharedBound: Bool {
        guard let bound = Context.bound?.container else { return false }
        return (bound.owner ?? bound) === shared
    }
}

/// The state of a process that may run tests.
@usableFromInline package enum TestProcess {
    private typealias Install = @convention(c) () -> Void

    /// The address of the function in FuguTesting that installs the runner, or 0 if FuguTesting isn't linked.
    private static let installer = Atomic<UInt>(0)
    private static let sharedExists = Atomic(false)
    private static let installed = Locked<(any TestRunner)?>(nil)

    /// Whether FuguTesting is linked; no container is strict otherwise.
    @usableFromInline static var isTesting: Bool { installer.load(ordering: .relaxed) != 0 }

    /// The runner, or `nil` if FuguTesting isn't linked.
    static var runner: (any TestRunner)? {
        let address = installer.load(ordering: .sequentiallyConsistent)
        guard let installer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        if let runner = installed.withLock({ $0 }) { return runner }
        unsafe unsafeBitCast(installer, to: Install.self)()
        return installed.withLock { $0 }
    }

    /// What learns of the uses of a root that's being made.
    static var listenerForRoot: (any UseListener)? { isTesting ? runner?.listenerForRoot() : nil }

    /// Installs the runner.
    package static func install(_ runner: any TestRunner) { installed.withLock { $0 = runner } }

    /// Creates the shared container.
    static func makeShared() -> Container {
        let container = Container(listener: nil)
        sharedExists.store(true, ordering: .sequentiallyConsistent)
        runner?.prepareShared(container)
        return container
    }

    /// Makes a root of the program strict, in a test process.
    static func prepareRoot(_ container: Container) { if isTesting { runner?.prepareRoot(container) } }

    /// Makes the shared container strict.
    ///
    /// This can run before the program's `main`, so it does as little as possible: the runner is looked up later.
    /// Other constructors may have read real features by then, and a library with tests can be loaded into an app
    /// that is already running, so what they left in the shared container is dropped.
    fileprivate static func begin(_ install: UnsafeRawPointer) {
        let isFirst = installer.exchange(UInt(bitPattern: install), ordering: .sequentiallyConsistent) == 0
        guard isFirst, sharedExists.load(ordering: .sequentiallyConsistent) else { return }
        runner?.prepareShared(.shared)
        Container.shared.dropLoadedFeatures()
    }
}

// MARK: Uses

extension Container {
    /// Lets a listener know of uses of the containers of this root, or nobody.
    ///
    /// - `hearsReads`: Whether it knows of each read of this container, all of which then take the slow path.
    package func listen(by listener: (any UseListener)?, hearsReads: Bool = false) {
        let node = node
        var garbage = Garbage()
        node.family.lock.withLock { token in node.family.setListener(token, listener, &garbage) }
        garbage.dispose()
        if hearsReads { answersSlowly() }
    }

    /// Says that code is about to do something with this container.
    ///
    /// - `place`: The place, which is found only if somebody listens.
    @inline(__always)
    package func note(_ use: ContainerUse, _ key: Key? = nil, at place: @autoclosure () -> SourcePlace? = nil) {
        if asked.family.isListened { noteSlowly(use, key, place) }
    }

    @inline(never) private func noteSlowly(_ use: ContainerUse, _ key: Key?, _ place: () -> SourcePlace?) {
        switch role {
        case .owner: break
        case .handle(let load) where load.isFinished: break
        default: return
        }
        let family = asked.family
        guard let listener = family.lock.withLock({ token in family.state[token].listener.value }) else { return }
        listener.used(self, use, key) { ReadPlace.current ?? place() }
    }
}

/// Stops the program; the message names the test that runs.
@inline(never) package func stopProgram(_ text: String) -> Never {
    fatalError(TestProcess.runner?.naming(text) ?? text)
}

/// Marks this process as one that links FuguTesting.
///
/// A constructor written in C calls it.
@_cdecl("fugu_testing_is_linked")
package func fuguTestingIsLinked(_ install: UnsafeRawPointer) { unsafe TestProcess.begin(install) }
