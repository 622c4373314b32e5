public import Fugu

extension Container {
    /// Makes a strict container by hand: for XCTest, or for a test that needs a second one.
    ///
    ///     let container = Container.strict { $0.timestamp = .constant(0) }
    ///
    /// Features that reach outside the process and were not swapped are not loaded: reading one fails the test and gives
    /// its placeholder, or throws where the kind can. What the container reports otherwise fails the test too. Children and
    /// copies are strict as well.
    ///
    /// A failure is reported by whatever runs the test. In a test with ``ContainerTrait`` it is the test case's; in
    /// another one of Swift Testing it is recorded with the test's own place; under XCTest it is one of the test that
    /// runs, at the place of this call. Where no test runs, it stops the program with the message.
    ///
    /// - Parameters:
    ///   - configure: Swaps what the test needs. A part of an external feature can be set, `$0.mailer.send = { … }`: the
    ///     rest is its placeholder's.
    ///   - fileID: Where XCTest shows failures, with the next three.
    ///   - filePath: See `fileID`.
    ///   - line: See `fileID`.
    ///   - column: See `fileID`.
    public static func strict<E>(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
        _ configure: (Container) throws(E) -> Void
    ) throws(E) -> Container {
        let fail = Failure.handler(at: Place(fileID: fileID, filePath: filePath, line: line, column: column))
        let refusals = Refusals()
        let container = refusals.makeContainer(fail: fail)
        refusals.beginConfiguration()
        try configure(container)
        refusals.endConfiguration(of: container).forEach(fail)
        return container
    }

    /// Makes a strict container by hand in which nothing is set, see the other function of this name.
    public static func strict(
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
    ) -> Container {
        strict(fileID: fileID, filePath: filePath, line: line, column: column) { _ in }
    }
}
