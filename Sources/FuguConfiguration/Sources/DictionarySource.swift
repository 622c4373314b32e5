/// Values from Swift: `["api": ["timeout": 30]]` or `["api.timeout": 30]`.
public struct DictionarySource: PropertySource {
    private let values: [String: PropertyValue]
    /// What the source is called in errors.
    public let name: String

    /// - Parameters:
    ///   - values: the values; a name with dots answers as a nested one does.
    ///   - name: what the source is called in errors.
    public init(_ values: [String: PropertyValue], name: String) {
        self.values = values
        self.name = name
    }

    /// Throws if a dotted name is also given nested.
    public func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot(values, source: name) }
}
