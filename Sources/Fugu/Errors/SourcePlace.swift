/// A place in source code.
///
/// A program contains the places that it mentions, so only tests record full paths.
@usableFromInline package struct SourcePlace: Sendable {
    package let fileID: StaticString
    package let filePath: StaticString?
    package let line: UInt
    package let column: Int

    @usableFromInline init(_ fileID: StaticString, _ line: UInt) { self.init(fileID: fileID, line: line) }

    package init(fileID: StaticString, filePath: StaticString? = nil, line: UInt, column: Int = 1) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
        self.column = column
    }
}

extension SourcePlace {
    /// The place, or `nil` if it's in this package, as for `container.timestamp`.
    var outsideLibrary: SourcePlace? {
        let module = fileID.description.prefix { $0 != "/" }
        return ["Fugu", "FuguConfiguration", "FuguFoundation", "FuguTesting"].contains(module) ? nil : self
    }
}

extension SourcePlace: CustomStringConvertible {
    @usableFromInline package var description: String { "\(fileID):\(line)" }
}
