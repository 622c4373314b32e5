import Fugu

#if canImport(XCTest)
import XCTest

/// The library that runs one test at a time.
enum XCTestLibrary {
    /// Fails the test that runs or, if none does, the next one.
    static func fail(_ text: String, at place: SourcePlace?) {
        #if !canImport(Darwin)
        if keep(text, at: place) { return }
        #endif
        record(text, at: place)
    }

    private static func record(_ text: String, at place: SourcePlace?) {
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
    static var presentTest: String? { nil }
    #else
    /// Prepares for the tests, once, before the first one.
    static let begin: Void = {
        // While no test runs, `XCTUnwrap` records no failure.
        unwrap(nil as ValueSetForTheTest?, "", at: nil)
        XCTestObservationCenter.shared.addTestObserver(Follower())
        KeptContainer.followXCTest()
    }()

    private struct State {
        /// How many tests have ended.
        var ended = 0
        var runsTest = false
        /// What has failed since the last one ended, until the next one begins.
        var kept: [(text: String, place: SourcePlace?)] = []
    }

    private static let state = Locked(State())

    /// A name of the test that runs or, if none does, of the next one, which fails in its place.
    static var presentTest: String? { state.withLock { "\($0.ended)" } }

    /// Keeps a failure, and prints it, while no test runs: XCTest drops it.
    ///
    /// It creates all test cases, with their properties, before the first test runs.
    private static func keep(_ text: String, at place: SourcePlace?) -> Bool {
        let kept = Messages.beforeXCTest(text)
        let (keeps, isNew) = state.withLock { state in
            if state.runsTest { return (false, false) }
            // Each test of a class has an instance of its own.
            let isNew = !state.kept.contains { $0.text == kept }
            if isNew { state.kept.append((kept, place)) }
            return (true, isNew)
        }
        if isNew { Audience.printError(kept) }
        return keeps
    }

    /// Follows which test runs.
    private final class Follower: NSObject, XCTestObservation {
        func testCaseWillStart(_ testCase: XCTestCase) {
            let kept = state.withLock { state in
                state.runsTest = true
                defer { state.kept = [] }
                return state.kept
            }
            for failure in kept { record(failure.text, at: failure.place) }
            let classes = sequence(first: Mirror(reflecting: testCase)) { $0.superclassMirror }
            KeptContainer.beginXCTest(with: classes.flatMap(\.children).compactMap { $0.value as? Container })
        }

        func testCaseDidFinish(_ testCase: XCTestCase) {
            state.withLock { state in
                state.runsTest = false
                state.ended += 1
            }
            KeptContainer.endXCTest()
        }
    }
    #endif
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
