/// A source that reads a TOML 1.1 file or text.
public struct TOMLSource: PropertySource {
    private let document: DocumentSource

    /// Creates a source that reads a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. A relative path is resolved when the file is read.
    ///   - isOptional: Pass `true` to treat a missing file as empty. A file that can't be read is an error anyway.
    public init(path: String, isOptional: Bool = false) {
        document = DocumentSource(path: path, isOptional: isOptional)
    }

    /// Creates a source that reads a text.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - name: The name of the text in errors.
    public init(text: String, name: String) { self.init(bytes: Array(text.utf8), name: name) }

    init(bytes: [UInt8], name: String) { document = DocumentSource(bytes: bytes, name: name) }

    /// The path as it was given, or the name of the text.
    public var name: String { document.name }

    /// Reads and parses the file or text.
    ///
    /// - Returns: The values.
    /// - Throws: ``PropertyError`` with the absolute path, line, and column.
    /// - Complexity: O(*n*) for *n* bytes.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try document.load { (bytes, name) throws(PropertyError) in
            try PropertySnapshot(TOMLParser.parse(bytes, name: name))
        }
    }

    /// Returns a stamp that differs after the file has changed.
    ///
    /// - Returns: The stamp, or `nil` for a text.
    public func modificationStamp() -> PropertySourceStamp? { document.modificationStamp() }
}
