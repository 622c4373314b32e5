#if canImport(SwiftUI)
import SwiftUI
#endif
import Fugu
import FuguLoadStates
import Observation
import Synchronization
import Testing

/// Declarations that the page takes for granted.
nonisolated private func readSensor() -> Double { 20 }
nonisolated private func downloadReport(for city: String) async throws -> String { "Rain in \(city)" }

/// A namespace: other pages have other cities.
enum SwiftUIPage {
    struct Forecast: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        let text: String

        static func load(in container: any FeatureContainer) -> Forecast { Forecast(text: "Snow in \(container.city)") }
    }

    struct Report: AsyncFeature {
        static var reloadsWhenInputsChange: Bool { true }
        let text: String

        static func load(in container: any FeatureContainer) async throws -> Report {
            Report(text: try await downloadReport(for: container.city))
        }
    }

    struct ReportView: View {
        @Environment(ObservableContainer.self) private var container

        var body: some View {
            switch container.state(of: Report.self) {
            case .idle: Text("Closed")
            case .loading(let previous): Text(previous?.text ?? "Loading")
            case .loaded(let report): Text(report.text)
            case .failed(let error, _): Text("\(error)")
            }
        }
    }

    struct WeatherApp: App {
        private let container = Container.shared.observable

        var body: some Scene {
            WindowGroup { ForecastView().environment(container) }
        }
    }

    struct ForecastView: View {
        @Environment(ObservableContainer.self) private var container

        var body: some View {
            Text(container[Forecast.self].text)
        }
    }

    struct CityField: View {
        @Environment(ObservableContainer.self) private var container

        var body: some View {
            @Bindable var settings = container
            TextField("City", text: $settings.city)
        }
    }

    @MainActor @Observable final class CityModel {
        @ObservationIgnored @Injected(Forecast.self) private var forecast
        private let container = Container.current
        private(set) var lines: [String] = []

        func refresh() { lines.append(forecast.text) }

        /// A model that finds the same container, even if a view's action creates it.
        func child() -> CityModel { Container.with(container) { CityModel() } }
    }

    struct Window: View {
        @State private var container = Container.shared.child { $0.city = "Bergen" }.observable

        var body: some View {
            ForecastView().environment(container)
        }
    }

    struct Sensor: Feature, External {
        let degrees: @Sendable () -> Double

        static func load(in container: any FeatureContainer) -> Sensor { Sensor { readSensor() } }
        static var placeholder: Sensor { Sensor(degrees: unimplemented("Sensor.degrees", placeholder: 0)) }
        static var preview: Sensor { Sensor { 21.5 } }
    }
}

/// A namespace for the README.
enum ReadmeApp {
    struct ShopApp: App {
        private let container = Container.shared.observable
        var body: some Scene { WindowGroup { UserView().environment(container) } }
    }
    struct UserView: View {
        @Environment(ObservableContainer.self) private var container
        var body: some View {
            @Bindable var settings = container
            TextField("Name", text: $settings.user)
            Text("Orders of \(container.user)")
        }
    }
}

private typealias ForecastView = SwiftUIPage.ForecastView

@MainActor func forecastPreview() -> some View {
    let container = Container()
    container.city = "Tromsø"
    return ForecastView().environment(container.observable)
}

extension EnvironmentValues {
    var container: Container {
        get { self[ContainerEnvironmentKey.self] }
        set { self[ContainerEnvironmentKey.self] = newValue }
    }
}

private struct ContainerEnvironmentKey: EnvironmentKey {
    static var defaultValue: Container { .current }
}

/// A namespace for the page about SwiftUI's environment.
enum EnvironmentPage {
    struct Heading: View {
        @Environment(ObservableContainer.self) private var container
        var body: some View { Text(container[HeadingText.self].text) }
    }

    struct HeadingText: Feature {
        static var reloadsWhenInputsChange: Bool { true }
        let text: String

        static func load(in container: any FeatureContainer) -> HeadingText {
            HeadingText(text: "A \(container.accent) heading")
        }
    }

    struct Article: View {
        @State private var warning = Container.shared.child { $0.accent = "red" }.observable

        var body: some View {
            Heading()
            Heading().environment(warning)
        }
    }
}

extension Snippets {
    @Test("SwiftUI: what a view reads from the observable container is tracked, key by key")
    func tracked() {
        let container = Container()
        let notifications = Mutex(0)
        let track = {
            withObservationTracking {
                container.observable[SwiftUIPage.Forecast.self].text
            } onChange: {
                notifications.withLock { $0 += 1 }
            }
        }
        #expect(track() == "Snow in Oslo")
        container.accent = "green"
        #expect(notifications.withLock { $0 } == 0)
        container.city = "Rome"
        #expect(notifications.withLock { $0 } == 1)
        #expect(track() == "Snow in Rome")
    }

    @Test("SwiftUI: a model that an action makes finds the container of the model that makes it")
    @MainActor func childModels() {
        let model = Container.with {
            $0.city = "Bergen"
        } operation: {
            SwiftUIPage.CityModel()
        }
        let child = model.child()
        child.refresh()
        #expect(child.lines == ["Snow in Bergen"])
        let orphan = SwiftUIPage.CityModel()
        orphan.refresh()
        #expect(orphan.lines == ["Snow in Oslo"])
    }

    @Test("Coming from SwiftUI's environment: a subtree overrides, and the text follows")
    func environment() async throws {
        typealias HeadingText = EnvironmentPage.HeadingText
        try await run {
            let container = Container()
            print(container[HeadingText.self].text)  // A blue heading
            container.accent = "red"
            print(container[HeadingText.self].text)  // A red heading
            let subtree = container.child {
                $0.accent = "green"
                $0.margin += 8
            }
            print(subtree[HeadingText.self].text)  // A green heading
            print(subtree.margin - container.margin)  // 8
        }
    }
}
