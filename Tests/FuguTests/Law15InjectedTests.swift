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
    @Test("Made where nothing is bound, it asks whoever is current (law 15)")
    func unbound() {
        let painter = Painter()
        #expect(
            Container.with {
                $0.color = "red"
            } operation: {
                painter.color
            } == "red")
        let other = Container()
        other[Size.self] = 7
        #expect(Container.with(other) { painter.size } == 7)
        #expect(painter.color == "grey" && painter.count == 10)
    }

    @Test("Made in a container, it asks that one and those below, and no other (law 15)")
    func bound() async {
        let root = Container()
        root.color = "red"
        let painter = Container.with(root) { Painter() }
        #expect(painter.color == "red")
        let child = root.child { $0.color = "blue" }
        #expect(Container.with(child) { painter.color } == "blue")
        #expect(Container.with(child.child()) { painter.paint } == "blue paint")
        #expect(Container.with(child) { painter.brush.color } == "blue")
        let stranger = Container()
        stranger.color = "green"
        #expect(Container.with(stranger) { painter.color } == "red")
        let below = Container.with(child) { Painter() }
        #expect(Container.with(root) { below.color } == "blue")
        #expect(await Container.with(child) { await Task { painter.color }.value } == "blue")
    }

    @Test("Made while a feature loads, it follows the overrides of the feature's caller (law 15)")
    func inFeature() {
        let root = Container()
        root.color = "red"
        let painter = root[Painter.self]
        #expect(painter.color == "red")
        let child = root.child { $0.color = "blue" }
        #expect(Container.with(child) { painter.color } == "blue")
        #expect(Container.with(child) { painter.count } == 10)
        #expect(Container.with(Container()) { painter.color } == "red")
        root.color = "white"
        #expect(painter.paint == "white paint")
    }

    @Test("A feature's home is what counts, not who asked for it (law 15)")
    func home() {
        let root = Container()
        let child = root.child { $0[Size.self] = 2 }
        let grandchild = child.child { $0.color = "blue" }
        let local = grandchild[Local.self]
        #expect(local.size == 2 && local.color == "grey")
        #expect(Container.with(grandchild) { local.color } == "blue")
        root.color = "red"
        #expect(Container.with(root) { local.color } == "red")
        child.color = "pink"
        #expect(Container.with(root) { local.color } == "pink")
        #expect(Container.with(child.child { $0.color = "green" }) { local.color } == "green")
    }

    @Test("A read while another feature loads is that feature's input (law 15)")
    func recorded() {
        struct Reader: Feature {
            let color: String
            static func load(in container: any FeatureContainer) -> Reader {
                Reader(color: container[Painter.self].color)
            }
        }
        let root = Container()
        #expect(root[Reader.self].color == "grey")
        #expect(root.child { $0.color = "blue" }[Reader.self].color == "blue")
        #expect(root[Reader.self].color == "grey")
    }

    @Test("A given container is always asked (law 15)")
    func given() {
        let (root, other) = (Container(), Container())
        root.color = "red"
        other.color = "green"
        let wrapper = Injected(\.color, in: root)
        #expect(Container.with(other) { wrapper.wrappedValue } == "red")
        #expect(Container.with(root.child { $0.color = "blue" }) { wrapper.wrappedValue } == "red")
    }

    @Test("It does not keep the container that a feature was loaded in (law 8)")
    func noCircle() {
        var container: Container? = Container()
        weak let alive = container
        let painter = container![Painter.self]
        #expect(painter.color == "grey")
        container = nil
        #expect(alive == nil)
    }
}
