import Fugu
import FuguTestingStart
import Testing

/// Serves a process that links this library.
struct Runner: TestRunner {
    /// Whether an endpoint created now is given to a reader whose test has failed.
    @TaskLocal static var isRefusing = false

    func prepareShared(_ container: Container) {
        #if DEBUG
        // To standard error, because a handler would run while other threads wait for the shared container.
        if let report = Copies.report { Audience.printError(report) }
        #endif
        let strictness = Strictness(isForAll: true, advise: Messages.adviceForShared) {
            // That the test uses this container has failed it already.
            if TestCase.current?.hasUsedShared == true { return }
            Audience.present().fail(by: $0, at: $0.place)
        }
        container.makeStrict(strictness)
        container.handleReports { text in
            // A report without a test and a place would tell the reader nothing.
            let audience = Audience.present()
            if case .unknownTest = audience { return Audience.printError(text) }
            // Code in a child that the test has made reads from what the test configures.
            audience.fail(Container.current.isBelowShared ? text : Messages.shared(text), at: nil)
        }
        container.listen(by: SharedUses(), hearsReads: true)
    }

    func listenerForRoot() -> (any UseListener)? { Maker.ofRoot }

    func prepareRoot(_ container: Container) {
        guard Container.current.isStrict else { return }
        let maker = Maker()
        let strictness = Strictness(isForAll: !maker.isKnown, advise: Messages.adviceForRoot) {
            Audience.present(orOf: maker).fail(by: $0, at: $0.place)
        }
        container.makeStrict(strictness)
        // A test without a container of its own is as it is.
        guard maker.isKnown, Container.current !== Container.shared else { return }
        container.handleReports { Audience.present(orOf: maker).fail($0, at: nil) }
    }

    func failing(at place: SourcePlace) -> @Sendable (UnimplementedError, Bool) -> any Error {
        // A reader whose test has failed doesn't fail it again.
        if Self.isRefusing { return { error, _ in Audience.present().passing(error) } }
        let maker = Maker()
        return { error, isThrown in
            let audience = Audience.present(orOf: maker)
            if isThrown { return audience.fail(by: error, at: place) }
            audience.fail(error.description, at: place)
            return error
        }
    }

    func warn(_ text: String) { Audience.present().warnOnce(text) }

    func naming(_ text: String) -> String { Audience.present().naming(text) }

    /// Links the constructor, and runs it if that hasn't happened.
    ///
    /// Without this call, a linker could leave the constructor out.
    static func begin() { fugu_testing_start() }
}

/// Prepares for the tests; the constructor calls it.
@_cdecl("fugu_testing_begin")
package func fuguTestingBegin() { XCTestLibrary.begin }

/// Installs the runner; the core calls it at the first failure.
@_cdecl("fugu_testing_install")
package func fuguTestingInstall() { TestProcess.install(Runner()) }
