import Fugu
import FuguScopes
import Support
import Testing

/// A configurable reads its own container.
struct ConfigurableTests {}

extension ConfigurableTests {
    struct Title: Property { static var defaultValue: String { "untitled" } }

    final class Window: Configurable {
        private(set) var drawn: [String] = []
        private(set) var assigned: [Container] = []
        var configuration = Container() {
            didSet {
                assigned.append(configuration)
                drawn.append(configuration[Title.self])
            }
        }
    }

    @MainActor final class Panel: @MainActor Configurable {
        var drawings = 0
        var configuration = Container() { didSet { drawings += 1 } }
    }

    @Test("with(configuration:) assigns and gives the object back, through the protocol, too")
    func with() {
        // with(configuration:) assigns and gives the object back.
        do {
            let container = Container()
            container[Title.self] = "main"
            let window = Window()
            let same = window.with(configuration: container)
            expect(same, is: window)
            expect(window.configuration, is: container)
            expect(window.drawn, equals: ["main"])
            window.with(configuration: Container())
            expect(window.drawn, equals: ["main", "untitled"])
        }
        // works through the protocol, whatever the type.
        do {
            let container = Container()
            let windows = [Window(), Window()]
            let parts: [any Configurable] = windows
            for part in parts { part.with(configuration: container) }
            container[Title.self] = "all"
            parts.forEach { $0.reloadConfiguration() }
            expect(windows.map(\.drawn), equals: [["untitled", "all"], ["untitled", "all"]])
        }
    }

    @Test("reloadConfiguration assigns the same container, so that didSet runs once")
    func reload() {
        let window = Window()
        let container = window.configuration
        container[Title.self] = "changed"
        expect(window.drawn.isEmpty)
        window.reloadConfiguration()
        expect(window.drawn, equals: ["changed"])
        expect(window.assigned.count, equals: 1)
        expect(window.assigned.allSatisfy { $0 === container })
    }

    @Test("may belong to an actor") @MainActor
    func isolated() {
        let panel = Panel()
        panel.reloadConfiguration()
        panel.with(configuration: Container(copying: .shared))
        expect(panel.drawings, equals: 2)
    }
}
