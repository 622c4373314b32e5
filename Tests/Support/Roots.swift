package import Fugu

extension Container {
    /// Returns a root that loads external features, as one does in a program.
    ///
    /// All tests of this package run in one process that links FuguTesting, where `Container()` is strict.
    package static func program() -> Container {
        Container(ofProgram: ())
    }

    /// The same container, whose reports are no part of what the test shows.
    package var unreported: Container {
        handleReports { _ in }
        return self
    }
}
