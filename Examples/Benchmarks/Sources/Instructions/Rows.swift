import Counting
import Fugu

@main enum Instructions {
    static func main() {
        perform(Row.reads + Row.changes + Row.children + Row.asynchronous)
    }
}

// MARK: - Reads

extension Row {
    fileprivate static let reads = [
        Row("value", "a value is read") { count in
            let container = Container()
            container[Limit.self] = 31
            var sum = 0
            for _ in 0..<count { sum &+= container[Limit.self] }
            return sum
        },
        Row("feature", "a struct with a closure is read") { count in
            let container = Container()
            for _ in 0..<count { _ = container[Greeter.self] }
            return count
        },
        Row("feature-current", "the same, through Container.current") { count in
            Container.with(Container()) {
                for _ in 0..<count { _ = Container.current[Greeter.self] }
                return count
            }
        },
        Row("member", "container.timeout is read") { count in
            let container = Container()
            container.timeout = 31
            var sum = 0
            for _ in 0..<count { sum &+= container.timeout }
            return sum
        },
        Row(async: "member-async", "the same, in an async function") { count in
            let container = Container()
            container.timeout = 31
            return await readMember(of: container, count)
        },
        Row("key-path", "the same, by a key path that the compiler doesn't know") { count in
            let container = Container()
            container.timeout = 31
            let member = unknown(\.timeout)
            var sum = 0
            for _ in 0..<count { sum &+= container[dynamicMember: member] }
            return sum
        },
        Row("injected", "the same, by @Injected(\\.timeout)") { count in
            let reader = Reader()
            var sum = 0
            for _ in 0..<count { sum &+= reader.timeout }
            return sum
        },
        Row("injected-bound", "the same, made and read while a container is bound") { count in
            Container.with(Container()) {
                let reader = Reader()
                var sum = 0
                for _ in 0..<count { sum &+= reader.timeout }
                return sum
            }
        },
    ]
}

private struct Reader {
    @Injected(\.timeout) var timeout
}

/// Reads by key paths that are literals; the compiler replaces them by calls where it inlines enough.
private func readMember(of container: Container, _ count: Int) async -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= container.timeout }
    return sum
}

@inline(never)
@_optimize(none)
private func unknown<Value>(
    _ member: KeyPath<ContainerKeys, PropertyKey<Value>>
) -> KeyPath<ContainerKeys, PropertyKey<Value>> { member }

// MARK: - Changes

extension Row {
    fileprivate static let changes = [
        Row("set", "a value is set") { count in
            let container = Container()
            for index in 0..<count { container[Limit.self] = index }
            return container[Limit.self]
        },
        Row("set-observed", "a value with one observer is set") { count in
            let container = Container()
            let token = container.observe(Limit.self) { consume($0) }
            for index in 0..<count { container[Limit.self] = index }
            return withExtendedLifetime(token) { container[Limit.self] }
        },
        Row("reset", "a feature is reset that isn't loaded") { count in
            let container = Container()
            for _ in 0..<count { container.reset(Counter.self) }
            return count
        },
        Row("load", "a feature is reset and loaded in a root") { count in
            let container = Container()
            var sum = 0
            for _ in 0..<count {
                container.reset(Pool.self)
                sum &+= container[Pool.self].value
            }
            return sum
        },
        Row("load-input", "the same with a feature that reads a value") { count in
            let container = Container()
            var sum = 0
            for _ in 0..<count {
                container.reset(Counter.self)
                sum &+= container[Counter.self].value
            }
            return sum
        },
        Row("chain-10", "a root is made and loads ten features that read one another") { count in
            var sum = 0
            for _ in 0..<count { sum &+= Container()[Ten.self].value }
            return sum
        },
        Row("chain-20", "the same with twenty") { count in
            var sum = 0
            for _ in 0..<count { sum &+= Container()[Twenty.self].value }
            return sum
        },
    ]
}

@inline(never)
@_optimize(none)
private func consume(_ value: Int) {}

// MARK: - Children

extension Row {
    fileprivate static let children = [
        Row("child", "a child is made and sets a value") { count in
            let root = Container()
            var sum = 0
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= child[Limit.self]
            }
            return sum
        },
        Row("child-inherited", "the same; then it reads an inherited feature") { count in
            let root = Container()
            var sum = root[Pool.self].value
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= child[Pool.self].value
            }
            return sum
        },
        Row("child-load", "the same; then it loads a feature that reads the value") { count in
            let root = Container()
            var sum = 0
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= child[Counter.self].value
            }
            return sum
        },
        Row("child-load-2", "the same; then it loads a feature that reads the first") { count in
            let root = Container()
            var sum = 0
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= child[Counter.self].value &+ child[Doubled.self].value
            }
            return sum
        },
    ]

    fileprivate static let asynchronous = [
        Row(async: "child-async", "a child is made, sets a value, and loads an async feature that doesn't suspend") {
            count in
            let root = Container()
            var sum = 0
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= try await child[RemoteCounter.self].value
            }
            return sum
        },
        Row(async: "child-closed", "a child is made and closed") { count in
            let root = Container()
            for _ in 0..<count { try await root.child().close() }
            return count
        },
        Row(async: "child-teardown", "a child is made with a teardown closure, and closed") { count in
            let root = Container()
            for _ in 0..<count {
                let child = root.child()
                child.onClose {}
                try await child.close()
            }
            return count
        },
        Row(async: "request", "a child is made, sets a value, is bound, reads four features, loads two, and is closed")
        {
            count in
            let root = Container()
            var sum = root[Pool.self].value
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= await Container.with(child) {
                    await nothing()
                    let container = Container.current
                    return container[Limit.self] &+ container[Pool.self].value &+ container[Counter.self].value
                        &+ container[Doubled.self].value
                }
                try await child.close()
            }
            return sum
        },
    ]
}

/// Makes the closure that calls it asynchronous, like a handler.
@inline(never)
private func nothing() async {}

/// A property declared as a type.
enum Limit: Property {
    static let defaultValue = 30
}

extension ContainerKeys {
    /// A property declared as a member.
    var timeout: PropertyKey<Int> { .init(defaultValue: 30) }
}

/// An object with a number, to read.
final class Number: Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }
}

/// The usual form of a dependency: a struct with a closure that captures an object.
struct Greeter: Feature {
    let greet: @Sendable () -> Int

    static func load(in container: any FeatureContainer) -> Greeter {
        let object = Number(container[Limit.self])
        return Greeter { object.value }
    }
}

/// A feature with no inputs, which children inherit.
enum Pool: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(1) }
}

/// A feature that reads the value that a child sets.
enum Counter: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Limit.self]) }
}

/// A feature that reads the value that a child sets, and registers a teardown closure.
enum Session: Feature {
    static func load(in container: any FeatureContainer) -> Number {
        container.onClose {}
        return Number(container[Limit.self])
    }
}

/// A feature that reads another one.
enum Doubled: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Counter.self].value &* 2) }
}

/// A feature that reads another one, which may do so, too.
enum Link<Below: Feature>: Feature where Below.Instance == Number {
    static func load(in container: any FeatureContainer) -> Number { Number(container[Below.self].value &+ 1) }
}

typealias FiveLinks<Below: Feature> = Link<Link<Link<Link<Link<Below>>>>> where Below.Instance == Number
/// Ten features that read one another, and twenty.
typealias Ten = FiveLinks<Link<Link<Link<Link<Pool>>>>>
typealias Twenty = FiveLinks<FiveLinks<Ten>>

/// An asynchronous load that never suspends.
enum RemoteCounter: AsyncFeature {
    static func load(in container: any FeatureContainer) async throws -> Number { Number(container[Limit.self]) }
}
