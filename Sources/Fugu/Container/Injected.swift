/// A property wrapper that reads from a container at each access.
///
/// ```swift
/// struct Greeter {
///     @Injected(\.userName) var name
///     @Injected(\.date.now) var now
///     @Injected(WeatherClient.self) var weather
/// }
/// ```
///
/// It reads from ``Container/current`` if the wrapper was created where nothing was bound, or if `current` is the
/// container that the wrapper was created in or a descendant of it. Otherwise, it reads from the container that it was
/// created in. For a wrapper that was created while a feature loads, that is the home of the feature. In this way, a
/// feature that reads late follows the overrides of its caller.
///
/// It doesn't follow a container beside the one that it was created in: a model that is created in one `Container.with` and used in
/// another one has the values of the first. Strict containers and debug builds report that.
///
/// Use the wrapper in structs, actors, and main-actor classes. In an `@Observable` class, write
/// `@ObservationIgnored @Injected(\.timeout) var timeout`. A nonisolated `Sendable` class can't use it, since a property wrapper
/// is a `var`: keep the container in a constant there and read from it.
@propertyWrapper public struct Injected<Value>: Sendable {
    @usableFromInline let source: InjectionSource
    @usableFromInline let read: @Sendable (Container) -> Value
    let place: ReadPlace

    @usableFromInline init(
        _ source: InjectionSource, _ fileID: StaticString, _ line: UInt, read: @escaping @Sendable (Container) -> Value
    ) {
        self.source = source
        self.read = read
        place = ReadPlace(fileID: fileID, line: line)
    }

    /// Creates a wrapper that reads what a key path names.
    ///
    /// ```swift
    /// @Injected(\.date.now) var now
    /// ```
    ///
    /// - Parameters:
    ///   - read: A literal key path, such as `\.date.now`, or a closure that reads from the container that it receives.
    ///   - container: The container to read from at each access. The wrapper keeps a container alive, but a handle
    ///     doesn't keep its container alive. Without one, the wrapper decides at each access.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @inlinable  // A literal key path converts to a closure, which costs a tenth of what evaluating a key path costs.
    public init(
        _ read: @escaping @Sendable (any FeatureContainer) -> Value, in container: (any FeatureContainer)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(container.map { .given($0._container) } ?? .asking, fileID, line) { read($0) }
    }

    /// Creates a wrapper that reads a feature.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @_alwaysEmitIntoClient
    public init<F: Feature>(
        _ feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == F.Instance {
        self.init(.asking, fileID, line) { $0[F.self] }
    }

    /// Creates a wrapper that reads a property.
    ///
    /// - Parameters:
    ///   - property: The type of the property.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @_alwaysEmitIntoClient
    public init<P: Property>(
        _ property: P.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == P.Value {
        self.init(.asking, fileID, line) { $0[P.self] }
    }

    /// The value or instance that the container gives now.
    public var wrappedValue: Value {
        @inlinable get {
            let container = source.container
            #if DEBUG
            return reading(container)
            #else
            return read(container)
            #endif
        }
    }

    #if DEBUG
    /// The place is used only by the checks for mistakes in debug builds.
    @usableFromInline func reading(_ container: Container) -> Value {
        ReadPlace.$current.withValue(place) { read(container) }
    }
    #endif
}

/// A property wrapper that reads a feature of the main actor from a container at each access.
///
/// ```swift
/// @MainActor final class Window {
///     @MainActorInjected(\.screen) var screen
/// }
/// ```
///
/// It reads from the same container as ``Injected``. You can create it anywhere on the main actor, and read it only there.
@MainActor @propertyWrapper public struct MainActorInjected<Value: Sendable> {
    private let source: InjectionSource
    private let read: @MainActor (Container) -> Value
    private let place: ReadPlace

    /// Creates a wrapper that reads a feature at each access.
    ///
    /// - Parameters:
    ///   - feature: The type of the feature.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    public init<F: MainActorFeature>(
        _ feature: F.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == F.Instance {
        let key = MainActorFeatureKey(F.self)
        self.init({ _ in key }, fileID: fileID, line: line)
    }

    /// Creates a wrapper that reads a feature at each access.
    ///
    /// - Parameters:
    ///   - key: A key path to the feature: `\.screen`.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    public init(
        _ key: (ContainerKeys) -> MainActorFeatureKey<Value>, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let key = key(ContainerKeys())
        source = .asking
        read = { $0[key] }
        place = ReadPlace(fileID: fileID, line: line)
    }

    /// The instance that the container gives now.
    public var wrappedValue: Value {
        let container = source.container
        #if DEBUG
        return ReadPlace.$current.withValue(place) { read(container) }
        #else
        return read(container)
        #endif
    }
}

/// The container that a wrapper reads from.
@usableFromInline enum InjectionSource: Sendable {
    /// The current container: the wrapper was created where nothing was bound.
    case current
    /// The current container if it's the given one or a descendant of it; otherwise, the given one.
    case made(in: Container)
    case given(Container)

    /// The source for a wrapper that decides at each access.
    @usableFromInline static var asking: InjectionSource {
        if let bound = Context.bound?.container { .made(in: bound) } else { .current }
    }

    @usableFromInline var container: Container {
        switch self {
        case .current: return .current
        case .given(let container): return container
        case .made(let origin):
            let current = Container.current
            if current === origin || current.isWithin(origin) { return current }
            #if DEBUG
            return origin.read(whileBound: current)
            #else
            return TestProcess.isTesting && current.isStrict ? origin.read(whileBound: current) : origin
            #endif
        }
    }
}

extension Container {
    /// Returns the container that an ``Injected`` reads which was made in it, while `current` is bound, which isn't within it.
    ///
    /// If `current` stands beside this container, that's a view that reports the keys for which `current` has something else; if
    /// it has another root, that's one that tells the watcher.
    fileprivate func read(whileBound current: Container) -> Container {
        let isChecked = current.node.family === node.family ? !node.isWithin(current.node) : TestProcess.isTesting
        return isChecked ? Container(reading: self, beside: current) : self
    }

    /// Reports, once for this container, that a key is read in another one although this one has something else, or something else
    /// from which the last instance was made.
    ///
    /// - `isKept`: Whether that's a mistake only if the other one has been closed.
    func checkReading(of key: Key, in other: Container, isKept: Bool = false) {
        let (current, node) = (node, other.node)
        guard current.family === node.family else { return }
        let report = node.family.lock.withLock { token -> String? in
            let passed = current.path.filter { !node.isWithin($0) }
            let isPassed: (Key) -> Bool = { key in passed.contains { $0.holds(token, key) } }
            let way = isPassed(key) ? [key] : node.family.way(token, from: key, to: isPassed)
            // Told apart from what else is reported of the key.
            let isOther = way.last.map(isPassed) == true
            guard isOther, !isKept || node.storage[token].isClosed,
                current.storage[token].more().isNew(Key(raw: 0), key)
            else { return nil }
            return Messages.readBeside(
                way, at: ReadPlace.current, made: node.nameWithPlace(token), current: current.nameWithPlace(token),
                isKept: isKept)
        }
        if let report { node.family.reports.report(report) }
    }

    #if DEBUG
    /// Reports a read through this container, after it was closed, while one beside it is bound that has something else.
    func checkKept(_ key: Key) {
        guard let current = Context.bound?.container, !current.node.isWithin(asked), !asked.isWithin(current.node)
        else { return }
        current.checkReading(of: key, in: self, isKept: true)
    }
    #endif
}

extension Node {
    /// The name of the container, and where it was made, if that's known.
    fileprivate func nameWithPlace(_ token: LockToken) -> String {
        let name = displayName(token)
        #if DEBUG
        if let place = storage[token].rare?.place { return "\(name) (made at \(place))" }
        #endif
        return name
    }
}

extension Container {
    /// Remembers, in debug builds, where the container was made.
    func wasMade(at place: @autoclosure () -> SourcePlace) {
        #if DEBUG
        let place = place()
        node.family.lock.withLock { token in node.storage[token].more().place = place }
        #endif
    }

    /// Returns a Boolean value that indicates whether this is the container that `origin` represents, or a descendant
    /// of it.
    ///
    /// The handle of a load represents the home of the instance that it loaded.
    fileprivate func isWithin(_ origin: Container) -> Bool {
        let storage = origin._storage
        // The load is still in progress.
        if storage.address == StorageReference.empty.address { return node.isWithin(origin.node) }
        return isWithin(storage)
    }
}

/// The place in the source of the ``Injected`` that is being read.
package struct ReadPlace: Sendable {
    package let fileID: StaticString
    package let line: UInt

    /// The place that is being read; set in debug builds only.
    @TaskLocal package static var current: ReadPlace?
}
