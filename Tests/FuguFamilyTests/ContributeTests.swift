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

/// Contributions: modules, tests, and children add to a list.
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

    @Test("The list's own elements come first, then those that it inherited, each in the order of the calls (law 10)")
    func order() {
        let container = Container()
        container.contribute(to: { _ in routes }) { _ in Route("root 1") }
        container.contribute(to: { _ in routes }) { _ in Route("root 2") }
        let child = container.child()
        child.contribute(to: { _ in routes }) { _ in Route("child 1") }
        let grandchild = child.child()
        grandchild.child().contribute(to: { _ in routes }) { _ in Route("elsewhere") }
        grandchild.contribute(to: { _ in routes }) { _ in Route("grandchild") }
        child.contribute(to: { _ in routes }) { _ in Route("child 2") }
        container.contribute(to: { _ in routes }) { _ in Route("root 3") }
        expect(texts(container), equals: ["own", "root 1", "root 2", "root 3"])
        expect(texts(child), equals: ["own", "root 1", "root 2", "child 1", "child 2"])
        expect(texts(grandchild), equals: ["own", "root 1", "root 2", "child 1", "grandchild"])
        expect(texts(container.child()), equals: ["own", "root 1", "root 2", "root 3"])
    }

    @Test("What an element reads is the list's input, and a child that overrides it has its own list (laws 3 and 10)")
    func elements() {
        let container = Container()
        let loads = Counter()
        container.contribute(to: { _ in routes }) { _ in
            loads.add()
            return Route("plain")
        }
        container.contribute(to: { _ in routes }) { Route("level \($0[Level.self])") }
        expect(texts(container), equals: ["own", "plain", "level 1"])
        expect(texts(container.child()), equals: ["own", "plain", "level 1"])
        expect(loads.value, equals: 1)
        let child = container.child { $0[Level.self] = 5 }
        expect(texts(child), equals: ["own", "plain", "level 5"])
        expect(loads.value, equals: 2)
        expect(container.child()[routes][2], is: container[routes][2])
    }

    @Test(
        "An element that is added later is in the next read, for observers too, and the elements reload with their list (law 12)"
    )
    func later() {
        // An element that is added later is in the next read, for children and observers, too.
        do {
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
        // The elements of a list that reloads reload with it.
        do {
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
    }

    @Test(
        "Reset removes what this container has added, and a set takes the place of all elements so far (laws 7 and 13)")
    func resets() {
        // Reset removes what this container has added, and releases it.
        do {
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
        // Setting the list takes the place of all elements, and later ones follow what was set.
        do {
            let container = Container()
            container.contribute(to: { _ in routes }) { _ in Route("root") }
            let child = container.child { $0[routes] = [Route("stub")] }
            child.child().contribute(to: { _ in routes }) { _ in Route("elsewhere") }
            expect(texts(child), equals: ["stub"])
            child.contribute(to: { _ in routes }) { _ in Route("added") }
            expect(texts(child), equals: ["stub", "added"])
            expect(texts(container), equals: ["own", "root"])
        }
    }

    @Test("The order of the calls is the order of layers, for elements and decorations alike (law 10)")
    func decorated() {
        let container = Container()
        func add(_ text: String, to container: Container) {
            container.contribute(to: { _ in routes }) { _ in Route(text) }
        }
        func wrap(_ text: String, in container: Container) {
            container.decorate({ _ in routes }) { list, _ in list.map { Route("\(text)(\($0.text))") } }
        }
        add("first", to: container)
        wrap("a", in: container)
        add("second", to: container)
        add("third", to: container)
        expect(texts(container), equals: ["a(own)", "a(first)", "second", "third"])
        let child = container.child()
        wrap("b", in: child)
        add("last", to: child)
        expect(texts(child), equals: ["b(a(own))", "b(a(first))", "b(second)", "b(third)", "last"])
        container[routes] = [Route("set")]
        wrap("a", in: container)
        add("fourth", to: container)
        expect(texts(container), equals: ["a(set)", "fourth"])
    }

    @Test("A copy has the elements of a container and of its ancestors, in the same order (law 2)")
    func copies() {
        let container = Container()
        container.contribute(to: { _ in routes }) { Route("root \($0[Level.self])") }
        let child = container.child { $0[Level.self] = 5 }
        child.contribute(to: { _ in routes }) { _ in Route("child") }
        let copy = Container(copying: child)
        expect(texts(copy), equals: ["own", "root 5", "child"])
        expect(copy[routes][1] !== child[routes][1])
    }

    @Test("Ten thousand elements are loaded in order, without nesting (law 20)")
    func many() {
        let container = Container()
        for number in 1...10_000 { container.contribute(to: { _ in routes }) { _ in Route("\(number)") } }
        expect(texts(container), equals: ["own"] + (1...10_000).map { "\($0)" })
    }

    @Test("A feature whose instance is an array is such a list, by its type and by the member that names it")
    func type() {
        let container = Container()
        container.contribute(to: Steps.self) { "level \($0[Level.self])" }
        container.contribute(to: \.steps) { _ in "last" }
        expect(container.steps, equals: ["first", "level 1", "last"])
        expect(container.child { $0[Level.self] = 2 }[Steps.self], equals: ["first", "level 2", "last"])
    }

    @Test("An element of a child is no element of its siblings, even if the same line adds it (law 10)")
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

    @Test("Elements that threads add at the same moment are all in the list (law 6)")
    func threads() {
        let container = Container()
        let list = FeatureKey<[Int]>(id: UniqueID()) { _ in [] }
        onThreads(8) { thread in
            for number in 0..<50 { container.contribute(to: { _ in list }) { _ in thread * 50 + number } }
        }
        expect(container[list].sorted(), equals: Array(0..<400))
    }
}
