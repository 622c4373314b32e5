import Fugu

#if canImport(XCTest)
import XCTest

/// The library that runs one test at a time.
enum XCTestLibrary {
    /// Fails the test that runs or, if none does, prints the failure, which XCTest drops.
    static func fail(_ text: String, at place: SourcePlace?) {
        if presentTest == nil { return Audience.printError(Messages.outsideOfXCTest(text)) }
        XCTFail(text, file: place?.file ?? "unknown", line: place?.line ?? 0)
    }

    /// Fails the test, and returns an error that doesn't fail it again when the test throws it.
    static func fail(by error: some Error, at place: SourcePlace?) -> any Error {
        if let ignoredError {
            fail("\(error)", at: place)
            return ignoredError
        }
        if presentTest == nil { Audience.printError(Messages.outsideOfXCTest("\(error)")) }
        do {
            _ = try XCTUnwrap(
                nil as ValueSetForTheTest?, "\(error)", file: place?.file ?? "unknown", line: place?.line ?? 0)
        } catch { ignored.withLock { $0 = error } }
        return ignoredError ?? error
    }

    /// The error that `XCTUnwrap` throws, and that doesn't fail a test that throws it.
    static var ignoredError: (any Error)? { ignored.withLock { $0 } }
    private static let ignored = Locked<(any Error)?>(nil)

    /// What a test lacks, as a failure of `XCTUnwrap` names it.
    private enum ValueSetForTheTest {}

    /// Follows the tests from now on, once.
    static let begin: Void = {
        #if !canImport(Darwin)
        // While no test runs, this records nothing, and gives the error that doesn't fail a test.
        do { _ = try XCTUnwrap(nil as ValueSetForTheTest?) } catch { ignored.withLock { $0 = error } }
        #endif
        XCTestObservationCenter.shared.addTestObserver(Follower())
    }()

    /// The name of the test that runs, or `nil` if none does.
    static var presentTest: String? { present.withLock { $0 } }
    private static let present = Locked<String?>(nil)

    /// Follows which test runs.
    private final class Follower: NSObject, XCTestObservation {
        func testCaseWillStart(_ testCase: XCTestCase) {
            let name = testCase.name
            present.withLock { $0 = name }
        }

        func testCaseDidFinish(_ testCase: XCTestCase) { present.withLock { $0 = nil } }
    }
}
#else
enum XCTestLibrary {
    static var ignoredError: (any Error)? { nil }
    static var presentTest: String? { nil }
    static func fail(_ text: String, at place: SourcePlace?) {}
    static func fail(by error: some Error, at place: SourcePlace?) -> any Error { error }
    static let begin: Void = ()
}
#endif
