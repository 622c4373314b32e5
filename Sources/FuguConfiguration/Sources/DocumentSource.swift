/// The part that file sources share: where the text comes from.
///
/// `load` reads the file.
package struct DocumentSource: Sendable {
    private enum Origin {
        case file(path: String, isOptional: Bool)
        case text([UInt8], name: String)
    }

    private let origin: Origin

    package init(path: String, isOptional: Bool) { origin = .file(path: path, isOptional: isOptional) }

    package init(bytes: [UInt8], name: String) { origin = .text(bytes, name: name) }

    package var name: String {
        switch origin {
        case .file(let path, _): path
        case .text(_, let name): name
        }
    }

    /// Reads the bytes and passes them to a closure with the name to show in errors; a missing optional file gives an
    /// empty snapshot.
    package func load(
        _ parse: ([UInt8], _ name: String) throws(PropertyError) -> PropertySnapshot
    ) throws(PropertyError) -> PropertySnapshot {
        switch origin {
        case .text(let bytes, let name): return try parse(bytes, name)
        case .file(let path, let isOptional):
            let path = FileContents.absolutePath(path)
            let bytes: [UInt8]
            do {
                bytes = try FileContents.read(path)
            } catch {
                if isOptional, error.isMissing { return .missing(source: path) }
                throw PropertyError(ErrorText.unreadable(error.description), source: path)
            }
            return try parse(bytes, path)
        }
    }

    package func modificationStamp() -> PropertySourceStamp? {
        switch origin {
        case .file(let path, _): PropertySourceStamp(file: path)
        case .text: PropertySourceStamp()
        }
    }
}
