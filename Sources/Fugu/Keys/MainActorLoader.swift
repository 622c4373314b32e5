// How features of the main actor are loaded.

extension Request {
    @usableFromInline @MainActor init<F: MainActorFeature>(_: F.Type, at place: SourcePlace? = nil) {
        self.init(Key.feature(F.self), F.traits, F.testLoad, at: place)
    }

    fileprivate init(
        _ key: UInt, _ traits: KeyTraits, _ testValue: (@MainActor @Sendable (any FeatureContainer) -> Payload)?,
        at place: SourcePlace?
    ) {
        let placeholder: (@Sendable (Container) -> Payload)? =
            if let testValue { { container in MainActor.assumeIsolated { testValue(container) } } } else { nil }
        self.init(key, traits, placeholder: placeholder, at: place)
    }
}

/// The load of a feature of the main actor, found by its key.
struct MainActorLoader: Sendable {
    let key: Key
    private let traits: KeyTraits
    private let place: SourcePlace?
    private let testValue: (@MainActor @Sendable (any FeatureContainer) -> Payload)?
    let load: @MainActor @Sendable (any FeatureContainer) -> Payload

    @MainActor init(_ key: Key) {
        self.key = key
        if let feature = key.type as? any MainActorFeature.Type {
            (traits, place, testValue, load) = (feature.traits, nil, feature.testLoad, { feature.make(in: $0) })
        } else if let feature = ValueKeys.descriptor(of: key) as? FeatureDescriptor {
            (traits, place) = (feature.traits, SourcePlace(feature.place.fileID, feature.place.line))
            testValue = feature.testValue.map { value in { @MainActor @Sendable in feature.run(value, in: $0) } }
            load = { feature.make(in: $0) }
        } else {
            fatalError(key.name)
        }
    }

    var request: Request { Request(key.raw, traits, testValue, at: place) }

    /// Reads the feature.
    @inline(never) @MainActor func read(in container: Container) -> Payload {
        container.readSlowly(key.raw, nil, { request }) { load($0) }
    }

    /// Loads the feature if it's missing, unless the container was released or closed.
    @MainActor func loadIfMissing(in container: Container) {
        _ = try? container.present(key, nil) ?? container.loadMissing(request) { load($0) }
    }
}

/// Loads on the main actor, once for all that ask before it's free.
final class MainActorReload: Sendable {
    private let key: Key
    private let isWaiting = Locked(false)

    init(of key: Key) { self.key = key }

    func begin(in container: Container) {
        guard
            isWaiting.withLock({ isWaiting in
                defer { isWaiting = true }
                return !isWaiting
            })
        else { return }
        // The load is in nobody's load, whoever has changed the input.
        Container.inNobodysLoad {
            _ = Task { @MainActor in
                isWaiting.withLock { $0 = false }
                if container.node.isRefusing { return }
                load(in: container)
            }
        }
    }

    @MainActor private func load(in container: Container) {
        Container.with(container) { MainActorLoader(key).loadIfMissing(in: container) }
    }

    /// Reads the feature.
    @MainActor func read(in container: Container) -> Payload { MainActorLoader(key).read(in: container) }
}

extension Key {
    /// The declared home, which features of the main actor declare there.
    package var home: Home {
        get async { type is any MainActorFeature.Type ? await mainActorHome : traits.home }
    }

    @MainActor private var mainActorHome: Home { (type as? any MainActorFeature.Type)?.home ?? .inferred }
}

extension MainActorFeature {
    fileprivate static var traits: KeyTraits {
        KeyTraits(
            home: home, reloads: reloadsWhenInputsChange, isExternal: hasTestValue, hasTestValue: hasTestValue)
    }
    fileprivate static var testLoad: (@MainActor @Sendable (any FeatureContainer) -> Payload)? {
        if hasTestValue { { instance(testValue(in: $0)) } } else { nil }
    }

    /// Loads, or returns the value for tests.
    @usableFromInline static func make(in container: any FeatureContainer) -> Payload {
        if hasTestValue, container._container.givesTestValue { return instance(testValue(in: container)) }
        if UnusedTestValue.self != Void.self || UnusedTestFunction.self != Void.self {
            container._container.reportUnusedTestValue()
        }
        return Payload(load(in: container))
    }
}
