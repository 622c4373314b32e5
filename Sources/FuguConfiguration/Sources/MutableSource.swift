import Fugu

/// A source whose values the program changes while it runs, for feature flags and tests.
///
/// Every container to which you applied it reads it again at each change.
///
///     let flags = MutableSource(["flags.newSearch": false], name: "flags")
///     try container.apply(flags)
///     flags["flags.newSearch"] = true
public final class MutableSource: PropertySource {
    private struct Observer {
        let body: @Sendable () -> Void
    }
    private struct State {
        var values: [String: PropertyValue]
        var observers: [Int: Observer] = [:]
        var registrations = 0
        var changes = 0
    }

    /// The name of the source in errors.
    public let name: String
    private let state: Locked<State>
    /// Lets one update run at a time, and tells which thread it runs on.
    private let turn = Locked(0)
    private let updating = Locked<Execution?>(nil)

    /// Creates a source of values.
    ///
    /// - Parameters:
    ///   - values: The values. A name with dots answers like a nested one.
    ///   - name: The name of the source in errors.
    public init(_ values: [String: PropertyValue] = [:], name: String) {
        self.name = name
        state = Locked(State(values: values))
    }

    /// The value under a name, or `nil` if there is none.
    ///
    /// - Parameter name: The name, spelled as it was given.
    /// - Complexity: O(*c* × (*n* + *k*)) for *c* containers that applied the source, which reload it, its *n* values, and *k*
    ///   names that were read, are observed, or were declared.
    public subscript(name: String) -> PropertyValue? {
        get { state.withLock { $0.values[name] } }
        set { update { $0[name] = newValue } }
    }

    /// Changes several values together, so that no read sees one new and one old value.
    ///
    /// A container that can't use them, because a key that was read no longer decodes, keeps its values and reports the
    /// reason.
    ///
    /// - Parameter body: A closure that changes the values. Meanwhile, other updates of this source wait, reads and reloads see the
    ///   former values, and an update of it inside stops the program.
    /// - Complexity: O(*c* × (*n* + *k*)) for *c* containers that applied the source, which reload it, its *n* values, and *k*
    ///   names that were read, are observed, or were declared.
    public func update(_ body: (inout [String: PropertyValue]) -> Void) {
        if updating.withLock({ $0 })?.isCurrent == true { fatalError(ErrorText.updateInUpdate(name)) }
        let observers = turn.withLock { number in
            number += 1
            updating.withLock { $0 = .thread }
            let old = state.withLock { $0.values }
            var values = old
            body(&values)
            updating.withLock { $0 = nil }
            guard values != old else { return [Observer]() }
            return state.withLock { state in
                state.values = values
                state.changes += 1
                return state.observers.sorted { $0.key < $1.key }.map(\.value)
            }
        }
        for observer in observers { observer.body() }
    }

    /// Returns the current values.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` if a dotted name also occurs nested.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try PropertySnapshot(state.withLock { $0.values }, source: name)
    }

    /// Returns the number of changes.
    ///
    /// - Returns: The stamp.
    public func modificationStamp() -> PropertySourceStamp? {
        PropertySourceStamp(Int64(state.withLock { $0.changes }))
    }

    /// Calls a closure after each change, on the thread that made it.
    ///
    /// - Parameter body: The closure.
    /// - Returns: A closure that ends the registration.
    public func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        let number = state.withLock { state in
            state.registrations += 1
            state.observers[state.registrations] = Observer(body: body)
            return state.registrations
        }
        return { [weak self] in
            // Released outside the lock.
            let ended = self?.state.withLock { $0.observers.removeValue(forKey: number) }
            withExtendedLifetime(ended) {}
        }
    }
}
