import Fugu
import Testing

@Suite("A copy takes rules and what they set (laws 18 and 21)")
struct Law18RulesTests {
    struct Host: Property { static var defaultValue: String { "default" } }
    struct Trail: Property { static var defaultValue: [String] { [] } }

    @Test("A copy's own scopes are configured by the rules of what was copied, in order (laws 18 and 21)")
    func rules() {
        let (root, other) = (Container(), Container())
        root.configureScopes { $0[Trail.self].append("root") }
        let child = root.child()
        child.configureScopes("/a") { $0[Trail.self].append("child") }
        other.configureScopes { $0[Trail.self].append("other") }
        let copy = Container(copying: child, other)
        copy.configureScopes { $0[Trail.self].append("copy") }
        #expect(copy.scope("/a")[Trail.self] == ["root", "child", "other", "copy"])
        #expect(copy.scope("/b")[Trail.self] == ["root", "other", "copy"])
        #expect(root.scope("/a")[Trail.self] == ["root"])
        #expect(copy[Trail.self] == [])
    }

    @Test("Rules added afterwards stay where they were added (laws 18 and 21)")
    func independent() {
        let original = Container()
        let copy = Container(copying: original)
        original.configureScopes { $0[Host.self] = "original" }
        #expect(copy.scope("/a")[Host.self] == "default")
    }

    @Test("A rule that reaches a copy by two ways was set once and runs once (laws 18 and 21)")
    func sharedAncestors() {
        let root = Container()
        root.configureScopes { $0[Trail.self].append("root") }
        let (left, right) = (root.child(), root.child())
        left.configureScopes { $0[Trail.self].append("left") }
        #expect(Container(copying: root, left, right).scope("/a")[Trail.self] == ["left", "root"])
    }

    @Test("A copy of a scope has what its rules set, though nobody read the scope before (laws 18 and 21)")
    func scope() {
        let root = Container()
        root.configureScopes("/a") { $0[Host.self] = "rule" }
        let scope = root.scope("/a")
        let copy = Container(copying: scope)
        #expect(copy[Host.self] == "rule")
        scope[Host.self] = "code"
        #expect(Container(copying: scope)[Host.self] == "code")
        copy[Host.self] = "copy"
        #expect(scope[Host.self] == "code")
    }
}
