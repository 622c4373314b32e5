import Support
import Testing

@testable import Fugu

@Suite("A container at first sight") struct ContainerTests {}

extension ContainerTests {
    struct Name: Property { static var defaultValue: String { "world" } }
    struct Greeting: Feature {
        let text: String
        static func load(in container: any FeatureContainer) -> Greeting {
            Greeting(text: "Hello, \(container[Name.self])")
        }
    }

    @Test("reads defaults, sets, and loads features from what is set")
    func basics() {
        let container = Container()
        expect(container[Name.self], equals: "world")
        container[Name.self] = "Ada"
        expect(container[Greeting.self].text, equals: "Hello, Ada")
        expect(Container { $0[Name.self] = "Eve" }[Greeting.self].text, equals: "Hello, Eve")
    }
}

// `Tests/Tools/TwoCopies` has a process with two copies.
@Suite("Two copies of the module in one process") struct CopiesTests {}

extension CopiesTests {
    static let cases: [Case<CopiesTests>] = [
        Case("A process with one copy reports nothing, and the runtime finds this copy by its name", one),
        Case("The message names both files, as far as they are known, and the cure", message),
        Case("A type's address leads to the file that it was loaded from", path),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<CopiesTests>) async throws { try await stated.run(self) }

    func one() throws {
        expect(Copies.report == nil)
        let name = try #require(_mangledTypeName(Container.self))
        expect(_typeByName(name) == Container.self)
    }

    func message() {
        let text = Messages.twoCopies("/app/Shop", "/tests/ShopTests")
        expect(text.hasPrefix("Fugu: this process has two copies of Fugu, in /app/Shop and in /tests/ShopTests. "))
        expect(text.contains("Container.shared"))
        expect(text.contains("a dynamic library that both of them use"))
        expect(Messages.twoCopies(nil, nil).contains("in one file and in another. "))
    }

    func path() throws {
        let address = UInt(bitPattern: ObjectIdentifier(Container.self))
        #if os(Linux) || canImport(Darwin)
        try expect(#require(PlatformImage.path(at: address)).contains("FuguPackageTests"))
        #endif
        expect(PlatformImage.path(at: 0) == nil)
    }
}

@Suite("A configurable reads its own container") struct ConfigurableTests {}

extension ConfigurableTests {
    static let cases: [Case<ConfigurableTests>] = [
        Case("with(configuration:) assigns and gives the object back", with),
        Case("reloadConfiguration assigns the same container, so that didSet runs once", reload),
        Case("works through the protocol, whatever the type", existential),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<ConfigurableTests>) async throws { try await stated.run(self) }

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

    func with() {
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

    func existential() {
        let container = Container()
        let windows = [Window(), Window()]
        let parts: [any Configurable] = windows
        for part in parts { part.with(configuration: container) }
        container[Title.self] = "all"
        parts.forEach { $0.reloadConfiguration() }
        expect(windows.map(\.drawn), equals: [["untitled", "all"], ["untitled", "all"]])
    }

    @Test("may belong to an actor") @MainActor
    func isolated() {
        let panel = Panel()
        panel.reloadConfiguration()
        panel.with(configuration: Container(copying: .shared))
        expect(panel.drawings, equals: 2)
    }
}
