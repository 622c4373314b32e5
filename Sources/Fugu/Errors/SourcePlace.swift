/// A place in source code.
///
/// Programs are shipped with the places that they name, so the path of a file is named by tests only.
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
    /// The place, unless it lies in this package, whose code is nobody's mistake: `container.timestamp` reads here.
    var outsideLibrary: SourcePlace? {
        let module = fileID.description.prefix { $0 != "/" }
        return ["Fugu", "FuguConfiguration", "FuguFoundation", "FuguTesting"].contains(module) ? nil : self
    }
}

extension SourcePlace: CustomStringConvertible {
    @usableFromInline package var description: String { "\(fileID):\(line)" }
}
