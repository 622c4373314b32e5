import Fugu

extension ContainerKeys {
    var mode: PropertyKey<String> { .init(defaultValue: "day") }
}

/// Declarations that the page takes for granted.
@MainActor final class Window {
    var title = ""
}

func refreshLater(_ schedule: (@escaping @Sendable () -> Void) -> Void) {
    let container = Container.current
    schedule {
        Container.with(container) { print(Container.current.mode) }
    }
}

actor Counter: Feature {
    @Injected(\.mode) var mode
    private var count = 0

    static func load(in container: any FeatureContainer) -> Counter { Counter() }

    func increment() -> String {
        count += 1
        return "\(mode): \(count)"
    }
}

final class Lamp: Sendable {
    private let container = Container.current

    var isOn: Bool { container.mode == "night" }
}

@MainActor final class Dashboard: MainActorFeature {
    let title: String
    init(title: String) { self.title = title }

    static func load(in container: any FeatureContainer) -> Dashboard { Dashboard(title: "It is \(container.mode)") }
}

@MainActor func show(_ container: Container) -> String { container[Dashboard.self].title }

extension ContainerKeys {
    var dashboard: MainActorFeatureKey<Dashboard> { .init(Dashboard.self) }
}

@MainActor final class Toolbar {
    @MainActorInjected(\.dashboard) var dashboard

    var title: String { "Tools for: \(dashboard.title)" }
}

@MainActor func follow(_ container: Container, _ dashboard: Window) {
    let modes = container.values(of: \.mode)
    Task { [weak dashboard] in
        for await mode in modes { dashboard?.title = mode }
    }
}
