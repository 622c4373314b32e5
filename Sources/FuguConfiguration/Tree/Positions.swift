extension NodeStore {
    /// Line and column of a byte of the source, from 1, columns in Unicode scalars. Costs a walk from the beginning.
    func position(of offset: Int) -> (line: Int, column: Int) {
        var cursor = PositionCursor(start: start)
        return cursor.move(to: offset, in: bytes)
    }

    func line(of offset: UInt32) -> Int { position(of: Int(offset)).line }

    /// The one character that a syntax error may quote.
    func characterText(at offset: Int) -> String {
        guard offset < end else { return "the end of the text" }
        if bytes[offset] == UInt8(ascii: "\n") || bytes[offset] == UInt8(ascii: "\r") { return "the end of the line" }
        return scalarText(at: offset)
    }

    func scalarText(at offset: Int) -> String {
        let scalar = String(decoding: bytes[offset..<min(offset + 4, end)], as: UTF8.self).unicodeScalars.first
        return scalar.map(Quoted.scalar) ?? ""
    }
}

/// Turns offsets into lines and columns; offsets that only grow cost one walk together.
struct PositionCursor {
    private let start: Int
    private var offset: Int
    private var line = 1
    private var column = 1

    init(start: Int) {
        self.start = start
        offset = start
    }

    mutating func move(to target: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        if target < offset { self = PositionCursor(start: start) }
        while offset < target {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            offset += 1
        }
        return (line, column)
    }
}
