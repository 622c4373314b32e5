/// A feature that reaches outside the process, and that strict containers, those of tests, therefore refuse to load.
///
/// Write it beside the kind:
///
/// ```swift
/// struct WeatherClient: Feature, External {
///     var temperature: @Sendable (_ city: String) async throws -> Double
///
///     static func load(in container: any FeatureContainer) -> WeatherClient { … }
///     static var placeholder: WeatherClient { WeatherClient(temperature: unimplemented("WeatherClient.temperature")) }
/// }
/// ```
///
/// A read of a ``Feature`` that a test didn't set fails the test and gives the placeholder. One of a ``ThrowingFeature`` or
/// ``AsyncFeature`` fails the test and throws ``LoadError``, so it needs no placeholder.
///
/// If tests should work without setting the feature, declare a value for them with ``Feature/testValue(in:)`` in place of the
/// placeholder:
///
/// ```swift
/// enum LinkStore: Feature, External {
///     static func load(in container: any FeatureContainer) -> any LinkRepository { SQLLinks() }
///     static func testValue(in container: any FeatureContainer) -> any LinkRepository { InMemoryLinks() }
/// }
/// ```
public protocol External: NonisolatedFeature {
    /// The instance of a ``Feature`` that a strict container gives after it has failed the test, so that the test goes on.
    ///
    /// For a struct of closures, use ``unimplemented(_:placeholder:fileID:line:)`` for each closure. A feature whose load can fail
    /// needs none, because a strict container throws instead of giving it, and neither does one that declares a value for tests.
    static var placeholder: ContainerValue { get }
    /// The instance that containers give in an Xcode preview.
    ///
    /// The default is the value for tests, if the feature declares one; otherwise, it's the placeholder of a ``Feature``, and throws
    /// ``LoadError`` for the other kinds. Fugu recognizes a preview by
    /// the environment variable `XCODE_RUNNING_FOR_PREVIEWS`, set to `1`.
    static var preview: ContainerValue { get throws }
}

extension External {
    /// The default: a preview gives the value for tests or, failing that, the placeholder of a ``Feature``.
    public static var preview: ContainerValue {
        get throws {
            let definition = _key
            if !definition.hasTestValue, let placeholder = definition.placeholder {
                return placeholder(.current).value(as: ContainerValue.self)
            }
            throw LoadError.noPreview(Key(raw: definition.raw))
        }
    }
}

extension External where Self: Feature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public static var _key: KeyDefinition {
        KeyDefinition(Key.feature(Self.self), testValue: testLoad) { try $0.answer($1, for: Self.self) }
            .external(placeholder: { _ in Payload(placeholder) }, preview: { Payload(try preview) })
    }
}

extension External where Self: FailableFeature {
    /// Not used: a strict container throws ``LoadError`` instead.
    public static var placeholder: ContainerValue { fatalError(Messages.placeholderOfFailable("\(Self.self)")) }
}

extension External where Self: ThrowingFeature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public static var _key: KeyDefinition { definition.external { Payload(try preview) } }
}

extension External where Self: AsyncFeature {
    /// The library's record of the key.
    ///
    /// Don't use it directly.
    public static var _key: KeyDefinition { definition.external { Payload(try preview) } }
}

extension FeatureKey {
    /// Returns a key for a feature that another module supplies.
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     public var payments: FeatureKey<any PaymentService> { .required(placeholder: UnimplementedPayments()) }
    /// }
    ///
    /// container.replace(\.payments) { CardPayments(url: $0.paymentsURL) }
    /// ```
    ///
    /// A read that nothing supplies stops the program with the path that led there. A ``Container/warmUp(progress:_:)`` that reaches
    /// such features throws ``WarmUpError`` with all of them instead, so load what your program needs when it starts. In strict
    /// containers, those of tests, they're refused like an ``External`` feature.
    ///
    /// - Parameters:
    ///   - home: The container in which the instance lives.
    ///   - placeholder: What strict containers give instead.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    /// - Returns: The key.
    public static func required(
        home: Home = .inferred, placeholder: @autoclosure @escaping @Sendable () -> Value,
        member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> FeatureKey {
        let place = KeyPlace(Value.self, .feature, member, fileID, line, column)
        return required(place, home, placeholder: placeholder, testValue: nil) { _ in placeholder() }
    }

    /// Returns a key for a feature that another module supplies and that has a value for tests.
    ///
    /// ```swift
    /// extension ContainerKeys {
    ///     public var payments: FeatureKey<any PaymentService> { .required { _ in FreePayments() } }
    /// }
    /// ```
    ///
    /// See ``required(home:placeholder:member:fileID:line:column:)`` for what happens if nothing supplies it.
    ///
    /// - Parameters:
    ///   - home: The container in which the instance lives.
    ///   - member: The name of the member that declares the key, for messages and graphs.
    ///   - fileID: The file where the key is created.
    ///   - line: The line where the key is created.
    ///   - column: The column where the key is created.
    ///   - testValue: A closure that creates the instance for a test, like ``Feature/testValue(in:)``.
    /// - Returns: The key.
    public static func required(
        home: Home = .inferred, member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line,
        column: UInt = #column, testValue: @escaping @Sendable (any FeatureContainer) -> Value
    ) -> FeatureKey {
        let place = KeyPlace(Value.self, .feature, member, fileID, line, column)
        return required(place, home, placeholder: nil, testValue: testValue, orElse: testValue)
    }

    private static func required(
        _ place: KeyPlace, _ home: Home, placeholder: (@Sendable () -> Value)?,
        testValue: (@Sendable (any FeatureContainer) -> Value)?,
        orElse standIn: @escaping @Sendable (any FeatureContainer) -> Value
    ) -> FeatureKey {
        if let known = InternedKey.find(place) { return FeatureKey(interned: known) }
        let traits = KeyTraits(home: home, isRequired: true)
        let interned = intern(place, nil, traits, placeholder, nil, testValue) { container in
            container._container.lacksSupply()
            return standIn(container)
        }
        return FeatureKey(interned: interned)
    }
}

extension Key {
    /// Whether code or another module has to supply what the key stands for.
    package var isRequired: Bool { traits.isRequired }
}

extension Container {
    /// Stops the program, because nothing supplies the feature whose load runs, unless a warm-up collects such features.
    fileprivate func lacksSupply() {
        guard case .handle(let load) = role else { stopProgram(LoadError.notSupplied([]).description) }
        let error = LoadError.notSupplied(load.way)
        if !load.work.noteMissingSupply(error) { stopProgram(error.description) }
    }
}
