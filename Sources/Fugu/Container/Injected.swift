/// Reads from a container under a key path, each time anew: `@Injected(\.timestamp) var timestamp`.
///
/// Takes the container that is ``Container/current`` when the wrapper is made, or the one it is given, the handle of
/// `load(in:)` for example. It suits structs, actors and main-actor classes; a nonisolated `Sendable` class cannot use
/// it, since a property wrapper is a `var`: keep the container there and read from it.
@propertyWrapper public struct Injected<Value>: Sendable {
    private let keyPath: any KeyPath<any FeatureContainer, Value> & Sendable
    private let container: any FeatureContainer

    /// - Parameters:
    ///   - keyPath: What to read.
    ///   - container: Where to read it; kept, so a wrapper keeps a container alive, but not the handle of a load.
    public init(
        _ keyPath: any KeyPath<any FeatureContainer, Value> & Sendable,
        in container: any FeatureContainer = Container.current
    ) {
        self.keyPath = keyPath
        self.container = container
    }

    /// What the container has now.
    public var wrappedValue: Value { container[keyPath: keyPath] }
}
