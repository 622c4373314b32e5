import Fugu
import Testing
import Weather

// No trait, and no import of FuguTesting: what everybody writes first.
@Suite struct PlainTests {
    @Test func reads() { #expect(Container.current[Forecast.self].text == "-1°") }

    @Test func detached() async {
        await Task.detached { _ = Container.current[WeatherClient.self] }.value
    }

    @Test func throwing() throws { try Container.current[Forecast.self].warn() }

    @Test func swallowing() throws { try? Container.current[Forecast.self].warn() }

    @Test func root() { #expect(serve() == "-1°") }

    @Test func testValue() { #expect(Container.current[Archive.self] == ["0° in Oslo"]) }

    @Test func changes() {
        Container.current[Note.self] = "left behind"
        #expect(Container.current[Note.self] == "left behind")
    }

    @Test func startsUp() { #expect(Container.current[City.self] == "Oslo") }

    // Arguments and conditions are evaluated before any test runs.
    @Test(arguments: [Container.current[WeatherClient.self].degrees("Oslo")])
    func argument(degrees: Int) { #expect(Container.current[City.self] == "Oslo") }

    @Test(.enabled(if: Container.current[WeatherClient.self].degrees("Oslo") < 0))
    func condition() { #expect(Container.current[City.self] == "Oslo") }

    @Test(.enabled(if: mark() == 1)) func changedBefore() { #expect(Container.current[City.self] == "Oslo") }

    @Test(arguments: [Container.current[City.self]]) func harmless(city: String) { #expect(city == "Oslo") }
}

private enum Mark: Property {
    static var defaultValue: Int { 0 }
}

/// Changes what other tests have, too.
private func mark() -> Int {
    Container.shared[Mark.self] = 1
    return Container.shared[Mark.self]
}
