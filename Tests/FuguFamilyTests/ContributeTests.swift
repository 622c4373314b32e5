import Fugu
import FuguInspection
import Support
import Testing

private enum Steps: Feature {
    static func load(in container: any FeatureContainer) -> [String] { ["first"] }
}
extension ContainerKeys {
    fileprivate var steps: FeatureKey<[String]> { .init(Steps.self) }
}

@Suite("Contributions: modules, tests, and children add to a list")
struct ContributeTests {
    private let routes = FeatureKey<[Route]>(id: UniqueID()) { _ in [Route("own")] }
}

extension ContributeTests {
    struct Level: Property { static var defaultValue: Int { 1 } }
    struct RequestID: Property { static var defaultValue: Int { 0 } }

    final class Route: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private func texts(_ container: Container) -> [String] { container[routes].map(\.text) }

    @Test("The list's own elements come first, then those of ancestors, each container's in the order of the calls")
    func order() {
        let container = Container()
        let child = container.child()
        child.contribute(to: { _ in routes }) { _ in Route("child 1") }
        container.contribute(to: { _ in routes }) { _ in Route("root 1") }
        container.contribute(to: { _ in routes }) { _ in Route("root 2") }
        let grandchild = child.child()
        grandchild.child().contribute(to: { _ in routes }) { _ in Route("elsewhere") }
        grandchild.contribute(to: { _ in routes }) { _ in Route("grandchild") }
        child.contribute(to: { _ in routes }) { _ in Route("child 2") }
        expect(texts(container), equals: ["own", "root 1", "root 2"])
        expect(texts(child), equals: ["own", "root 1", "root 2", "child 1", "child 2"])
        expect(texts(grandchild), equals: ["own", "root 1", "root 2", "child 1", "child 2", "grandchild"])
        expect(texts(container.child()), equals: ["own", "root 1", "root 2"])
    }

    @Test("Each element is loaded by its own loader, once, and what it reads is its input alone (laws 3 and 16)")
    func elements() {
        let container = Container()
        let loads = Counter()
        container.contribute(to: { _ in routes }) { _ in
            loads.add()
            return Route("plain")
        }
        container.contribute(to: { _ in routes }) { Route("level \($0[Level.self])") }
        expect(texts(container), equals: ["own", "plain", "level 1"])
        let child = container.child { $0[Level.self] = 5 }
        expect(texts(child), equals: ["own", "plain", "level 5"])
        expect(child[routes][0] === container[routes][0] && child[routes][1] === container[routes][1])
        expect(loads.value, equals: 1)
        expect(container.child()[routes][2], is: container[routes][2])
    }

    @Test("A feature whose instance is an array is such a list, by its type and by the member that names it")
    func type() {
        let container = Container()
        container.contribute(to: Steps.self) { "level \($0[Level.self])" }
        container.contribute(to: \.steps) { _ in "last" }
        expect(container.steps, equals: ["first", "level 1", "last"])
        expect(container.child { $0[Level.self] = 2 }[Steps.self], equals: ["first", "level 2", "last"])
    }

    @Test("An element of a child is no element of its siblings, even if the same line adds it (law 14)")
    func siblings() {
        let container = Container()
        let children = (1...3).map { number in
            container.child {
                $0[RequestID.self] = number
                $0.contribute(to: { _ in routes }) { _ in Route("fixed \(number)") }
            }
        }
        for (index, child) in children.enumerated() { expect(texts(child), equals: ["own", "fixed \(index + 1)"]) }
        expect(texts(container), equals: ["own"])
    }

    @Test("An element that is added later is in the next read, for children and observers, too (law 19)")
    func later() {
        let container = Container()
        let child = container.child()
        let seen = Log<Int>()
        expect(texts(child), equals: ["own"])
        child.observe({ _ in routes }) { seen.add($0.count) }
        container.contribute(to: { _ in routes }) { _ in Route("late") }
        expect(texts(container), equals: ["own", "late"])
        expect(texts(child), equals: ["own", "late"])
        expect(seen.all, equals: [2])
        container.contribute(to: { _ in routes }) { _ in Route("later") }
        expect(texts(child), equals: ["own", "late", "later"])
    }

    @Test("The elements of a list that reloads reload with it (law 19)")
    func reloads() {
        let list = FeatureKey<[String]>(reloadsWhenInputsChange: true, id: UniqueID()) { ["own \($0[Level.self])"] }
        let container = Container()
        container.contribute(to: { _ in list }) { "added \($0[Level.self])" }
        let child = container.child()
        child.contribute(to: { _ in list }) { "child \($0[RequestID.self])" }
        expect(child[list], equals: ["own 1", "added 1", "child 0"])
        container[Level.self] = 2
        expect(container[list], equals: ["own 2", "added 2"])
        child[RequestID.self] = 7
        expect(child[list], equals: ["own 2", "added 2", "child 7"])
    }

    @Test("Reset removes what this container has added, and releases it (laws 8 and 20)")
    func resets() {
        let container = Container()
        let child = container.child()
        container.contribute(to: { _ in routes }) { _ in Route("root") }
        weak let added: Route?
        do {
            child.contribute(to: { _ in routes }) { _ in Route("child") }
            added = child[routes].last
        }
        expect(added?.text, equals: "child")
        child.reset { _ in routes }
        expect(added == nil)
        expect(texts(child), equals: ["own", "root"])
        container.reset { _ in routes }
        expect(texts(container), equals: ["own"])
        container.contribute(to: { _ in routes }) { _ in Route("again") }
        expect(texts(container), equals: ["own", "again"])
    }

    @Test("Setting the list takes the place of all elements, and a child adds to what was set")
    func sets() {
        let container = Container()
        container.contribute(to: { _ in routes }) { _ in Route("root") }
        let child = container.child { $0[routes] = [Route("stub")] }
        child.child().contribute(to: { _ in routes }) { _ in Route("elsewhere") }
        expect(texts(child), equals: ["stub"])
        child.contribute(to: { _ in routes }) { _ in Route("added") }
        expect(texts(child), equals: ["stub", "added"])
        expect(texts(container), equals: ["own", "root"])
    }

    @Test("A container's decorations of a list are around all its elements, whatever the order of the calls (law 14)")
    func decorated() {
        let container = Container()
        container.contribute(to: { _ in routes }) { _ in Route("first") }
        container.decorate({ _ in routes }) { list, _ in list.map { Route("/\($0.text)") } }
        container.contribute(to: { _ in routes }) { _ in Route("second") }
        container.contribute(to: { _ in routes }) { _ in Route("third") }
        expect(texts(container), equals: ["/own", "/first", "/second", "/third"])
        let other = Container()
        other.decorate({ _ in routes }) { list, _ in list.map { Route("/\($0.text)") } }
        expect(texts(other), equals: ["/own"])
        other.contribute(to: { _ in routes }) { _ in Route("first") }
        other.decorate({ _ in routes }) { list, _ in list + [Route("\(list.count)")] }
        expect(texts(other), equals: ["/own", "/first", "2"])
        other.contribute(to: { _ in routes }) { _ in Route("second") }
        expect(texts(other), equals: ["/own", "/first", "/second", "3"])
        other.reset { _ in routes }
        expect(texts(other), equals: ["own"])
        other[routes] = [Route("set")]
        other.decorate({ _ in routes }) { list, _ in list.map { Route("/\($0.text)") } }
        other.contribute(to: { _ in routes }) { _ in Route("third") }
        expect(texts(other), equals: ["/set", "/third"])
    }

    @Test("The elements of a child are around what its ancestors decorate (law 14)")
    func decoratedAbove() {
        let container = Container()
        let child = container.child()
        child.contribute(to: { _ in routes }) { _ in Route("child") }
        child.decorate({ _ in routes }) { list, _ in list.map { Route("[\($0.text)]") } }
        container.decorate({ _ in routes }) { list, _ in list.map { Route("/\($0.text)") } }
        expect(texts(child), equals: ["[/own]", "[child]"])
        child.contribute(to: { _ in routes }) { _ in Route("second") }
        container.contribute(to: { _ in routes }) { _ in Route("root") }
        expect(texts(child), equals: ["[/own]", "[/root]", "[child]", "[second]"])
        expect(texts(container), equals: ["/own", "/root"])
    }

    @Test("A copy has the elements of a container and of its ancestors, in the same order (law 18)")
    func copies() {
        let container = Container()
        container.contribute(to: { _ in routes }) { Route("root \($0[Level.self])") }
        let child = container.child { $0[Level.self] = 5 }
        child.contribute(to: { _ in routes }) { _ in Route("child") }
        let copy = Container(copying: child)
        expect(texts(copy), equals: ["own", "root 5", "child"])
        expect(copy[routes][1] !== child[routes][1])
    }

    @Test("The graph shows where each element was added, and where it lives")
    func origins() {
        let container = Container()
        container.contribute(to: { _ in routes }, fileID: "Search/Setup.swift", line: 12) {
            Route("level \($0[Level.self])")
        }
        let child = container.child { $0[Level.self] = 5 }
        child.contribute(to: { _ in routes }, fileID: "Shop/Setup.swift", line: 7) { _ in Route("child") }
        _ = child[routes]
        let entries = child.graph.entries.filter { $0.name.contains("Setup.swift") && $0.state == .loaded }
        expect(entries.count, equals: 2)
        expect(entries.allSatisfy { $0.container != 0 })
        expect(entries.contains { $0.name.hasSuffix("[0] (Search/Setup.swift:12)") && $0.anchors == ["Level"] })
        expect(entries.contains { $0.name.hasSuffix("[0] (Shop/Setup.swift:7)") && $0.anchors == [] })
    }

    @Test("A thousand elements are loaded in order, without nesting")
    func many() {
        let container = Container()
        for number in 1...1_000 { container.contribute(to: { _ in routes }) { _ in Route("\(number)") } }
        expect(texts(container), equals: ["own"] + (1...1_000).map { "\($0)" })
    }

    @Test("Elements that threads add at the same moment are all in the list (law 7)")
    func threads() {
        let container = Container()
        let list = FeatureKey<[Int]>(id: UniqueID()) { _ in [] }
        onThreads(8) { thread in
            for number in 0..<50 { container.contribute(to: { _ in list }) { _ in thread * 50 + number } }
        }
        expect(container[list].sorted(), equals: Array(0..<400))
    }

    @Test("Elements that one line adds before and after a decoration are all there")
    func aroundDecoration() {
        let container = Container()
        func add(_ text: String) { container.contribute(to: { _ in routes }) { _ in Route(text) } }
        add("a")
        container.decorate({ _ in routes }) { routes, _ in routes.map { Route("[\($0.text)]") } }
        add("b")
        add("c")
        expect(texts(container), equals: ["[own]", "[a]", "[b]", "[c]"])
    }
}
