public import Fugu

extension Properties {
    /// How often a request is tried again.
    public static var retries: PropertyKey<Int> { storedRetries }
}
private let storedRetries = PropertyKey(defaultValue: 3)
