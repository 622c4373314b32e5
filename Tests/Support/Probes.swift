import Fugu

/// What happened, in order, from any thread.
package final class Log<Element: Sendable>: Sendable {
    private let elements = Guarded<[Element]>([])

    package init() {}

    package func add(_ element: Element) { elements.withLock { $0.append(element) } }
    package var all: [Element] { elements.withLock { $0 } }
    package var count: Int { elements.withLock { $0.count } }
    @discardableResult package func removeAll() -> [Element] {
        elements.withLock { elements in
            defer { elements = [] }; return elements
        }
    }
}

/// Counts from any thread.
package final class Counter: Sendable {
    private let number = Guarded(0)

    package init() {}

    package var value: Int { number.withLock { $0 } }
    /// Returns the new value.
    @discardableResult package func add(_ amount: Int = 1) -> Int {
        number.withLock { number in
            number += amount
            return number
        }
    }
}

/// Something with an identity whose end can be seen.
package final class Witness: Sendable {
    private let onEnd: @Sendable () -> Void

    package init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }
    deinit { onEnd() }
}
