import Fugu

extension NodeStore {
    /// Returns the line and column of a byte of the source, from 1, with columns in Unicode scalars.
    ///
    /// It walks from the beginning.
    func position(of offset: Int) -> (line: Int, column: Int) {
        var cursor = PositionCursor(start: start)
        return cursor.move(to: offset, in: bytes)
    }

    func line(of offset: UInt32) -> Int { position(of: Int(offset)).line }

    /// Returns the one character that a syntax error may quote.
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

/// Converts offsets to lines and columns; increasing offsets take one walk in total.
struct PositionCursor {
    private let start: Int
    private(set) var offset: Int
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

/// Finds the places in a document.
///
/// The first lookup walks through the document, and every later one through a few thousand bytes, so placing ten
/// thousand errors in a file takes no longer than reading it.
final class PositionIndex: Sendable {
    private static let spacing = 4096

    private let marks = Locked<[PositionCursor]>([])

    func position(of offset: Int, in store: NodeStore) -> (line: Int, column: Int) {
        var cursor = marks.withLock { marks in
            if marks.isEmpty { marks = Self.marks(in: store) }
            return marks[max(0, offset - store.start) / Self.spacing]
        }
        return cursor.move(to: offset, in: store.bytes)
    }

    private static func marks(in store: NodeStore) -> [PositionCursor] {
        var cursor = PositionCursor(start: store.start)
        var marks = [cursor]
        while cursor.offset + spacing <= store.end {
            _ = cursor.move(to: cursor.offset + spacing, in: store.bytes)
            marks.append(cursor)
        }
        return marks
    }
}
