import Fugu
import Support
import Testing

extension ContainerKeys {
    fileprivate var color: PropertyKey<String> { .init(defaultValue: "grey") }
    fileprivate var paint: FeatureKey<String> { .init { "\($0.color) paint" } }
}

private enum Size: Property { static var defaultValue: Int { 1 } }

private struct Brush: Feature {
    let color: String
    static func load(in container: any FeatureContainer) -> Brush { Brush(color: container.color) }
}

/// Reads late, through wrappers that are made while it loads.
private struct Painter: Feature {
    @Injected(\.color) var color
    @Injected(\.paint) var paint
    @Injected(\.paint.count) var count
    @Injected(Size.self) var size
    @Injected(Brush.self) var brush

    static func load(in container: any FeatureContainer) -> Painter { Painter() }
}

/// A home in whoever sets the size.
private struct Local: Feature {
    let size: Int
    @Injected(\.color) var color
    static func load(in container: any FeatureContainer) -> Local { Local(size: container[Size.self]) }
}

@Suite("Law 15: @Injected asks at each access") struct Law15InjectedTests {
    static let cases: [Case<Law15InjectedTests>] = [
        Case("Made where nothing is bound, it asks whoever is current (law 15)", unbound),
        Case("Made in a container, it asks that one and those below, and no other (law 15)", bound),
        Case("Made while a feature loads, it follows the overrides of the feature's caller (law 15)", inFeature),
        Case("A feature's home is what counts, not who asked for it (law 15)", home),
        Case("A read while another feature loads is that feature's input (law 15)", recorded),
        Case("A given container is always asked (law 15)", given),
        Case("It does not keep the container that a feature was loaded in (law 8)", noCircle),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law15InjectedTests>) async throws {
        try await stated.run(self)
    }

    func unbound() {
        let painter = Painter()
        expect(
            Container.with {
                $0.color = "red"
            } operation: {
                painter.color
            }, equals: "red")
        let other = Container()
        other[Size.self] = 7
        expect(Container.with(other) { painter.size }, equals: 7)
        expect(painter.color, equals: "grey")
        expect(painter.count, equals: 10)
    }

    func bound() async {
        let root = Container()
        root.color = "red"
        let painter = Container.with(root) { Painter() }
        expect(painter.color, equals: "red")
        let child = root.child { $0.color = "blue" }
        expect(Container.with(child) { painter.color }, equals: "blue")
        expect(Container.with(child.child()) { painter.paint }, equals: "blue paint")
        expect(Container.with(child) { painter.brush.color }, equals: "blue")
        let stranger = Container()
        stranger.color = "green"
        expect(Container.with(stranger) { painter.color }, equals: "red")
        let below = Container.with(child) { Painter() }
        expect(Container.with(root) { below.color }, equals: "blue")
        await expect(Container.with(child) { await Task { painter.color }.value }, equals: "blue")
    }

    func inFeature() {
        let root = Container()
        root.color = "red"
        let painter = root[Painter.self]
        expect(painter.color, equals: "red")
        let child = root.child { $0.color = "blue" }
        expect(Container.with(child) { painter.color }, equals: "blue")
        expect(Container.with(child) { painter.count }, equals: 10)
        expect(Container.with(Container()) { painter.color }, equals: "red")
        root.color = "white"
        expect(painter.paint, equals: "white paint")
    }

    func home() {
        let root = Container()
        let child = root.child { $0[Size.self] = 2 }
        let grandchild = child.child { $0.color = "blue" }
        let local = grandchild[Local.self]
        expect(local.size, equals: 2)
        expect(local.color, equals: "grey")
        expect(Container.with(grandchild) { local.color }, equals: "blue")
        root.color = "red"
        expect(Container.with(root) { local.color }, equals: "red")
        child.color = "pink"
        expect(Container.with(root) { local.color }, equals: "pink")
        expect(Container.with(child.child { $0.color = "green" }) { local.color }, equals: "green")
    }

    func recorded() {
        struct Reader: Feature {
            let color: String
            static func load(in container: any FeatureContainer) -> Reader {
                Reader(color: container[Painter.self].color)
            }
        }
        let root = Container()
        expect(root[Reader.self].color, equals: "grey")
        expect(root.child { $0.color = "blue" }[Reader.self].color, equals: "blue")
        expect(root[Reader.self].color, equals: "grey")
    }

    func given() {
        let (root, other) = (Container(), Container())
        root.color = "red"
        other.color = "green"
        let wrapper = Injected(\.color, in: root)
        expect(Container.with(other) { wrapper.wrappedValue }, equals: "red")
        expect(Container.with(root.child { $0.color = "blue" }) { wrapper.wrappedValue }, equals: "red")
    }

    func noCircle() {
        var container: Container? = Container()
        weak let alive = container
        let painter = container![Painter.self]
        expect(painter.color, equals: "grey")
        container = nil
        expect(alive == nil)
    }
}
