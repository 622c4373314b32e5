public import Fugu

// A module of its own, as an app is beside its tests: some keys are for everybody, some for the module.

extension ContainerKeys {
    public var publicLimit: PropertyKey<Int> { .init(defaultValue: 30) }
    public var publicText: PropertyKey<String?> { .init() }
    public var publicNamed: PropertyKey<Int> { .init("two.modules.port", defaultValue: 80) }
    public var publicSum: FeatureKey<Int> { .init { $0.publicLimit + $0.internalLimit } }

    var internalLimit: PropertyKey<Int> { .init(defaultValue: 3) }
    var internalWords: FeatureKey<String> { .init { "limit \($0.internalLimit)" } }
}

/// What the module itself sees.
public func limitsInside(_ container: Container) -> [Int] {
    [container.publicLimit, container.internalLimit, container[\.publicLimit], container[ContainerKeys().internalLimit]]
}
