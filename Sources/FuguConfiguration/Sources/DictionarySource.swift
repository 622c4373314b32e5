/// A source of values from Swift: `["api": ["timeout": 30]]` or `["api.timeout": 30]`.
public struct DictionarySource: CountedSource {
    private let values: [String: PropertyValue]
    /// The name of the source in errors.
    public let name: String

    /// Creates a source of values.
    ///
    /// - Parameters:
    ///   - values: The values. A name with dots answers like a nested one.
    ///   - name: The name of the source in errors.
    public init(_ values: [String: PropertyValue], name: String) {
        self.values = values
        self.name = name
    }

    var valueCount: Int { values.count }

    /// Returns the values.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` if a dotted name also occurs nested.
    /// - Complexity: O(*n*) for *n* values.
    public func load() throws(PropertyError) -> PropertySnapshot { try PropertySnapshot(values, source: name) }
}
