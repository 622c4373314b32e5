import Synchronization

/// The interface through which FuguTesting serves a process that links it.
package protocol TestRunner: Sendable {
    /// Makes the shared container strict, and watches it.
    func prepareShared(_ container: Container)

    /// Makes a root strict if the current container is.
    func prepareRoot(_ container: Container)

    /// Returns a function that fails the test running when it's called or, if there's none, the test running now.
    ///
    /// - Parameters:
    ///   - place: The place of the failure if no test is known.
    ///   - failed: The tests that have failed already, and don't fail again.
    /// - Returns: A function that receives a failure and whether it's thrown. It returns the error to throw, which
    ///   doesn't fail the test a second time.
    func failing(
        at place: SourcePlace, unlessIn failed: FailedTests?
    ) -> @Sendable (UnimplementedError, _ isThrown: Bool) -> any Error

    /// The name of the test that runs on this thread, or `nil` if it can't be told from others.
    var presentTest: String? { get }

    /// Returns the text with which the process stops, followed by the tests in which that may happen.
    func naming(_ text: String) -> String

    /// Warns the test that runs on this thread, once.
    func warn(_ text: String)
}

/// What code does through a watched container.
package enum WatchedUse: Sendable {
    case read, changed, observed, closed
    /// A child was made; the child is `nil` if others get it by its path, too.
    case child(Container?)
    case copied(Container)
}

/// Receives what code does through a watched container, and the function that looks for the place.
package typealias Watcher =
    @Sendable (
        _ container: Container, _ use: WatchedUse, _ key: Key?, _ place: () -> SourcePlace?
    ) -> Void

extension Container {
    /// Tells the watcher of this container, which only a test process has, that something is done through it on the slow path.
    ///
    /// - `place`: The place, which is found only then.
    @inline(__always)
    func tell(_ use: WatchedUse, _ key: Key? = nil, at place: @autoclosure () -> SourcePlace? = nil) {
        if TestProcess.isTesting { tellWatcher(use, key, at: place) }
    }

    @inline(never) private func tellWatcher(_ use: WatchedUse, _ key: Key?, at place: () -> SourcePlace?) {
        let node: Node
        switch role {
        case .owner: node = asked
        case .handle(let load) where load.isFinished: node = load.homeNode
        default: return
        }
        let watcher = node.family.lock.withLock { token in node.storage[token].rare?.watcher }
        watcher?(self, use, key) {
            ReadPlace.current.map { SourcePlace(fileID: $0.fileID, line: $0.line, member: "@Injected") } ?? place()
        }
    }

    /// Warns the test that runs, if this container is strict.
    package func warnTest(_ text: @autoclosure () -> String?) {
        if TestProcess.isTesting, isStrict, let text = text() { TestProcess.runner?.warn(text) }
    }

    /// Lets accesses that take the slow path tell `watcher`, and others none.
    package func watch(by watcher: Watcher?) {
        let former = asked.family.lock.withLock { token in
            let rare = asked.storage[token].more()
            defer { rare.watcher = watcher }
            return rare.watcher
        }
        storageAddress.store(asked.storage.address, ordering: .releasing)
        withExtendedLifetime(former) {}
    }

    /// Lets every access take the slow path, so that the watcher is told of it.
    package func watchEveryAccess() { storageAddress.store(StorageReference.empty.address, ordering: .releasing) }

    /// Whether ``shared`` is bound as ``current``, or loads something.
    package static var isSharedBound: Bool {
        guard let bound = Context.bound?.container else { return false }
        return (bound.owner ?? bound) === shared
    }
}

/// The tests that have failed because a feature was refused.
package final class FailedTests: Sendable {
    private let maker: String
    private let names = Locked<Set<String>>([])

    /// - `maker`: The test that created the container, which stands for a test that isn't known.
    init(maker: String) { self.maker = maker }

    /// Adds the test that runs on this thread.
    func addPresent() {
        let name = TestProcess.runner?.presentTest ?? maker
        names.withLock { _ = $0.insert(name) }
    }

    package func contains(_ name: String?) -> Bool {
        names.withLock { $0.contains(name ?? maker) }
    }
}

/// The state of a process that may run tests.
package enum TestProcess {
    private typealias Install = @convention(c) () -> Void

    /// The address of the function in FuguTesting that installs the runner, or 0 if FuguTesting isn't linked.
    private static let installer = Atomic<UInt>(0)
    private static let sharedExists = Atomic(false)
    private static let installed = Locked<(any TestRunner)?>(nil)

    /// Whether FuguTesting is linked; no container is strict otherwise.
    static var isTesting: Bool { installer.load(ordering: .relaxed) != 0 }

    /// Whether reads are checked after the loads: in debug builds, and in a process that runs tests.
    @inline(__always) static var checksLoads: Bool { Node.isDebug || isTesting }

    /// The runner, or `nil` if FuguTesting isn't linked.
    static var runner: (any TestRunner)? {
        let address = installer.load(ordering: .sequentiallyConsistent)
        guard let installer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        if let runner = installed.withLock({ $0 }) { return runner }
        unsafe unsafeBitCast(installer, to: Install.self)()
        return installed.withLock { $0 }
    }

    /// Installs the runner.
    package static func install(_ runner: any TestRunner) { installed.withLock { $0 = runner } }

    /// Creates the shared container.
    static func makeShared() -> Container {
        #if DEBUG
        // Report to standard error, because a handler would run while other threads wait for the shared container.
        if let report = Copies.report { Reports().report(report) }
        #endif
        let container = Container(bare: ())
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

    /// Whether an endpoint created now belongs to the whole process, so that its failures aren't those of the test
    /// that creates it.
    @TaskLocal static var isMakingForAll = false

    /// The tests that an endpoint created now doesn't fail, because they have failed already.
    @TaskLocal static var failed: FailedTests?
}

/// Marks this process as one that links FuguTesting.
///
/// A constructor written in C calls it.
@_cdecl("fugu_testing_is_linked")
package func fuguTestingIsLinked(_ install: UnsafeRawPointer) { unsafe TestProcess.begin(install) }
