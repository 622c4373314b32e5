/// Something that is made when it is first needed, from other things of the container, and kept.
///
///     struct Greeter: Feature {
///         let name: String
///         static func load(in container: any FeatureContainer) -> Greeter { Greeter(name: container[UserName.self]) }
///     }
///     container[Greeter.self].name
///
/// What `load(in:)` reads decides where the instance lives: in the deepest container that holds anything it read. A type
/// that belongs to an actor conforms to it in isolation, `extension Model: @MainActor Feature`.
public protocol Feature: Keyed where Held == Instance {
    /// What is held: the instance.
    associatedtype Held = Instance
    /// What is made; the conforming type itself unless said.
    associatedtype Instance: Sendable = Self
    /// Makes the instance. Runs once however many threads ask, without any lock held.
    ///
    /// `container` records what is read from it; afterwards, if the instance keeps it, it answers from where the
    /// instance lives. While loading it can only be read and be given closers.
    static func load(in container: any FeatureContainer) -> Instance
    /// Whether the instance is dropped and made anew when something changes that it was made from. False unless said.
    static var reloadsWhenInputsChange: Bool { get }
    /// Whether each container that asks makes its own, though it reads nothing of its own. False unless said.
    static var isLocal: Bool { get }
    /// Whether it must live in the root. False unless said.
    ///
    /// A read through a child that overrides something it was made from is then an error, so that what is dear is never
    /// made once for each request by accident.
    static var isShared: Bool { get }
    /// What strict containers give instead; declared by ``ExternalFeature``. Not for use outside this library.
    static var _standIn: (() -> Instance)? { get }
    /// Loads, unless the program runs for a preview. Not for use outside this library.
    static func _make(in container: any FeatureContainer) -> Instance
}

extension Feature {
    /// No: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// No: it lives where its inputs live.
    public static var isLocal: Bool { false }
    /// No: it lives where its inputs live.
    public static var isShared: Bool { false }
    /// The identity of the key. Not for use outside this library.
    @inlinable @inline(__always) public static var _raw: UInt { Key.feature(Self.self) }
    /// Nothing: it does not reach outside the process. Not for use outside this library.
    public static var _standIn: (() -> Instance)? { nil }
    /// Loads. Not for use outside this library.
    @inlinable public static func _make(in container: any FeatureContainer) -> Instance { load(in: container) }
    /// Loads the instance if there is none. Not for use outside this library.
    public static func _prepare(in container: Container, reportsFailure: Bool) -> PreparationHandle? {
        container.prepare(Request(Self.self)) { Payload(_make(in: $0)) }
    }
}

/// A feature that reaches outside the process. Strict containers, those of tests, refuse to load it.
public protocol ExternalFeature: Feature {
    /// What a strict container gives, after it has reported the failure, so that the test goes on.
    static var placeholder: Instance { get }
    /// What containers give in a process that runs for an Xcode preview; the placeholder unless said.
    ///
    /// A preview is recognized by the environment variable `XCODE_RUNNING_FOR_PREVIEWS`, set to `1`.
    static var preview: Instance { get }
}

extension ExternalFeature {
    /// The placeholder. Not for use outside this library.
    public static var _standIn: (() -> Instance)? { { placeholder } }
    /// The placeholder.
    public static var preview: Instance { placeholder }
    /// Loads, unless the program runs for a preview. Not for use outside this library.
    public static func _make(in container: any FeatureContainer) -> Instance {
        PreviewRun.isOn ? preview : load(in: container)
    }
}
