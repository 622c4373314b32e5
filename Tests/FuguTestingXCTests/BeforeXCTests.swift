import Fugu
import FuguTesting
import StrictnessCases
import XCTest

#if !canImport(Darwin)
/// Law 29 where no test of XCTest runs, as when it makes the test cases, or between two classes.
final class BeforeXCTests: XCTestCase {
    private var failures: [String] = []

    override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected isExpected: Bool
    ) {
        if description.contains("while no test ran") { return failures.append(description) }
        super.recordFailure(withDescription: description, inFile: filePath, atLine: lineNumber, expected: isExpected)
    }

    override class func setUp() { for _ in 1...2 { _ = Container.shared[Mailer.self] } }

    func testWhatFailsWhileNoTestRunsFailsTheNextOne() {
        let failures = failures.filter { $0.contains("Fugu: Mailer reaches outside the process") }
        XCTAssertEqual(failures.count, 1, "\(failures)")
        XCTAssertTrue(failures.allSatisfy { $0.hasSuffix("Read from the container in the test itself.)") })
    }
}
#endif
