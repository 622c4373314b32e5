/// The library's record of a key, of whatever kind.
///
/// Don't use it directly.
@_documentation(visibility: internal)
public struct KeyDefinition: Sendable {
    @usableFromInline package let raw: UInt
    let method: Method
    /// Whether the feature reaches outside the process.
    var isExternal: Bool { hasTestValue || preview != nil }
    /// Whether the feature declares what a test's container loads instead.
    let hasTestValue: Bool
    /// Creates what a strict container gives instead of an external feature that can't throw.
    ///
    /// It receives the container, for what a value for tests needs.
    private(set) var placeholder: (@Sendable (Container) -> Payload)?
    /// Creates what an Xcode preview gives instead of an external feature; throws only if the feature can, or if it has a value for
    /// tests.
    private var preview: (@Sendable () throws -> Payload)?
    /// The name that suppliers need, if the key has one.
    package let naming: (any KeyNaming)?

    package var key: Key { Key(raw: raw) }

    init(
        _ raw: UInt, _ method: Method, hasTestValue: Bool = false,
        naming: (any KeyNaming)? = nil
    ) {
        self.raw = raw
        self.method = method
        self.hasTestValue = hasTestValue
        self.naming = naming
    }

    // Assigns everything itself, since a definition is made for each load.
    @usableFromInline init(
        _ raw: UInt, testValue: (@Sendable (Container) -> Payload)? = nil,
        answer: @escaping @Sendable (Container, KeyQuestion) throws -> Payload?
    ) {
        self.raw = raw
        method = .plain(answer)
        hasTestValue = testValue != nil
        placeholder = testValue
        preview = nil
        naming = nil
    }

    /// Returns the definition of a feature that reaches outside the process.
    func external(
        placeholder: (@Sendable (Container) -> Payload)? = nil, preview: @escaping @Sendable () throws -> Payload
    ) -> KeyDefinition {
        var definition = self
        if !hasTestValue { definition.placeholder = placeholder }
        definition.preview = preview
        return definition
    }

    /// Returns what is declared for a preview, or `nil` if nothing is, and the feature is loaded or has a value for tests.
    @usableFromInline func makePreview() throws -> Payload? {
        do {
            return try preview?()
        } catch let error as LoadError where hasTestValue && error.code == .noPreview {
            return nil
        }
    }
}

// MARK: How the value or instance is loaded

extension KeyDefinition {
    enum Method: Sendable {
        // One closure, since a definition is made for each load.
        /// Throws only if the kind does.
        case plain(@Sendable (Container, KeyQuestion) throws -> Payload?)
        case suspending(@Sendable (Container, KeyQuestion) async throws -> Payload)
        case onMainActor(MainActorReload)
    }

    /// Reads the key, and loads it if nothing is there.
    @inline(never) package func read(in container: Container) async throws -> Payload {
        try await read(.key, in: container)
    }

    @inline(never) func read(_ question: KeyQuestion, in container: Container) async throws -> Payload {
        if case .onMainActor(let reload) = method { return await reload.read(in: container) }
        return try await readAsync(question, in: container)
    }

    /// Reads the key, which doesn't belong to the main actor.
    @inline(never) func readAsync(_ question: KeyQuestion, in container: Container) async throws -> Payload {
        guard case .suspending(let answer) = method else { return try readNow(question, in: container) }
        return try await answer(container, question)
    }

    /// Does the same for a key whose load doesn't suspend.
    func readNow(_ question: KeyQuestion = .key, in container: Container) throws -> Payload {
        guard case .plain(let answer) = method, let payload = try answer(container, question) else {
            throw CancellationError()
        }
        return payload
    }

    /// Loads a missing value for its observers, and waits for it unless the load suspends.
    package func prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        let fail: @Sendable (any Error) -> Void = { error in
            if reportsFailure { container.reportFailedReload(of: key, error) }
        }
        switch method {
        case .plain(let answer):
            // If the container was released or closed, no observer is left for a key that can't fail.
            do {
                _ = try answer(container, key.kind.throws ? .key : reportsFailure ? .reload : .missing)
            } catch { fail(error) }
            return nil
        case .suspending:
            return PreparationHandle(
                task: Task { do { _ = try await read(in: container) } catch { fail(error) } })
        case .onMainActor(let reload):
            // An instance that is there needn't wait for the main actor; a reload has looked already.
            if reportsFailure || container.present(key, nil) == nil { reload.begin(in: container) }
            return nil
        }
    }
}

/// A request to a key's loader.
@usableFromInline enum KeyQuestion: Sendable {
    /// Loads what is missing, for observers; does nothing if the container was released or closed.
    case missing
    /// Does the same, but throws where a read would stop the program, because no code reads.
    case reload
    case key
    /// Loads what the feature declares, for a load that replaces it.
    case own
}

extension Container {
    // Generic over the type, so that the closures that call them capture nothing.
    @usableFromInline func answer<F: Feature>(_ question: KeyQuestion, for _: F.Type) throws -> Payload? {
        try answer(question, { Request(F.self) }, { F.make(in: $0) })
    }

    @usableFromInline func answer<P: Property>(_ question: KeyQuestion, for _: P.Type) throws -> Payload? {
        try answer(question, { Request(P.self) }, { _ in Payload(P.defaultValue) })
    }

    func answer(
        _ question: KeyQuestion, of naming: (any KeyNaming)? = nil, _ request: () -> Request,
        _ load: (Container) throws -> Payload
    ) throws -> Payload? {
        switch question {
        case .missing:
            let request = request()
            return try? present(request.key, naming) ?? loadMissing(request, load)
        case .reload:
            let request = request()
            return try present(request.key, naming) ?? self.load(request, hasNoReader: true, load)
        case .key:
            let request = request()
            return try read(request.key, naming, { request }, load)
        case .own:
            let (loader, isStandIn) = try substitute(for: request())
            defer { if isStandIn { forgetInputs() } }
            return if let loader { try loader.load(self) } else { try load(self) }
        }
    }

    func answer(
        _ question: KeyQuestion, _ request: Request, _ load: @escaping @Sendable (Container) async throws -> Payload
    ) async throws -> Payload {
        if case .own = question {
            let (loader, isStandIn) = try substitute(for: request)
            defer { if isStandIn { forgetInputs() } }
            return try await (loader?.loadAsync ?? load)(self)
        }
        if let present = present(request.key, nil) { return present }
        return try await loadAsync(request, load)
    }
}

extension Container {
    /// Loads for observers, who see no value where a strict container refuses the load and has nothing to give.
    func loadMissing(_ request: Request, _ load: (Container) throws -> Payload) throws -> Payload {
        let isRefused = request.traits.isExternal && request.placeholder == nil && isStrict
        return try self.load(request, hasNoReader: isRefused, load)
    }
}

/// A load in progress that can be abandoned.
package struct PreparationHandle: Sendable {
    let task: Task<Void, Never>

    func cancel() { task.cancel() }
}

/// What a key declares, apart from its load.
@usableFromInline package struct KeyTraits: Sendable {
    /// Where the instance is to live.
    package let home: Home
    /// Whether a change of an input drops the instance.
    package let reloads: Bool
    /// Whether the feature reaches outside the process, even if nothing is declared to give in its place.
    package let isExternal: Bool
    /// Whether a strict container loads a value for tests instead.
    package let hasTestValue: Bool
    /// Whether code or another module has to supply the key.
    let isRequired: Bool
    package let isSecret: Bool

    @usableFromInline init(reloads: Bool, home: Home, isExternal: Bool) {
        self.init(home: home, reloads: reloads, isExternal: isExternal, hasTestValue: false)
    }

    init(
        home: Home = .inferred, reloads: Bool = false, isExternal: Bool = false, hasTestValue: Bool = false,
        isRequired: Bool = false, isSecret: Bool = false
    ) {
        self.home = home
        self.reloads = reloads
        self.isExternal = isExternal
        self.hasTestValue = hasTestValue
        self.isRequired = isRequired
        self.isSecret = isSecret
    }
}

extension Key {
    /// The definition, unless the key is a value that belongs to the main actor.
    var definition: KeyDefinition? {
        guard let type else { return ValueKeys.descriptor(of: self).definition(of: self) }
        return (type as? any ContainerKey.Type)?._key
    }

    /// The type of the value or instance.
    var valueType: Any.Type {
        func value<K: ContainerKey>(_: K.Type) -> Any.Type { K.ContainerValue.self }
        guard let type else { return ValueKeys.descriptor(of: self).valueType }
        return (type as? any ContainerKey.Type).map { value($0) } ?? Void.self
    }

    /// The declared traits.
    ///
    /// Those of a ``MainActorFeature`` can be read on the main actor only, so only those of its definition are available.
    package var traits: KeyTraits {
        guard let type else { return ValueKeys.descriptor(of: self).traits }
        if kind == .property { return KeyTraits(isSecret: (type as? any Property.Type)?.isSecret == true) }
        if let feature = type as? any NonisolatedFeature.Type { return feature.traits }
        let definition = (type as? any ContainerKey.Type)?._key
        return KeyTraits(
            isExternal: definition?.isExternal == true, hasTestValue: definition?.hasTestValue == true)
    }
}

extension KeyTraits {
    init<F: NonisolatedFeature>(of _: F.Type, _ definition: KeyDefinition) {
        self.init(
            home: F.home, reloads: F.reloadsWhenInputsChange, isExternal: definition.isExternal,
            hasTestValue: definition.hasTestValue)
    }
}

extension NonisolatedFeature {
    fileprivate static var traits: KeyTraits { KeyTraits(of: Self.self, _key) }
}

extension Key {
    /// Whether a strict container loads a value for tests instead.
    package var hasTestValue: Bool { traits.hasTestValue }
}

/// A key with the comparison that a write needs.
@frozen @usableFromInline package struct TypedKey: Sendable {
    @usableFromInline let raw: UInt
    @usableFromInline let equal: Equality

    // Free if the compiler knows the type.
    @inlinable init<Value: Sendable>(_ raw: UInt, of _: Value.Type) {
        self.raw = raw
        equal = Equality(of: Value.self)
    }

    init<K: ContainerKey>(_: K.Type) { self.init(K._key.raw, of: K.ContainerValue.self) }
    package init<K: ValueKey>(_ key: K) { self.init(key._key.raw, of: K.Value.self) }

    /// Creates a key for a reset, after which only properties are compared.
    init(resetting key: Key) {
        raw = key.raw
        equal = Equality(ofAny: key.kind == .property ? key.valueType : Void.self)
    }

    var key: Key { Key(raw: raw) }
}

/// Compares the values of two payloads; values of a type that isn't `Equatable` are never equal.
@frozen @usableFromInline struct Equality: Sendable {
    @usableFromInline let type: Any.Type

    @inlinable init<Value: Sendable>(of type: Value.Type) { self.type = type }
    init(ofAny type: Any.Type) { self.type = type }

    /// Whether the type is one of those that programs observe most often, whose comparison isn't user code and may happen under a lock.
    var isQuick: Bool { type == Int.self || type == Bool.self || type == UInt.self || type == Double.self }

    /// Returns the result; call it outside every lock, unless it's quick.
    func callAsFunction(_ left: Payload, _ right: Payload) -> Bool {
        // The type of a feature that's reset isn't known.
        if type == Void.self { return false }
        // A cast would cost more than the rest of a set.
        if type == Int.self || type == Bool.self || type == UInt.self { return left.bits == right.bits }
        if type == Double.self { return left.value(as: Double.self) == right.value(as: Double.self) }
        if type == String.self { return left.value(as: String.self) == right.value(as: String.self) }
        func open<Value>(_: Value.Type) -> Bool { areEqual(left, right, as: Value.self) }
        return _openExistential(type, do: open)
    }

    private func areEqual<Value>(_ left: Payload, _ right: Payload, as _: Value.Type) -> Bool {
        func areEqual<E: Equatable & SendableMetatype>(_ left: E, _ right: Any) -> Bool { (right as? E) == left }
        guard let value = cast(left.value(as: Value.self), to: AnyEquatable.self) else { return false }
        return areEqual(value, right.value(as: Value.self))
    }
}

/// A conformance that is isolated to an actor is found only on that actor; elsewhere, such values count as different.
///
/// The runtime can't be asked to leave it out: the cast below sees it wherever it may be used.
private typealias AnyEquatable = any (Equatable & SendableMetatype)

/// The compiler refuses a cast to a type with a marker protocol unless that type is a generic parameter.
private func cast<T>(_ value: Any, to _: T.Type) -> T? { value as? T }
