import Fugu
import FuguConfiguration
import FuguInspection
import Support
import Testing

extension ContainerKeys {
    fileprivate var named: PropertyKey<Int> { .init("law1.named", defaultValue: 1) }
    fileprivate func named(_ name: String) -> PropertyKey<Int> { .init(name, defaultValue: 0) }
}

/// What makes keys with names the same (law 1).
struct NamedKeyTests {
    private let container = Container()

    @Test("Keys with the same name and type are the same, wherever they're made (law 1)")
    func identity() {
        container.named = 9
        let sameName = PropertyKey("law1.named", defaultValue: 5)
        let otherType = PropertyKey("law1.named", defaultValue: "text")
        expect(sameName, equals: ContainerKeys().named)
        expect(sameName.name, equals: "law1.named")
        expect(PropertyKey(defaultValue: 1).name == nil)
        expect(container[sameName], equals: 9)
        expect(container[otherType], equals: "text")
    }

    @Test("Names tell the keys of one place apart, whichever is asked first (law 1)")
    func places() {
        let keys = ["identity.a", "identity.b", "identity.a"].map { ContainerKeys().named($0) }
        expect(keys[0] == keys[2] && keys[0] != keys[1])
        expect(keys.map(\.name), equals: ["identity.a", "identity.b", "identity.a"])
    }

    @Test("Graphs call a key with a name by its member, and by its name if no member makes it (law 1)")
    func memberNames() {
        container.named = 3
        container[ContainerKeys().named("identity.made")] = 4
        expect(container.graph.entries.map(\.name).sorted(), equals: [#"\.named"#, "identity.made"])
    }
}
