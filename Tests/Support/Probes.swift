package import Fugu

/// A log in order, from any thread.
package final class Log<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])
    private let additions = Counter()

    package init() {}

    package func add(_ element: Element) {
        elements.withLock { $0.append(element) }
        additions.add()
    }

    /// Returns the events, once there are at least this many.
    package func first(_ count: Int) async -> [Element] {
        await additions.reaches(count)
        return all
    }

    package var all: [Element] { elements.withLock { $0.map(\.self) } }
    package var count: Int { elements.withLock { $0.count } }
    @discardableResult package func removeAll() -> [Element] {
        elements.withLock { elements in
            defer { elements = [] }; return elements
        }
    }
}

/// Counts from any thread, and lets tasks wait until a number is reached.
package final class Counter: Sendable {
    private struct State {
        var number = 0
        var gates: [(number: Int, gate: Gate)] = []
    }
    private let state = Locked(State())

    package init() {}

    package var value: Int { state.withLock { $0.number } }

    /// Returns the new value.
    @discardableResult package func add(_ amount: Int = 1) -> Int {
        let (number, reached) = state.withLock { state in
            state.number += amount
            let number = state.number
            if state.gates.isEmpty { return (number, [Gate]()) }
            let reached = state.gates.filter { $0.number <= number }.map(\.gate)
            state.gates.removeAll { $0.number <= number }
            return (number, reached)
        }
        for gate in reached { gate.open() }
        return number
    }

    /// Suspends the task until the number is reached.
    package func reaches(_ number: Int) async {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.number >= number { return true }
            state.gates.append((number, gate))
            return false
        }
        if !isThere { await gate.opened() }
    }
}

extension Container {
    /// Hands what would go to standard error to a log.
    package func logReports() -> Log<String> {
        let log = Log<String>()
        handleReports { log.add($0) }
        return log
    }
}

/// Something with an identity whose end can be seen.
package final class Witness: Sendable {
    private let onEnd: @Sendable () -> Void

    package init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }
    deinit { onEnd() }
}

/// An instance with an identity, which can tell how many of its kind are alive.
package final class Token: Sendable {
    package let number: Int
    private let alive: Counter?

    package init(_ number: Int = 0, alive: Counter? = nil) {
        self.number = number
        self.alive = alive
        alive?.add()
    }

    deinit { alive?.add(-1) }
}

/// What a loader of a test throws.
package struct Boom: Error, Equatable, CustomStringConvertible {
    package let name: String
    package init(_ name: String = "boom") { self.name = name }
    package var description: String { name }
}

/// The text of what `body` throws.
package func thrown(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "nothing"
    } catch {
        return "\(error)"
    }
}

extension Container {
    /// Returns a root that loads external features, as one does in a program.
    ///
    /// All tests of this package run in one process that links FuguTesting, where `Container()` is strict.
    package static func program() -> Container {
        Container(ofProgram: ())
    }

    /// The same container, whose reports are no part of what the test shows.
    package var unreported: Container {
        handleReports { _ in }
        return self
    }
}
