import Fugu

#if canImport(XCTest)
import XCTest

/// The library that runs one test at a time.
enum XCTestLibrary {
    static func fail(_ text: String, at place: SourcePlace?) {
        XCTFail(text, file: place?.file ?? "unknown", line: place?.line ?? 0)
    }

    /// Fails the test, and returns an error that doesn't fail it again when the test throws it.
    static func fail(by error: some Error, at place: SourcePlace?) -> any Error {
        if ignoredError == nil {
            unwrap(nil as ValueSetForTheTest?, "\(error)", at: place)
        } else {
            fail("\(error)", at: place)
        }
        return ignoredError ?? error
    }

    /// The error that `XCTUnwrap` throws, and that doesn't fail a test that throws it.
    static var ignoredError: (any Error)? { ignored.withLock { $0 } }
    private static let ignored = Locked<(any Error)?>(nil)

    /// What a test lacks, as a failure of `XCTUnwrap` names it.
    private enum ValueSetForTheTest {}

    private static func unwrap<T>(_ value: T?, _ text: String, at place: SourcePlace?) {
        do {
            _ = try XCTUnwrap(value, text, file: place?.file ?? "unknown", line: place?.line ?? 0)
        } catch { ignored.withLock { $0 = error } }
    }

    #if canImport(Darwin)
    static let begin: Void = ()
    #else
    /// Prepares for the tests, once, before the first one.
    static let begin: Void = {
        // While no test runs, `XCTUnwrap` records no failure.
        unwrap(nil as ValueSetForTheTest?, "", at: nil)
        XCTestObservationCenter.shared.addTestObserver(Follower())
        KeptContainer.followXCTest()
    }()

    /// Follows which test runs.
    private final class Follower: NSObject, XCTestObservation {
        func testCaseWillStart(_ testCase: XCTestCase) {
            let classes = sequence(first: Mirror(reflecting: testCase)) { $0.superclassMirror }
            KeptContainer.beginXCTest(with: classes.flatMap(\.children).compactMap { $0.value as? Container })
        }

        func testCaseDidFinish(_ testCase: XCTestCase) { KeptContainer.endXCTest() }
    }
    #endif
}
#else
enum XCTestLibrary {
    static var ignoredError: (any Error)? { nil }
    static func fail(_ text: String, at place: SourcePlace?) {}
    static func fail(by error: some Error, at place: SourcePlace?) -> any Error { error }
    static let begin: Void = ()
}
#endif
