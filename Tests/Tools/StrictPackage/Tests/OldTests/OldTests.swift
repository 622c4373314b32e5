import Fugu
import FuguTesting
import Weather
import XCTest

final class OldTests: XCTestCase {
    func testReads() { XCTAssertEqual(Container.current[Forecast.self].text, "-1°") }

    func testThread() {
        let isRead = expectation(description: "read")
        Thread.detachNewThread {
            _ = Container.shared[WeatherClient.self]
            isRead.fulfill()
        }
        wait(for: [isRead], timeout: 60)
    }

    func testThrowing() throws { try Container.current[Forecast.self].warn() }

    func testChanges() { Container.current[Note.self] = "left behind" }

    func testStrict() {
        Container.strict {
            $0[WeatherClient.self].degrees = { _ in 21 }
        } operation: {
            XCTAssertEqual(Container.current[Forecast.self].text, "21°")
        }
    }

    func testStrictAsync() async throws {
        let degrees = try await Container.strict {
            $0[WeatherClient.self].refresh = { _ in 21 }
        } operation: {
            try await Container.current[Forecast.self].refresh()
        }
        XCTAssertEqual(degrees, 21)
    }

    func testReadsShared() {
        Container.strict(filePath: "OldTests/OldTests.swift") {
            $0[City.self] = "Bergen"
        } operation: {
            XCTAssertEqual(Container.shared[City.self], "Oslo")
        }
    }

    func testRoot() { XCTAssertEqual(serve(), "-1°") }

    func testLive() { XCTAssertEqual(Container.live { Container.current[Forecast.self].text }, "99°") }
}

final class OldSetUpTests: XCTestCase {
    private var degrees = 0

    override func setUp() { degrees = Container.current[WeatherClient.self].degrees("Oslo") }

    func testSetUp() { XCTAssertEqual(degrees, -1) }
}

/// A container that the test makes has no effect on code that reads the shared one.
final class OldContainerTests: XCTestCase {
    private let container = Container.strict { $0[City.self] = "Bergen" }
    private var changed: Container?

    override func setUp() { changed = Container.strict { $0[Note.self] = "own" } }

    func testMisses() { XCTAssertEqual(Container.current[City.self], "Oslo") }

    func testMissesChanged() { XCTAssertNotEqual(Container.current[Note.self], "own") }

    func testReads() {
        XCTAssertEqual(Container.with(container) { Container.current[City.self] }, "Bergen")
        XCTAssertEqual(changed?[Note.self], "own")
    }
}

final class OldPlainTests: XCTestCase {
    func testReadsShared() {
        XCTAssertEqual(Container.current[City.self], "Oslo")
        XCTAssertNotEqual(Container.current[Note.self], "own")
    }
}

/// Comes first by its name, so that the failure of its property is its own.
final class OldCaseTests: XCTestCase {
    private let forecast = Container.current[Forecast.self]

    func testProperty() throws { try forecast.warn() }
}
