import Fugu

/// What the double of a throwing endpoint throws that a test gave nothing to do, after it has failed the test.
public struct UnimplementedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The endpoint's name, as it was given.
    public let endpoint: String

    /// The failure's text.
    public var description: String { Messages.unimplemented(endpoint) }
}

/// A closure that fails the test when it is called and gives a placeholder: for the endpoints of a struct of functions that
/// a test has no use for.
///
///     let mailer = Mailer(send: unimplemented("Mailer.send", placeholder: false))
///
/// It fits every closure type that takes no `inout` parameter: any number of parameters, async, throwing or not. The failure
/// goes to the test case that the caller's task belongs to, else to the test that made the closure; where no test runs, it
/// stops the program.
///
/// - Parameters:
///   - endpoint: Names the endpoint in the failure.
///   - placeholder: What each call gives, so that the test goes on; evaluated at each call.
///   - fileID: Where XCTest shows the failure, with the next three.
///   - filePath: See `fileID`.
///   - line: See `fileID`.
///   - column: See `fileID`.
public func unimplemented<each Argument, Result>(
    _ endpoint: String, placeholder: @autoclosure @escaping @Sendable () -> Result,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
) -> @Sendable (repeat each Argument) -> Result {
    let fail = Failure.handler(at: Place(fileID: fileID, filePath: filePath, line: line, column: column))
    return { (_: repeat each Argument) in
        fail(Messages.unimplemented(endpoint))
        return placeholder()
    }
}

/// A closure that fails the test when it is called and does nothing: see the other functions of this name.
@_disfavoredOverload
public func unimplemented<each Argument>(
    _ endpoint: String,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
) -> @Sendable (repeat each Argument) -> Void {
    unimplemented(endpoint, placeholder: (), fileID: fileID, filePath: filePath, line: line, column: column)
}

/// A closure that fails the test when it is called and throws ``UnimplementedError``: for endpoints that can throw, async
/// ones too.
///
///     let mailer = Mailer(send: unimplemented("Mailer.send"))
///
/// - Parameters:
///   - endpoint: Names the endpoint in the failure.
///   - fileID: Where XCTest shows the failure, with the next three.
///   - filePath: See `fileID`.
///   - line: See `fileID`.
///   - column: See `fileID`.
public func unimplemented<each Argument, Result>(
    _ endpoint: String,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
) -> @Sendable (repeat each Argument) throws -> Result {
    let fail = Failure.handler(at: Place(fileID: fileID, filePath: filePath, line: line, column: column))
    return { (_: repeat each Argument) in
        fail(Messages.unimplemented(endpoint))
        throw UnimplementedError(endpoint: endpoint)
    }
}
