import Fugu
import FuguTestingStart

/// What fails the tests of a process that links this library.
struct Runner: TestRunner {
    func prepareShared(_ container: Container) {
        let strictness = Strictness(isForAll: true, advise: Messages.adviceForShared) {
            Audience.present().fail($0.error.description, at: $0.place)
        }
        container.makeStrict(strictness)
        container.handleReports { text in
            // A report without a test and without a place would send its reader nowhere.
            let audience = Audience.present()
            if case .unknownTest = audience { return Audience.printError(text) }
            audience.fail(Messages.shared(text), at: nil)
        }
    }

    func failing(at place: SourcePlace) -> @Sendable (UnimplementedError, Bool) -> any Error {
        let maker = Maker()
        return { error, isThrown in
            let audience = Audience.present(orOf: maker)
            if isThrown { return audience.fail(by: error, at: place) }
            audience.fail(error.description, at: place)
            return error
        }
    }

    /// Begins, where that has not happened by itself.
    ///
    /// This also keeps linkers from leaving out what makes it happen.
    static func begin() { fugu_testing_start() }
}

/// Called by the core when something fails first.
@_cdecl("fugu_testing_install")
package func fuguTestingInstall() { TestProcess.install(Runner()) }
