import Synchronization

/// Values that the program itself changes while it runs, for feature flags and tests. Every container that it was applied to
/// reads it again at each change.
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
        var changes = 0
    }

    /// What the source is called in errors.
    public let name: String
    private let state: Mutex<State>

    /// Creates a source of values.
    ///
    /// - Parameters:
    ///   - values: The values; a name with dots answers as a nested one does.
    ///   - name: What the source is called in errors.
    public init(_ values: [String: PropertyValue] = [:], name: String) {
        self.name = name
        state = Mutex(State(values: values))
    }

    /// The value under a name, as it was given; `nil` if there is none.
    public subscript(name: String) -> PropertyValue? {
        get { state.withLock { $0.values[name] } }
        set { update { $0[name] = newValue } }
    }

    /// Changes several values together: nobody sees one new and another old.
    ///
    /// A container that cannot use them, because a key that was read no longer decodes, keeps what it has and reports why.
    ///
    /// - Parameter body: Changes the values. It runs with a lock held and must not use this source.
    public func update(_ body: (inout [String: PropertyValue]) -> Void) {
        let observers = state.withLock { state in
            let old = state.values
            body(&state.values)
            guard state.values != old else { return [Observer]() }
            state.changes += 1
            return state.observers.sorted { $0.key < $1.key }.map(\.value)
        }
        for observer in observers { observer.body() }
    }

    /// Takes the values as they are now.
    ///
    /// - Throws: A ``PropertyError`` if a dotted name is also given nested.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try PropertySnapshot(state.withLock { $0.values }, source: name)
    }

    /// The number of changes.
    public func modificationStamp() -> PropertySourceStamp? {
        PropertySourceStamp(Int64(state.withLock { $0.changes }))
    }

    /// Calls a closure after each change, on the thread that made it.
    public func observeChanges(_ body: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        let number = state.withLock { state in
            let number = (state.observers.keys.max() ?? 0) + 1
            state.observers[number] = Observer(body: body)
            return number
        }
        return { [weak self] in self?.state.withLock { _ = $0.observers.removeValue(forKey: number) } }
    }
}
