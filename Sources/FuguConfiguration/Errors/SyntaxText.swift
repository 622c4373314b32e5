/// The texts of every syntax error of both parsers. They quote at most the one character at which parsing stopped.
extension SyntaxProblem {
    func text(at offset: Int, in store: NodeStore) -> String {
        switch self {
        case .expected(let what):
            "expected \(what), found \(store.characterText(at: offset))"
                + advice(expecting: what, at: offset, in: store)
        case .notClosed(let collection, let opened):
            "expected \(collection.ending) opened on line \(store.line(of: opened)), found "
                + store.characterText(at: offset)
        case .tooLarge: "larger than \(NodeStore.sizeLimit >> 20) MB"
        case .notUTF8:
            "not UTF-8: byte 0x\(String(store.bytes[offset], radix: 16, uppercase: true)) does not belong here"
        case .utf16: "not UTF-8: the text begins like UTF-16"
        case .nestedTooDeep: ErrorText.nestedTooDeep
        case .givenTwice(let first): "the name is given twice; the first is on line \(store.line(of: first))"
        case .stringNotClosed: "the string that begins here is not closed"
        case .controlInString:
            "a string cannot hold the control character \(store.scalarText(at: offset)) as it is; escape it"
        case .controlInComment: "a comment cannot hold the control character \(store.scalarText(at: offset))"
        case .unknownEscape(let isTOML):
            "unknown escape: \\ and \(store.characterText(at: offset)); for a backslash write \\\\"
                + (isTOML ? ", or the string in single quotes" : "")
        case .hexDigits(let count):
            "expected \(count) hexadecimal digits, found \(store.characterText(at: offset)); for a backslash write \\\\"
                // JSON has none but four.
                + (count == 4 ? "" : ", or the string in single quotes")
        case .surrogate: "half of a surrogate pair without the other half"
        case .leadingZero: "a number cannot begin with a zero that another digit follows"
        case .dotWithoutDigit: "a digit must stand on both sides of the dot"
        case .integerTooLarge: "the integer lies outside of \(Int64.min)...\(Int64.max)"
        case .doubleTooLarge: "the number is too large for a Double"
        case .unknownWord: "unknown word; only true, false and null stand without quotes"
        case .commentNotClosed: "the comment that begins here is not closed"
        default: tomlText(in: store)
        }
    }

    /// What those may want to know who write as in another format.
    private func advice(expecting what: String, at offset: Int, in store: NodeStore) -> String {
        guard offset < store.bytes.count else { return "" }
        return switch (what, store.bytes[offset]) {
        case ("a key", UInt8(ascii: ";")), ("a key", UInt8(ascii: "/")): "; a comment begins with #"
        case ("a name in double quotes or }", UInt8(ascii: "#")): "; a comment begins with //"
        case ("a key", 0x80...), ("= or . after the key", 0x80...): "; a name with such a character stands in quotes"
        default: ""
        }
    }

    private func tomlText(in store: NodeStore) -> String {
        switch self {
        case .bareCarriageReturn: "a carriage return must be followed by a line feed"
        case .notAScalarValue: "the escape names no Unicode scalar"
        case .underscore: "an underscore in a number must stand between two digits"
        case .malformedNumber: "malformed number"
        case .signedPrefix: "a number with the prefix 0x, 0o or 0b has no sign"
        case .unknownValue(let meant): "unknown value; \(meant.advice)"
        case .dateTime(let failure): failure.text
        case .notATable(let first): "the name already has a value that is no table, on line \(store.line(of: first))"
        case .closedTable(let first):
            "the table on line \(store.line(of: first)) stands in braces and cannot be extended"
        case .closedArray(let first):
            "the array on line \(store.line(of: first)) stands in brackets and cannot be extended"
        case .dottedElsewhere(let first):
            "the table on line \(store.line(of: first)) has a header and cannot be extended by a dotted key"
        case .notAnArray(let first):
            "the name is already given, not as an array of tables, on line \(store.line(of: first))"
        case .multilineKey: "a key cannot be a string of several lines"
        default: preconditionFailure("every problem has a text")
        }
    }
}

extension SyntaxProblem.Collection {
    fileprivate var ending: String {
        switch self {
        case .array: ", or ] of the array"
        case .object: ", or } of the object"
        case .inlineTable: ", or } of the table"
        }
    }
}

extension SyntaxProblem.Meant {
    fileprivate var advice: String {
        switch self {
        case .yes: "write true"
        case .no: "write false"
        case .nothing: "TOML has no null; leave the name out"
        case .infinity: "write inf"
        case .notANumber: "write nan"
        case .text: "a string stands in quotes"
        }
    }
}

extension DateTimeScanner.Failure {
    fileprivate var text: String {
        switch self {
        case .malformed: "malformed date or time; write 2024-01-05, 07:32:00, or both with a T between them"
        case .month: "the month is not in 1...12"
        case .day: "the month has no such day"
        case .hour: "the hour is not in 0...23"
        case .minute: "the minute is not in 0...59"
        case .second: "the second is not in 0...60"
        case .offset: "the offset is a day or more"
        }
    }
}
