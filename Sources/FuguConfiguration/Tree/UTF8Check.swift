extension NodeStore {
    /// Throws an error if the text isn't UTF-8 (including overlong forms, surrogates, and values beyond U+10FFFF) or
    /// is too large.
    func checkText() throws(SyntaxFailure) {
        guard end < Self.sizeLimit else { throw SyntaxFailure(problem: .tooLarge, offset: 0) }
        let source = bytes[..<end]
        if source.starts(with: [0xFF, 0xFE]) || source.starts(with: [0xFE, 0xFF]) {
            throw SyntaxFailure(problem: .utf16, offset: 0)
        }
        // The standard library's check is fast; only text that it rejects is walked here, to find the place.
        guard String(validating: source, as: UTF8.self) == nil else { return }
        throw SyntaxFailure(problem: .notUTF8, offset: firstInvalidByte())
    }

    private func firstInvalidByte() -> Int {
        var index = start
        while index < end, let length = scalarLength(at: index) { index += length }
        return index
    }

    /// Returns the length of the scalar that begins here, or `nil` if there's none.
    private func scalarLength(at index: Int) -> Int? {
        let lead = bytes[index]
        let (length, second): (Int, ClosedRange<UInt8>)
        switch lead {
        case 0...0x7F: return 1
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard index + length <= end, second.contains(bytes[index + 1]) else { return nil }
        return (2..<length).allSatisfy { bytes[index + $0] & 0xC0 == 0x80 } ? length : nil
    }
}
