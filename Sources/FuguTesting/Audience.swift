import Foundation
import Fugu
import Testing

#if canImport(XCTest)
import XCTest
#endif

/// Who is told of a failure that is met on this thread.
enum Audience {
    /// A test case that has a container of its own.
    case testCase(TestCase)
    /// A test of Swift Testing that has none.
    case test(Test)
    /// The test that XCTest runs; it runs one at a time.
    case xctest
    /// Some test of Swift Testing: a thread or a detached task does not know which.
    case unknownTest
    /// Nobody: this process runs no tests.
    case nobody

    /// The test that runs on this thread, or else the one that `maker` remembers.
    static func present(orOf maker: Maker? = nil) -> Audience {
        if let testCase = TestCase.current ?? maker?.testCase { return .testCase(testCase) }
        if let test = Test.current ?? maker?.test { return .test(test) }
        if Process.runsXCTest { return .xctest }
        return Process.runsSwiftTesting ? .unknownTest : .nobody
    }
}

/// The test that made something, which a thread of that test would not know.
struct Maker: Sendable {
    let testCase = TestCase.current
    let test = Test.current
}

extension Audience {
    /// Fails the test, or stops the program where there is none.
    ///
    /// `place`: Where failures are shown if the test's own place is not known.
    func fail(_ text: String, at place: SourcePlace?) {
        switch self {
        case .testCase(let testCase): testCase.record(text)
        case .test(let test): Issue.record("\(text)", sourceLocation: test.sourceLocation)
        case .unknownTest:
            // Issues from before the tests begin reach nobody.
            if Thread.isMainThread, withUnsafeCurrentTask(body: { $0 == nil }) { Self.printError(text) }
            Issue.record("\(text)", sourceLocation: Self.location(of: place))
        case .xctest:
            #if canImport(XCTest)
            XCTFail(text, file: place?.file ?? "unknown", line: place?.line ?? 0)
            #endif
        case .nobody: fatalError(place.map { "\($0): \(text)" } ?? text)
        }
    }

    /// Fails the test and returns an error that does not fail it again when it leaves the test.
    func fail(by error: some Error, at place: SourcePlace) -> any Error {
        switch self {
        case .test(let test):
            // What `#require` throws, it has recorded, and the testing library knows that.
            let implementation: Int? = nil
            do {
                _ = try #require(implementation, "\(error)", sourceLocation: test.sourceLocation)
            } catch { return error }
        case .xctest:
            #if canImport(XCTest)
            // The same is true of this one.
            do {
                _ = try XCTUnwrap(nil as Int?, "\(error)", file: place.file, line: place.line)
            } catch {
                return error
            }
            #endif
        default: fail("\(error)", at: place)
        }
        return error
    }

    /// Writes to standard error.
    static func printError(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

    private static func location(of place: SourcePlace?) -> SourceLocation {
        guard let place else { return SourceLocation(fileID: "unknown/place", filePath: "unknown", line: 1, column: 1) }
        return SourceLocation(
            fileID: "\(place.fileID)", filePath: "\(place.file)", line: Int(place.line), column: place.column)
    }
}

extension SourcePlace {
    fileprivate var file: StaticString { filePath ?? fileID }
}

/// What runs the tests of this process.
private enum Process {
    private static let arguments = ProcessInfo.processInfo.arguments
    private static let environment = ProcessInfo.processInfo.environment

    /// Whether XCTest does: then a failure on any thread belongs to its present test.
    static let runsXCTest: Bool = {
        #if canImport(Darwin)
        let names = ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier"]
        return names.contains { environment[$0] != nil } || arguments.first?.hasSuffix("/xctest") == true
        #elseif canImport(XCTest)
        // The test product is a program that runs the tests of either library.
        return arguments.first?.hasSuffix(".xctest") == true && !namesSwiftTesting
        #else
        return false
        #endif
    }()

    /// Whether Swift Testing does, also for the body of an exit test.
    static let runsSwiftTesting = namesSwiftTesting || environment["SWT_EXIT_TEST_ID"] != nil

    private static let namesSwiftTesting = arguments.contains { $0.hasSuffix("swift-testing") }
}
