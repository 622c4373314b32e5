/// Values from Swift: `["api": ["timeout": 30]]` or `["api.timeout": 30]`.
public struct DictionarySource: CountedSource {
    private let values: [String: PropertyValue]
    /// What the source is called in errors.
    public let name: String

    /// Creates a source of values.
    ///
    /// - Parameters:
    ///   - values: The values; a name with dots answers as a nested one does.
    ///   - name: What the source is called in errors.
    public init(_ values: [String: PropertyValue], name: String) {
        self.values = values
        self.name = name
    }

    var valueCount: Int { values.count }

    /// Takes the values.
    ///
    /// - Throws: A ``PropertyError`` if a dotted name is also given nested.
    public func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot(values, source: name) }
}
