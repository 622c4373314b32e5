import Early
import Fugu
import FuguTesting
import Testing
import Weather

@Suite struct TraitTests {
    @Test(.container { $0[WeatherClient.self].degrees = { _ in 21 } })
    func sets() { #expect(Container.current[Forecast.self].text == "21°") }

    @Test(.container) func modifies() {
        Container.current.modify(WeatherClient.self) { $0.degrees = { _ in 21 } }
        #expect(Container.current[Forecast.self].text == "21°")
    }

    @Test(.liveContainer) func live() { #expect(Container.current[Forecast.self].text == "99°") }

    @Test func liveOperation() async throws {
        #expect(Container.live { Container.current[Forecast.self].text } == "99°")
        #expect(try await Container.live { try await Container.current[Forecast.self].refresh() } == 99)
    }

    @Test(.container) func fails() { #expect(Container.current[Forecast.self].text == "-1°") }

    @Test(.container { $0[WeatherClient.self].degrees = { _ in 21 } })
    func throwing() throws { try Container.current[Forecast.self].warn() }

    @Test(.container { $0[WeatherClient.self].degrees = { _ in 21 } })
    func throwingLater() async throws { _ = try await Container.current[Forecast.self].refresh() }

    @Test(.container) func detached() async {
        let container = Container.current
        await Task.detached { _ = container[WeatherClient.self] }.value
    }

    @Test(.container { $0[City.self] = "Bergen" }) func testValue() {
        #expect(Container.current[Archive.self] == ["0° in Bergen"])
    }

    @Test(.container) func root() { #expect(serve() == "-1°") }

    @Test(.liveContainer) func liveRoot() { #expect(serve() == "99°") }

    // The task knows neither its test nor the container.
    @Test(.container) func unbound() async {
        await Task.detached { _ = Container.current[Forecast.self].text }.value
    }

    @Test(.container) func shared() { _ = Container.shared[WeatherClient.self] }

    @Test func exitTest() async {
        await #expect(processExitsWith: .success) { _ = Container.strict()[Forecast.self] }
    }
}
