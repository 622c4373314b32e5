import Fugu

// | `@Entry var accent = "blue"` in `EnvironmentValues` |
extension ContainerKeys {
    var accent: PropertyKey<String> { .init(defaultValue: "blue") }
    var margin: PropertyKey<Int> { .init(defaultValue: 8) }
}

final class Legend: Configurable {
    var configuration = Container.shared
    var text: String { "legend in \(configuration.accent)" }
}

final class Chart: Configurable {
    let legend = Legend()
    var drawings = 0

    var configuration = Container.shared {
        didSet {
            legend.configuration = configuration
            drawings += 1
        }
    }
}
