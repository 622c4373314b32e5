import Fugu
import Support
import Testing

/// One of the kinds of features, with what can be done to one of that kind: the tests say once what holds for all.
struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let load: @Sendable (Container) async throws -> Thing
    let ifLoaded: @Sendable (Container) -> Thing?
    let set: @Sendable (Container, Thing) -> Void
    let replace: @Sendable (Container, @escaping @Sendable (any FeatureContainer) -> Thing) -> Void
    let reset: @Sendable (Container) -> Void
    let observe: @Sendable (Container, @escaping @Sendable (Thing) -> Void) -> ObservationToken
    let values: @Sendable (Container) -> AsyncStream<Thing>
}

/// The properties in which features differ, besides their kind.
protocol Trait: SendableMetatype {
    static var reloads: Bool { get }
    static var home: Home { get }
}
enum NoTrait: Trait {
    static var reloads: Bool { false }
    static var home: Home { .inferred }
}
enum Reloading: Trait {
    static var reloads: Bool { true }
    static var home: Home { .inferred }
}
enum Local: Trait {
    static var reloads: Bool { false }
    static var home: Home { .local }
}

/// Names the thing by the tenant that it read, except the local one, which reads nothing.
private func make<T: Trait>(_: T.Type, in container: any FeatureContainer) throws -> Thing {
    let stage = container.stage
    stage.tally("made").add()
    let thing = T.self == Local.self ? Thing("local") : Thing(container[Tenant.self])
    try stage.mayFail(thing.name)
    return thing
}

struct PlainThing<T: Trait>: Feature {
    static var reloadsWhenInputsChange: Bool { T.reloads }
    static var home: Home { T.home }
    static func load(in container: any FeatureContainer) -> Thing {
        do { return try make(T.self, in: container) } catch { fatalError("\(error)") }
    }
}
struct ThrowingThing<T: Trait>: ThrowingFeature {
    static var reloadsWhenInputsChange: Bool { T.reloads }
    static var home: Home { T.home }
    static func load(in container: any FeatureContainer) throws -> Thing { try make(T.self, in: container) }
}
struct AsyncThing<T: Trait>: AsyncFeature {
    static var reloadsWhenInputsChange: Bool { T.reloads }
    static var home: Home { T.home }
    static func load(in container: any FeatureContainer) async throws -> Thing {
        await Task.yield()
        return try make(T.self, in: container)
    }
}

extension Kind {
    static func all<T: Trait>(_: T.Type) -> [Kind] { [plain(T.self)] + failing(T.self) }
    static func failing<T: Trait>(_: T.Type) -> [Kind] { [throwing(T.self), async(T.self)] }

    private static func plain<T: Trait>(_: T.Type) -> Kind {
        Kind(
            testDescription: "plain", load: { $0[PlainThing<T>.self] }, ifLoaded: { $0.ifLoaded(PlainThing<T>.self) },
            set: { $0[PlainThing<T>.self] = $1 }, replace: { $0.replace(PlainThing<T>.self, load: $1) },
            reset: { $0.reset(PlainThing<T>.self) },
            observe: { $0.observe(PlainThing<T>.self, observer: $1) },
            values: { stream($0.values(of: PlainThing<T>.self)) })
    }

    private static func throwing<T: Trait>(_: T.Type) -> Kind {
        Kind(
            testDescription: "throwing", load: { try $0[ThrowingThing<T>.self] },
            ifLoaded: { $0.ifLoaded(ThrowingThing<T>.self) }, set: { $0.set(ThrowingThing<T>.self, to: $1) },
            replace: { $0.replace(ThrowingThing<T>.self, load: $1) }, reset: { $0.reset(ThrowingThing<T>.self) },
            observe: { $0.observe(ThrowingThing<T>.self, observer: $1) },
            values: { stream($0.values(of: ThrowingThing<T>.self)) })
    }

    private static func async<T: Trait>(_: T.Type) -> Kind {
        Kind(
            testDescription: "async", load: { try await $0[AsyncThing<T>.self] },
            ifLoaded: { $0.ifLoaded(AsyncThing<T>.self) }, set: { $0.set(AsyncThing<T>.self, to: $1) },
            replace: { container, load in container.replace(AsyncThing<T>.self) { load($0) } },
            reset: { $0.reset(AsyncThing<T>.self) },
            observe: { $0.observe(AsyncThing<T>.self, observer: $1) },
            values: { stream($0.values(of: AsyncThing<T>.self)) })
    }

    /// Names the type of a sequence; ends with it.
    private static func stream(_ values: some AsyncSequence<Thing, Never> & Sendable) -> AsyncStream<Thing> {
        let (stream, continuation) = AsyncStream.makeStream(of: Thing.self)
        let task = Task {
            for await value in values { continuation.yield(value) }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
