/// The error that an endpoint throws if it isn't implemented.
///
/// In a test, the endpoint, or the refused read that gave it, has already failed the test, so the error doesn't fail it again.
package struct UnimplementedError: Error, Sendable, CustomStringConvertible {
    /// The name of the endpoint, as it was passed to `unimplemented`.
    package let endpoint: String

    /// The message: which endpoint was called, and what to do.
    package var description: String { Messages.unimplemented(endpoint) }
}

/// Returns a closure that fails the test that calls it, and returns a placeholder.
///
/// Use it in the placeholder of a feature that is a struct of closures. A test then sets only the closures that it needs,
/// and a call of any other fails the test with the name of the endpoint:
///
///     struct Audio: Feature, External {
///         var play: @Sendable (_ song: String) async throws -> Void
///         var volume: @Sendable () -> Double
///
///         static func load(in container: any FeatureContainer) -> Audio { … }
///         static var placeholder: Audio {
///             Audio(play: unimplemented("Audio.play"), volume: unimplemented("Audio.volume", placeholder: 0))
///         }
///     }
///
///     container[Audio.self].volume = { 0.5 }
///
/// The result fits every type of closure without `inout` parameters, with any number of parameters, async or not. The failure
/// belongs to the test that calls the closure or, on a thread or in a detached task that belongs to no test, to the test that
/// made it. A test that has failed because a read of the feature was refused doesn't fail again. In a process that doesn't link
/// FuguTesting, a call stops the program with the name of the endpoint. In an Xcode preview, it's reported, and the closure
/// returns its placeholder or throws.
///
/// - Parameters:
///   - endpoint: The name of the endpoint, for the message.
///   - placeholder: The value that each call returns, so that the test goes on. It's evaluated at each call.
///   - fileID: The file in which the failure is shown if no test is known.
///   - line: The line in which the failure is shown if no test is known.
/// - Returns: The closure.
public func unimplemented<each Argument, Result>(
    _ endpoint: String, placeholder: @autoclosure @escaping @Sendable () -> Result,
    fileID: StaticString = #fileID, line: UInt = #line
) -> @Sendable (repeat each Argument) -> Result {
    let place = SourcePlace(fileID: fileID, line: line)
    let failure = UnimplementedCall(UnimplementedError(endpoint: endpoint), madeAt: place)
    return { (_: repeat each Argument) in
        _ = failure.report(isThrown: false)
        return placeholder()
    }
}

/// Returns a closure that fails the test that calls it, and does nothing.
///
/// See ``unimplemented(_:placeholder:fileID:line:)``.
///
/// - Parameters:
///   - endpoint: The name of the endpoint, for the message.
///   - fileID: The file in which the failure is shown if no test is known.
///   - line: The line in which the failure is shown if no test is known.
/// - Returns: The closure.
@_disfavoredOverload
public func unimplemented<each Argument>(
    _ endpoint: String, fileID: StaticString = #fileID, line: UInt = #line
) -> @Sendable (repeat each Argument) -> Void {
    unimplemented(endpoint, placeholder: (), fileID: fileID, line: line)
}

/// Returns a closure that fails the test that calls it, and throws.
///
/// Use it for endpoints that can throw, async or not. The test fails once: the error that the closure throws doesn't fail it
/// again when it leaves the test function.
///
/// See ``unimplemented(_:placeholder:fileID:line:)``.
///
/// - Parameters:
///   - endpoint: The name of the endpoint, for the message.
///   - fileID: The file in which the failure is shown if no test is known.
///   - line: The line in which the failure is shown if no test is known.
/// - Returns: The closure.
public func unimplemented<each Argument, Result>(
    _ endpoint: String, fileID: StaticString = #fileID, line: UInt = #line
) -> @Sendable (repeat each Argument) throws -> Result {
    let place = SourcePlace(fileID: fileID, line: line)
    let failure = UnimplementedCall(UnimplementedError(endpoint: endpoint), madeAt: place)
    return { (_: repeat each Argument) in throw failure.report(isThrown: true) }
}

/// A call of an endpoint that isn't implemented.
private struct UnimplementedCall: Sendable {
    private let error: UnimplementedError
    private let place: SourcePlace
    /// Fails the test that created the endpoint; `nil` if no tests run, or not yet.
    private let fail: (@Sendable (UnimplementedError, Bool) -> any Error)?

    init(_ error: UnimplementedError, madeAt place: SourcePlace) {
        self.error = error
        self.place = place
        fail = TestProcess.runner?.failing(at: place)
    }

    /// Fails the test, or stops the program if no tests run; in an Xcode preview, only reports the call.
    ///
    /// Returns the error for a throwing endpoint to throw.
    func report(isThrown: Bool) -> any Error {
        if PreviewRun.isOn {
            Container.current.report(Messages.unimplementedInPreview(error.endpoint))
            return error
        }
        guard let fail = fail ?? TestProcess.runner?.failing(at: place) else { fatalError(error.description) }
        return fail(error, isThrown)
    }
}
