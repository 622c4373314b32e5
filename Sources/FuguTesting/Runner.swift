import Fugu
import FuguTestingStart
import Testing

/// Serves a process that links this library.
struct Runner: TestRunner {
    func prepareShared(_ container: Container) {
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
            let isInChild = Container.current.isWithinShared && !Container.current.isShared
            audience.fail(isInChild ? text : Messages.shared(text), at: nil)
        }
        container.watch { container, use, key, place in
            Failure.recordKept()
            let testCase = TestCase.current
            testCase?.record(use, of: key, at: place())
            switch use {
            case .child(let made?), .copied(let made): Maker().watch(made, isOfShared: true)
            case .child(nil): break
            // The test has failed.
            case _ where testCase != nil: break
            case .changed, .closed: Audience.present().warnOfChange(use, of: key)
            case .read, .observed:
                guard let key else { break }
                Audience.present().warnOfRead(of: key, through: container, at: place)
                Audience.present().warnOfMissing(key, at: place)
            }
        }
        container.watchEveryAccess()
    }

    func prepareRoot(_ container: Container) {
        guard Container.current.isStrict else { return }
        let maker = Maker()
        let strictness = Strictness(isForAll: !maker.isKnown, advise: Messages.adviceForRoot) {
            Audience.present(orOf: maker).fail(by: $0, at: $0.place)
        }
        container.makeStrict(strictness)
        maker.watch(container)
        // The cases of a test with arguments can't be told apart.
        if Test.Case.current?.isParameterized != true { KeptContainer.add(container, at: nil) }
        // A test without a container of its own is as it is.
        guard maker.isKnown, Container.current !== Container.shared else { return }
        container.handleReports { Audience.present(orOf: maker).fail($0, at: nil) }
    }

    func failing(
        at place: SourcePlace, unlessIn failed: FailedTests?
    ) -> @Sendable (UnimplementedError, Bool) -> any Error {
        let maker = Maker()
        return { error, isThrown in
            let audience = Audience.present(orOf: maker)
            if let failed, failed.contains(audience.name) { return audience.passing(error) }
            if isThrown { return audience.fail(by: error, at: place) }
            audience.fail(error.description, at: place)
            return error
        }
    }

    var presentTest: String? { Audience.present().name }

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
