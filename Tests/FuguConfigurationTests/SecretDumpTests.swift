import Fugu
import FuguConfiguration
import FuguInspection
import FuguScopes
import Support
import Testing

extension ContainerKeys {
    fileprivate var password: PropertyKey<String> {
        .init("law26.password", defaultValue: "HUNTER default", isSecret: true)
    }
    fileprivate var token: PropertyKey<String> { .init(defaultValue: "HUNTER default", isSecret: true) }
}

// Law 26: a secret is never printed, not in dumps or mirrors either, of whatever the container hands out.
@Suite("Law 26: nothing that a container hands out reveals a secret") struct SecretDumpTests {}

extension SecretDumpTests {
    struct Password: Property {
        static var isSecret: Bool { true }
        static var defaultValue: String { "HUNTER default" }
    }
    private struct Reader { @Injected(\.password) var password }

    /// Expects that neither a description nor a dump nor a mirror of `subject` reveals anything.
    private func expectSecrecy(of subject: Any, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        var text = "\(subject) \(String(reflecting: subject))"
        dump(subject, to: &text)
        var open = [(Mirror(reflecting: subject), 0)]
        while let (mirror, depth) = open.popLast(), depth < 8 {
            for child in mirror.children {
                text += "\(child.value) \(String(reflecting: child.value))"
                open.append((Mirror(reflecting: child.value), depth + 1))
            }
        }
        #expect(!text.contains("HUNTER"), "\(name)", sourceLocation: sourceLocation)
    }

    @Test("Sequences of values, their iterators and wrappers tell nothing (law 26)")
    func sequences() async {
        let root = Container()
        root.password = "HUNTER2"
        let child = root.child { $0.token = "HUNTER3" }
        expectSecrecy(of: root.values(of: \.password), "values")
        expectSecrecy(of: child.values(of: \.token), "values of a child")
        expectSecrecy(of: child.values(of: Password.self), "values of a type")
        var iterator = root.values(of: \.password).makeAsyncIterator()
        expectSecrecy(of: iterator, "iterator")
        await expect(iterator.next(isolation: nil), equals: "HUNTER2")
        root.password = "HUNTER4"
        expectSecrecy(of: iterator, "iterator with a value that nobody has taken")
        expectSecrecy(of: Reader(), "injected")
        expectSecrecy(of: Injected(\.password, in: child), "injected in a child")
    }

    @Test("Containers, views, handles, keys, tokens, events and graphs tell nothing (law 26)")
    func handles() {
        let root = Container()
        let events = Log<ContainerEvent>()
        let recording = root.observeEvents { events.add($0) }
        root.password = "HUNTER2"
        root[Password.self] = "HUNTER3"
        let child = root.child { $0.token = "HUNTER4" }
        for container in [root, child] {
            expectSecrecy(of: container, "container")
            expectSecrecy(of: container.observable, "observable")
            expectSecrecy(of: container.graph, "graph")
        }
        expectSecrecy(of: ContainerKeys().password, "key")
        expectSecrecy(of: ContainerKeys().token, "key without a name")
        expectSecrecy(of: root.observe(\.password) { _ in }, "token")
        root.update { changes in
            changes[Password.self] = "HUNTER5"
            expectSecrecy(of: changes, "update")
        }
        root.configureScopes { handle in
            handle.password = "HUNTER6"
            expectSecrecy(of: handle, "rule")
        }
        let scope = root.scope("/a")
        expect(scope.password, equals: "HUNTER6")
        expectSecrecy(of: scope, "scope")
        let key = FeatureKey { handle in
            expectSecrecy(of: handle, "handle")
            expectSecrecy(of: Container.current, "current")
            return handle.password.count
        }
        expect(root[key], equals: 7)
        expectSecrecy(of: key, "feature key")
        expectSecrecy(of: Container(copying: root), "copy")
        root.reset(\.password)
        _ = root.password
        expectSecrecy(of: events.all, "events")
        recording.cancel()
    }
}
