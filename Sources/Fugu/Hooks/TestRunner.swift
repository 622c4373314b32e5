import Synchronization

/// What FuguTesting does for the process that links it.
package protocol TestRunner: Sendable {
    /// Makes the container of the process strict.
    func prepareShared(_ container: Container)

    /// Returns what fails the test that runs when it is called, or else the test that runs now.
    ///
    /// - Parameter place: Where failures are shown if no test is known.
    /// - Returns: A function that takes a failure, and whether it is to be thrown. It returns the error to throw then: one
    ///   that does not fail the test a second time.
    func failing(at place: SourcePlace) -> @Sendable (UnimplementedError, _ isThrown: Bool) -> any Error
}

/// Whether tests run in this process.
package enum TestProcess {
    private typealias Install = @convention(c) () -> Void

    /// The address of a function of FuguTesting that installs the runner; 0 where FuguTesting is not linked.
    private static let installer = Atomic<UInt>(0)
    private static let sharedExists = Atomic(false)
    private static let installed = Locked<(any TestRunner)?>(nil)

    /// What fails the tests of this process; nil where FuguTesting is not linked.
    static var runner: (any TestRunner)? {
        let address = installer.load(ordering: .sequentiallyConsistent)
        guard let installer = UnsafeRawPointer(bitPattern: address) else { return nil }
        if let runner = installed.withLock({ $0 }) { return runner }
        unsafeBitCast(installer, to: Install.self)()
        return installed.withLock { $0 }
    }

    /// Sets what fails the tests of this process.
    package static func install(_ runner: any TestRunner) { installed.withLock { $0 = runner } }

    /// Makes the container of the process.
    static func makeShared() -> Container {
        let container = Container()
        sharedExists.store(true, ordering: .sequentiallyConsistent)
        runner?.prepareShared(container)
        return container
    }

    /// This may run before the program itself has begun, so it does as little as it can: the runner is asked for later.
    ///
    /// Other constructors may have read real features by then, and a library with tests can be loaded into an app that
    /// runs already: what they left in the container of the process is not for tests.
    fileprivate static func begin(_ install: UnsafeRawPointer) {
        let isFirst = installer.exchange(UInt(bitPattern: install), ordering: .sequentiallyConsistent) == 0
        guard isFirst, sharedExists.load(ordering: .sequentiallyConsistent) else { return }
        runner?.prepareShared(.shared)
        Container.shared.dropLoadedFeatures()
    }

    /// Whether what is made now is everybody's, so that its failures are not those of the test that makes it.
    @TaskLocal static var isMakingForAll = false
}

/// Marks this process as one that links FuguTesting.
///
/// Called by a constructor written in C.
@_cdecl("fugu_testing_is_linked")
package func fuguTestingIsLinked(_ install: UnsafeRawPointer) { TestProcess.begin(install) }
