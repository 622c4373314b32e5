public import Counting
import Fugu

/// The operations of a debug build: in a program, and in a process that links FuguTesting, where a root is strict.
///
/// - Parameter name: The beginning of the rows' names.
/// - Returns: The rows.
public func debugRows(_ name: String) -> [Row] {
    [
        Row("\(name)-read", "a feature is read") { count in
            let container = Container()
            for _ in 0..<count { _ = container[Pool.self] }
            return count
        },
        Row("\(name)-property", "a property is read") { count in
            let container = Container()
            container[Limit.self] = 31
            var sum = 0
            for _ in 0..<count { sum &+= container[Limit.self] }
            return sum
        },
        Row("\(name)-set", "a value is set") { count in
            let container = Container()
            for index in 0..<count { container[Limit.self] = index }
            return container[Limit.self]
        },
        Row("\(name)-scope", "a child is made, and sets and reads a value") { count in
            let root = Container()
            var sum = 0
            for index in 0..<count {
                let child = root.child()
                child[Limit.self] = index
                sum &+= child[Limit.self]
            }
            return sum
        },
        Row("\(name)-load", "a feature is reset and loaded") { count in
            let container = Container()
            var sum = 0
            for _ in 0..<count {
                container.reset(Pool.self)
                sum &+= container[Pool.self].value
            }
            return sum
        },
        Row("\(name)-modify", "a value is modified") { count in
            let container = Container()
            for _ in 0..<count { container.modify(Limit.self) { $0 &+= 1 } }
            return container[Limit.self]
        },
    ]
}

private enum Limit: Property {
    static let defaultValue = 30
}

private final class Number: Sendable {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }
}

private enum Pool: Feature {
    static func load(in container: any FeatureContainer) -> Number { Number(1) }
}
