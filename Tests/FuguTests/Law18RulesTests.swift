import Fugu
import Support
import Testing

@Suite("A copy takes rules and what they set (laws 18 and 21)")
struct Law18RulesTests {
    static let cases: [Case<Law18RulesTests>] = [
        Case("A copy's own scopes are configured by the rules of what was copied, in order (laws 18 and 21)", rules),
        Case("Rules added afterwards stay where they were added (laws 18 and 21)", independent),
        Case("A rule that reaches a copy by two ways was set once and runs once (laws 18 and 21)", sharedAncestors),
        Case("A copy of a scope has what its rules set, though nobody read the scope before (laws 18 and 21)", scope),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<Law18RulesTests>) async throws { try await stated.run(self) }

    struct Host: Property { static var defaultValue: String { "default" } }
    struct Trail: Property { static var defaultValue: [String] { [] } }

    func rules() {
        let (root, other) = (Container(), Container())
        root.configureScopes { $0[Trail.self].append("root") }
        let child = root.child()
        child.configureScopes("/a") { $0[Trail.self].append("child") }
        other.configureScopes { $0[Trail.self].append("other") }
        let copy = Container(copying: child, other)
        copy.configureScopes { $0[Trail.self].append("copy") }
        expect(copy.scope("/a")[Trail.self], equals: ["root", "child", "other", "copy"])
        expect(copy.scope("/b")[Trail.self], equals: ["root", "other", "copy"])
        expect(root.scope("/a")[Trail.self], equals: ["root"])
        expect(copy[Trail.self], equals: [])
    }

    func independent() {
        let original = Container()
        let copy = Container(copying: original)
        original.configureScopes { $0[Host.self] = "original" }
        expect(copy.scope("/a")[Host.self], equals: "default")
    }

    func sharedAncestors() {
        let root = Container()
        root.configureScopes { $0[Trail.self].append("root") }
        let (left, right) = (root.child(), root.child())
        left.configureScopes { $0[Trail.self].append("left") }
        expect(Container(copying: root, left, right).scope("/a")[Trail.self], equals: ["left", "root"])
    }

    func scope() {
        let root = Container()
        root.configureScopes("/a") { $0[Host.self] = "rule" }
        let scope = root.scope("/a")
        let copy = Container(copying: scope)
        expect(copy[Host.self], equals: "rule")
        scope[Host.self] = "code"
        expect(Container(copying: scope)[Host.self], equals: "code")
        copy[Host.self] = "copy"
        expect(scope[Host.self], equals: "code")
    }
}
