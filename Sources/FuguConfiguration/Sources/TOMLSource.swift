/// Values of a TOML 1.1 file or text.
public struct TOMLSource: PropertySource {
    private let document: DocumentSource

    /// A file. It is read when the source is loaded, and a relative path is resolved then.
    ///
    /// - Parameters:
    ///   - path: where the file lies; a relative path is resolved when the file is read.
    ///   - isOptional: whether a file that does not exist is as good as an empty one. A file that is there but cannot be
    ///     read is an error all the same.
    public init(path: String, isOptional: Bool = false) {
        document = DocumentSource(path: path, isOptional: isOptional)
    }

    /// A text.
    ///
    /// - Parameters:
    ///   - text: the document.
    ///   - name: what it is called in errors.
    public init(text: String, name: String) { self.init(bytes: Array(text.utf8), name: name) }

    init(bytes: [UInt8], name: String) { document = DocumentSource(bytes: bytes, name: name) }

    /// The path as it was given, or the name of the text.
    public var name: String { document.name }

    /// Reads and parses everything; throws with the absolute path, line and column.
    public func load() throws(PropertyError) -> PropertySnapshot {
        try document.load { (bytes, name) throws(PropertyError) in
            try PropertySnapshot(TOMLParser.parse(bytes, name: name))
        }
    }

    /// Changes with the file.
    public func modificationStamp() -> PropertySourceStamp? { document.modificationStamp() }
}
