import Fugu
import FuguTesting
import StrictnessCases
import XCTest

/// Law 19 as XCTest shows it: the same cases as in `StrictTests`.
final class StrictXCTests: XCTestCase {
    private struct Failure: Equatable {
        let text: String
        let file: String
        let line: Int
    }

    /// While this is not nil, failures are expected and go here.
    private var expected: [Failure]?

    #if canImport(Darwin)
    override func record(_ issue: XCTIssue) {
        guard expected != nil else { return super.record(issue) }
        let place = issue.sourceCodeContext.location
        expected?.append(
            Failure(
                text: issue.compactDescription, file: place?.fileURL.path ?? "", line: place?.lineNumber ?? 0))
    }
    #else
    override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected isExpected: Bool
    ) {
        guard expected != nil else {
            return super.recordFailure(
                withDescription: description, inFile: filePath, atLine: lineNumber, expected: isExpected)
        }
        expected?.append(Failure(text: description, file: filePath, line: lineNumber))
    }
    #endif

    /// The failures of `body`, which are none of this test.
    private func failures(_ body: () async throws -> Void) async throws -> [Failure] {
        expected = []
        do {
            try await body()
        } catch {
            expected = nil
            throw error
        }
        defer { expected = nil }
        return expected ?? []
    }

    #if canImport(Darwin)
    /// What XCTest says before the text of a failure.
    private static var prefix: some RegexComponent { #/^(failed|XCTUnwrap failed: .*"ValueSetForTheTest") - /# }
    #else
    private static let prefix = "failed - "
    #endif

    func testEveryCaseFailsAsItShould() async throws {
        for test in StrictnessCase.all {
            var answer = ""
            let line = #line + 2
            let failures = try await failures {
                let container = Container.strict()
                answer = try await test.run(container)
            }
            XCTAssertEqual(answer, StrictnessCase.byHand(test.answer), "\(test)")
            // Doubles without a closure are made elsewhere.
            let places = Set(failures.map { $0.file.hasSuffix("Probes.swift") ? "" : "\($0.file):\($0.line)" })
            XCTAssertTrue(places.subtracting([""]).isSubset(of: ["\(#filePath):\(line)"]), "\(places)")
            let texts = failures.map {
                StrictnessCase.withoutPlace($0.text.replacing(Self.prefix, with: ""))
            }
            XCTAssertEqual(texts, test.failuresByHand, "\(test)")
        }
    }

    private struct Postbox: Feature, External {
        let sender = Sender()
        static func load(in container: any FeatureContainer) -> Postbox { Postbox() }
        static var placeholder: Postbox { Postbox() }
    }

    func testAForgottenDoubleFailsTheTestOnce() async throws {
        var senders: [Sender] = []
        let failures = try await failures {
            for container in [Container.strict(), Container.shared] {
                senders.append(container[Postbox.self].sender)
                XCTAssertEqual(senders.last?.count(), 7)
            }
        }
        XCTAssertEqual(failures.count, 2, "\(failures)")
        XCTAssertTrue(failures.allSatisfy { $0.text.contains("Fugu: Postbox reaches outside") }, "\(failures)")
        // XCTest ignores these errors, the second of which leaves the test.
        XCTAssertThrowsError(try senders[0].send("a", 1)) { XCTAssertFalse($0 is UnimplementedError) }
        try senders[1].flush()
    }

    func testConfiguringBeforeTheFirstRead() throws {
        let container = Container.strict { $0[Mailer.self] = Mailer(name: "double") }
        XCTAssertEqual(container[Account.self].signup.mailer.name, "double")
    }

    func testUsesOfTheSharedContainerFailWhereTheTestMakesItsOwn() async throws {
        let line = #line + 2
        let failures = try await failures {
            Container.strict { _ in
            } operation: {
                for _ in 1...2 { _ = Container.shared[Doubled.self] }
                _ = Container.shared[Mailer.self]
            }
            _ = Container.shared[Doubled.self]
        }
        XCTAssertEqual(failures.count, 2)
        for (failure, name) in zip(failures, ["Doubled", "Mailer"]) {
            XCTAssertEqual("\(failure.file):\(failure.line)", "\(#filePath):\(line)")
            let text = "Fugu: \(name) was read through Container.shared, in a test that has its own container."
            XCTAssertTrue(failure.text.contains(text), failure.text)
        }
    }

    private enum Depth: Property {
        static var defaultValue: Int { 0 }
    }

    private struct Reader: Feature {
        static func load(in container: any FeatureContainer) -> Int { container[Depth.self] }
    }

    /// The test has made both, so the report doesn't say that code should read from the current container.
    func testAReportInAChildOfTheSharedContainerSaysNothingOfThat() async throws {
        let failures = try await failures {
            Container.with(Container.current.child { $0[Depth.self] = 1 }) {
                _ = Container.current[Reader.self]
                Container.current[Depth.self] = 2
            }
        }
        #if DEBUG
        XCTAssertEqual(failures.count, 1, "\(failures)")
        XCTAssertTrue(failures[0].text.contains("Depth was set, and Reader"), failures[0].text)
        XCTAssertFalse(failures[0].text.contains("This happened in Container.shared"), failures[0].text)
        #endif
    }

    func testFailuresOfOtherThreadsAreOnesOfTheTest() async throws {
        let failures = try await failures {
            let container = Container.strict()
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    _ = container[Mailer.self]
                    continuation.resume()
                }
            }
        }
        XCTAssertEqual(failures.count, 1)
    }
}
