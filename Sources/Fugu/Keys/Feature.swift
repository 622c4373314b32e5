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
public protocol Feature {
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
    /// What strict containers give instead; declared by ``ExternalFeature``. Not for use outside this library.
    static var _standIn: (() -> Instance)? { get }
}

extension Feature {
    /// No: the instance stays when its inputs change.
    public static var reloadsWhenInputsChange: Bool { false }
    /// No: it lives where its inputs live.
    public static var isLocal: Bool { false }
    /// Nothing: it does not reach outside the process. Not for use outside this library.
    public static var _standIn: (() -> Instance)? { nil }
}

/// A feature that reaches outside the process. Strict containers, those of tests, refuse to load it.
public protocol ExternalFeature: Feature {
    /// What a strict container gives, after it has reported the failure, so that the test goes on.
    static var placeholder: Instance { get }
}

extension ExternalFeature {
    /// The placeholder. Not for use outside this library.
    public static var _standIn: (() -> Instance)? { { placeholder } }
}

/// The namespace for value keys of features: a static constant here is all it takes.
///
///     extension Features { static let greeter = FeatureKey { Greeter(name: $0.userName) } }
///     container.greeter
public enum Features {}

/// Names a feature by a value instead of a type. Each init makes a key of its own; copies are the same key.
///
/// What a key was made with is kept for the life of the process: declare keys as static constants.
@frozen public struct FeatureKey<Instance: Sendable>: Sendable, Hashable {
    @usableFromInline let raw: UInt
    let index: UInt

    /// - Parameters:
    ///   - reloadsWhenInputsChange: Whether the instance is made anew when something changes that it was made from.
    ///   - isLocal: Whether each container that asks makes its own, though it reads nothing of its own.
    ///   - placeholder: With it the feature is external: strict containers do not load it and give this instead.
    ///   - fileID: Names the key in messages, with `line`.
    ///   - line: Names the key in messages, with `fileID`.
    ///   - load: Makes the instance, like ``Feature/load(in:)``.
    public init(
        reloadsWhenInputsChange: Bool = false, isLocal: Bool = false, placeholder: (@Sendable () -> Instance)? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        load: @escaping @Sendable (any FeatureContainer) -> Instance
    ) {
        let descriptor = FeatureDescriptor(
            reloads: reloadsWhenInputsChange, isLocal: isLocal, placeholder: placeholder, fileID: fileID, line: line,
            load: load)
        (raw, index) = ValueKeys.register(descriptor, name: nil, type: Instance.self, kind: .feature)
    }

    var descriptor: FeatureDescriptor<Instance> { ValueKeys.descriptor(at: index) as! FeatureDescriptor<Instance> }

    /// Whether both are copies of one key.
    public static func == (left: Self, right: Self) -> Bool { left.raw == right.raw }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(raw) }
}

/// What a feature key was made with.
struct FeatureDescriptor<Instance: Sendable>: ValueKeyDescriptor {
    let reloads: Bool
    let isLocal: Bool
    let placeholder: (@Sendable () -> Instance)?
    let fileID: StaticString
    let line: UInt
    let load: @Sendable (any FeatureContainer) -> Instance

    var naming: PropertyNaming? { nil }
    var label: String { "FeatureKey<\(Instance.self)> (\(fileID):\(line))" }
}
