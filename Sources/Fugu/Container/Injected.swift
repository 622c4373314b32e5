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
/// another one has the values of the first, without a word.
///
/// Use the wrapper in structs, actors, and main-actor classes. In an `@Observable` class, write
/// `@ObservationIgnored @Injected(\.timeout) var timeout`. A nonisolated `Sendable` class can't use it, since a property wrapper
/// is a `var`: keep the container in a constant there and read from it. No wrapper reads what belongs to the main actor: write
/// `var screen: Screen { Container.current.screen }`.
@propertyWrapper public struct Injected<Value>: Sendable {
    @usableFromInline let source: InjectionSource
    @usableFromInline let read: @Sendable (Container) -> Value
    let place: SourcePlace

    @usableFromInline init(
        _ source: InjectionSource, _ fileID: StaticString, _ line: UInt, read: @escaping @Sendable (Container) -> Value
    ) {
        self.source = source
        self.read = read
        place = SourcePlace(fileID, line, "@Injected")
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

    /// Creates a wrapper that reads a property or feature that ``ContainerKeys`` declares.
    ///
    /// - Parameters:
    ///   - key: A literal key path to the key, such as `\.timeout`, which is resolved here and not at each access.
    ///   - container: The container to read from at each access, as for a wrapper that reads what any key path names.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @_alwaysEmitIntoClient
    public init<K: PlainValueKey>(
        _ key: KeyPath<ContainerKeys, K>, in container: (any FeatureContainer)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == K.Value {
        let source: InjectionSource = container.map { .given($0._container) } ?? .asking
        // There are two such types, so the optimizer knows which one it is.
        let key = ContainerKeys()[keyPath: key]
        if let key = key as? PropertyKey<Value> {
            self.init(source, fileID, line) { $0[key] }
        } else {
            let key = key as! FeatureKey<Value>
            self.init(source, fileID, line) { $0[key] }
        }
    }

    /// Creates a wrapper that reads a property or feature.
    ///
    /// - Parameters:
    ///   - key: The type of the property or feature.
    ///   - fileID: The file of the wrapper, for messages.
    ///   - line: The line of the wrapper, for messages.
    @_alwaysEmitIntoClient
    public init<K: PlainKey>(
        _ key: K.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) where Value == K.ContainerValue {
        let definition = K._key
        self.init(.asking, fileID, line) { $0.read(definition) }
    }

    /// The value or instance that the container gives now.
    public var wrappedValue: Value {
        @inlinable get {
            let container = source.container
            return TestProcess.isTesting ? reading(container) : read(container)
        }
    }

    /// Reads in a test, where failures have the place.
    @usableFromInline func reading(_ container: Container) -> Value {
        ReadPlace.$current.withValue(place) { read(container) }
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
            return current === origin || current.isWithin(origin) ? current : origin
        }
    }
}

extension Container {
    /// Returns a Boolean value that indicates whether this is the container that `origin` represents, or a descendant
    /// of it.
    ///
    /// The handle of a load represents the home of the instance that it loaded. Every access of an ``Injected`` calls this, so it
    /// touches few reference counts.
    fileprivate func isWithin(_ origin: Container) -> Bool {
        let address = origin._storage.address
        // One whose reads take the slow path doesn't say so which node answers.
        let home = address == StorageReference.empty.address ? origin.node.storage.address : address
        return node.path.contains { $0.storage.address == home }
    }
}

/// The place of the ``Injected`` that reads.
package enum ReadPlace {
    /// The place of the read in progress; set in tests.
    @TaskLocal package static var current: SourcePlace?
}
