import Foundation
import Testing

#if canImport(XCTest)
import XCTest
#endif

/// A place in a test.
struct Place: Sendable {
    let fileID: StaticString
    let filePath: StaticString
    let line: Int
    let column: Int

    var sourceLocation: SourceLocation {
        SourceLocation(fileID: "\(fileID)", filePath: "\(filePath)", line: line, column: column)
    }
}

/// Failures of what a test made by hand, told to whatever runs the test.
enum Failure {
    /// Takes failures of something that was made at `place` by the test that runs now, if one does.
    static func handler(at place: Place) -> @Sendable (String) -> Void {
        // A thread of the test does not know the test, but what the test made does.
        let (maker, makersTest) = (TestCase.current, Test.current)
        return { text in
            if let testCase = TestCase.current ?? maker {
                testCase.record(text)
            } else if let test = Test.current ?? makersTest {
                Issue.record("\(text)", sourceLocation: test.sourceLocation)
            } else {
                fail(text, at: place)
            }
        }
    }

    private static func fail(_ text: String, at place: Place) {
        #if canImport(XCTest)
        if isXCTest { return XCTFail(text, file: place.filePath, line: UInt(place.line)) }
        #endif
        fatalError("\(place.fileID):\(place.line): \(text)")
    }

    #if canImport(XCTest)
    /// Whether XCTest runs this process: then a failure on any thread belongs to its present test.
    private static let isXCTest: Bool = {
        let arguments = ProcessInfo.processInfo.arguments
        #if canImport(Darwin)
        let names = ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier"]
        if names.contains(where: { ProcessInfo.processInfo.environment[$0] != nil }) { return true }
        return arguments.first?.hasSuffix("/xctest") == true
        #else
        // The test product is a program that runs the tests of either library.
        guard arguments.first?.hasSuffix(".xctest") == true else { return false }
        return !arguments.contains { $0.hasSuffix("swift-testing") }
        #endif
    }()
    #endif
}
