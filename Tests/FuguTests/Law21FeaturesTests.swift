import Fugu
import FuguInspection
import Support
import Testing

@Suite("Features follow the rules of their scope (laws 16, 19 and 21)")
struct Law21FeaturesTests {
    static let cases: [Case<Law21FeaturesTests>] = [
        Case("A feature made from a rule's value stays when the value changes, and is stale (laws 19 and 21)", stays),
        Case(
            "A feature that reloads does so with the next read, though the scope was not read between (laws 19 and 21)",
            reloads),
        Case("So it does when its home is the scope itself or a child of it (laws 19 and 21)", reloadsInTheScopeItself),
        Case("So it does when the rules changed while it was loading (laws 19 and 21)", reloadsAfterChangeDuringLoad),
        Case("An observed feature reloads at once (laws 19 and 21)", reloadsAtOnce),
        Case(
            "When the rule sets nothing any more, the scope shares the parent's instance again (laws 16 and 21)",
            sharesAgain),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law21FeaturesTests>) async throws {
        try await stated.run(self)
    }

    typealias Timeout = Law21RulesTests.Timeout
    typealias Label = Law21RulesTests.Label

    final class Client: Feature, Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        static func load(in container: any FeatureContainer) -> Client {
            Client("\(container[Timeout.self]) \(container[Label.self])")
        }
    }

    final class Live: Feature, Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        static var reloadsWhenInputsChange: Bool { true }
        static func load(in container: any FeatureContainer) -> Live {
            Live("\(container[Timeout.self]) \(container[Label.self])")
        }
    }

    let outside = Locked<Int?>(1)

    private func scope() -> (container: Container, scope: Container) {
        let container = Container()
        container.configureScopes { [outside] handle in
            if let timeout = outside.withLock({ $0 }) { handle[Timeout.self] = timeout }
        }
        return (container, container.scope("/a"))
    }

    private func change(_ container: Container, to timeout: Int?) {
        outside.withLock { $0 = timeout }
        container.invalidateScopes()
    }

    func stays() {
        let (container, scope) = scope()
        let client = scope[Client.self]
        change(container, to: 2)
        expect(scope[Client.self], is: client)
        expect(scope[Timeout.self], equals: 2)
        expect(scope.graph.entries.first { $0.name == "Client" }?.isStale, equals: true)
    }

    func reloads() {
        let (container, scope) = scope()
        expect(scope[Live.self].text, equals: "1 ")
        change(container, to: 2)
        expect(scope[Live.self].text, equals: "2 ")
        let same = scope[Live.self]
        change(container, to: 2)
        expect(scope[Live.self], is: same)
    }

    func reloadsInTheScopeItself() {
        let (container, scope) = scope()
        scope[Label.self] = "scope"
        let child = scope.child { $0[Label.self] = "child" }
        expect((scope[Live.self].text, child[Live.self].text) == ("1 scope", "1 child"))
        change(container, to: 2)
        expect(scope[Live.self].text, equals: "2 scope")
        change(container, to: 3)
        expect(child[Live.self].text, equals: "3 child")
        expect(scope[Live.self].text, equals: "3 scope")
        let (one, other) = (scope[Live.self], child[Live.self])
        change(container, to: 3)
        expect(scope[Live.self], is: one)
        expect(child[Live.self], is: other)
    }

    func reloadsAfterChangeDuringLoad() {
        let (began, goOn) = (Gate(), Gate())
        let slow = FeatureKey(reloadsWhenInputsChange: true) { container in
            defer {
                began.open()
                goOn.wait()
            }
            return "\(container[Timeout.self]) \(container[Label.self])"
        }
        let (container, scope) = scope()
        scope[Label.self] = "scope"
        let thread = startThread { _ = scope[slow] }
        began.wait()
        change(container, to: 2)
        goOn.open()
        thread.wait()
        expect(scope[slow], equals: "2 scope")
    }

    func reloadsAtOnce() {
        let (container, scope) = scope()
        expect(scope[Live.self].text, equals: "1 ")
        let heard = Log<String>()
        scope.observe(Live.self) { heard.add($0.text) }
        change(container, to: 2)
        expect(heard.all, equals: ["2 "])
    }

    func sharesAgain() {
        let (container, scope) = scope()
        let shared = container[Client.self]
        expect(scope[Client.self] !== shared)
        change(container, to: nil)
        expect(scope[Client.self], is: shared)
        change(container, to: 3)
        expect(scope[Client.self].text, equals: "3 ")
    }
}
