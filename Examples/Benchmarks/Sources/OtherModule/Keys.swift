public import Fugu

extension ContainerKeys {
    /// A key whose member another module reads.
    public var distantLimit: PropertyKey<Int> { .init(defaultValue: 100) }
}
