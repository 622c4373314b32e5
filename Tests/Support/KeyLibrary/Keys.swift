public import Fugu
import FuguConfiguration

// A separate module, as an app is beside its tests: some keys are public, some internal.

extension ContainerKeys {
    /// A number.
    public var publicLimit: PropertyKey<Int> { .init(defaultValue: 30) }
    /// Nothing unless set.
    public var publicText: PropertyKey<String?> { .init() }
    /// A key with a name.
    public var publicNamed: PropertyKey<Int> { .init("two.modules.port", defaultValue: 80) }
    /// Made from a public and an internal key.
    public var publicSum: FeatureKey<Int> { .init { $0.publicLimit + $0.internalLimit } }

    var internalLimit: PropertyKey<Int> { .init(defaultValue: 3) }
    var internalWords: FeatureKey<String> { .init { "limit \($0.internalLimit)" } }
}

/// Declarations that only the module sees.
public func limitsInside(_ container: Container) -> [Int] {
    [
        container.publicLimit, container.internalLimit, container.publicLimit,
        container[ContainerKeys().internalLimit],
    ]
}
