import Fugu

extension Properties {
    static let accent = PropertyKey(defaultValue: "blue")
    static let margin = PropertyKey(defaultValue: 8)
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
