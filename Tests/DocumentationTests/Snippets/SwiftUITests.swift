import Fugu
import Observation
import Synchronization
import Testing

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
