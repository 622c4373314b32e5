public import Fugu

extension ContainerKeys {
    /// How often a request is tried again.
    public var retries: PropertyKey<Int> { .init(defaultValue: 3) }
}
