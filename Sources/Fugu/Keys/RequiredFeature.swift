/// A feature that a module declares and another one supplies.
///
/// An interface module declares what it needs, without a load:
///
/// ```swift
/// public enum Payments: RequiredFeature {
///     public typealias Instance = any PaymentService
///     public static var placeholder: any PaymentService { UnimplementedPayments() }
/// }
/// ```
///
/// The program, which knows the implementation, supplies it before the first read:
///
/// ```swift
/// container.replace(Payments.self) { CardPayments(url: $0.paymentsURL) }
/// ```
///
/// A read of a feature that nothing supplies stops the program with the path that led there. A ``Container/warmUp(progress:_:)``
/// that reaches such features throws ``WarmUpError`` with all of them instead, so load what your program needs when it starts. In
/// strict containers, those of tests, the read fails the test and gives the placeholder, like that of any ``ExternalFeature``.
public protocol RequiredFeature: ExternalFeature {}

extension RequiredFeature {
    /// Stops the program, because nothing supplies the feature, unless a warm-up collects such features.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: The placeholder, which isn't kept.
    public static func load(in container: any FeatureContainer) -> Instance {
        container._container.lacksSupply()
        return placeholder
    }
}

/// A throwing feature that a module declares and another one supplies.
///
/// A read of one that nothing supplies throws ``LoadError``. See ``RequiredFeature``.
public protocol RequiredThrowingFeature: ExternalThrowingFeature {}

extension RequiredThrowingFeature {
    /// Throws, because nothing supplies the feature.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: Nothing.
    /// - Throws: ``LoadError``.
    public static func load(in container: any FeatureContainer) throws -> Instance {
        throw container._container.supplyError(of: Key(raw: _key.raw))
    }
}

/// An async feature that a module declares and another one supplies.
///
/// A read of one that nothing supplies throws ``LoadError``. See ``RequiredFeature``.
public protocol RequiredAsyncFeature: ExternalAsyncFeature {}

extension RequiredAsyncFeature {
    /// Throws, because nothing supplies the feature.
    ///
    /// - Parameter container: The handle of the load.
    /// - Returns: Nothing.
    /// - Throws: ``LoadError``.
    public static func load(in container: any FeatureContainer) async throws -> Instance {
        throw container._container.supplyError(of: Key(raw: _key.raw))
    }
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
    /// See ``RequiredFeature`` for what happens if nothing supplies it.
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
        home: Home = .inferred, placeholder: @autoclosure @escaping @Sendable () -> Instance,
        member: StaticString = #function, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) -> FeatureKey {
        let place = KeyPlace(Instance.self, .feature, member, fileID, line, column)
        if let known = InternedKey.find(place) { return FeatureKey(interned: known) }
        let traits = FeatureTraits(reloads: false, home: home, isRequired: true)
        let interned = intern(place, nil, traits, placeholder) { container in
            container._container.lacksSupply()
            return placeholder()
        }
        return FeatureKey(interned: interned)
    }
}

extension Key {
    /// Whether another module has to supply the feature.
    var isRequired: Bool {
        if let decorated { return decorated.isRequired }
        guard let type else { return ValueKeys.descriptor(of: self).isRequired }
        return switch kind {
        case .property: false
        case .feature: type is any RequiredFeature.Type
        case .throwingFeature: type is any RequiredThrowingFeature.Type
        case .asyncFeature: type is any RequiredAsyncFeature.Type
        }
    }
}

extension Container {
    /// Stops the program, because nothing supplies the feature whose load runs, unless a warm-up collects such features.
    fileprivate func lacksSupply() {
        guard case .handle(let load) = role, let key = load.key else { fatalError(supplyError(of: nil).description) }
        let error = supplyError(of: key)
        if !load.noteMissingSupply(error) { fatalError(error.description) }
    }

    fileprivate func supplyError(of key: Key?) -> LoadError {
        guard case .handle(let load) = role else { return .notSupplied(key.map { [$0] } ?? []) }
        return .notSupplied(load.way)
    }
}

extension Frame {
    /// Notifies the warm-up that the load is part of, if it's part of one.
    ///
    /// Instances made from the placeholder aren't kept.
    fileprivate func noteMissingSupply(_ error: LoadError) -> Bool {
        guard let warmUp = chain.first(where: { $0.kind == .warmUp }) else { return false }
        // Also the loads of other families that led here.
        for frame in chain.prefix(while: { $0 !== warmUp }) where frame.kind == .load {
            frame.family.lock.withLock { token in frame.state[token].load.isProvisional = true }
        }
        warmUp.family.lock.withLock { token in warmUp.state[token].more().missingSupplies.append(error) }
        return true
    }

    /// The features that a warm-up needed and that nothing supplies.
    var missingSupplies: [LoadError] {
        family.lock.withLock { token in state[token].rare?.missingSupplies ?? [] }
    }
}
