/// The syntax errors of a document, whose texts are in the extension below.
enum SyntaxProblem: Error, Hashable {
    /// A collection that is still open.
    enum Collection: Hashable { case array, object, inlineTable }
    /// The meaning that a word without quotes probably has.
    enum Meant: Hashable { case yes, no, nothing, infinity, notANumber, text }

    // Both formats
    case expected(String)
    case notClosed(Collection, opened: UInt32)
    case tooLarge
    case notUTF8, utf16
    case nestedTooDeep
    case givenTwice(first: UInt32)
    case stringNotClosed
    case controlInString, controlInComment
    case unknownEscape(isTOML: Bool)
    case hexDigits(Int)
    case surrogate
    case leadingZero, dotWithoutDigit
    case integerTooLarge, doubleTooLarge
    // JSON
    case unknownWord
    case commentNotClosed
    // TOML
    case bareCarriageReturn
    case notAScalarValue
    case underscore
    case malformedNumber, signedPrefix
    case unknownValue(Meant)
    case dateTime(DateTimeScanner.Failure)
    case notATable(first: UInt32)
    case closedTable(first: UInt32)
    case closedArray(first: UInt32)
    case dottedElsewhere(first: UInt32)
    case notAnArray(first: UInt32)
    case multilineKey
}

/// A problem and the offset of its byte; the line is counted only when it's needed.
struct SyntaxFailure: Error {
    let problem: SyntaxProblem
    let offset: Int
}

extension PropertyError {
    init(_ failure: SyntaxFailure, in store: NodeStore, source: String) {
        let (line, column) = store.position(of: failure.offset)
        self.init(
            failure.problem.text(at: failure.offset, in: store), source: source, line: line, column: column)
    }
}

/// The texts of the syntax errors of both parsers, which quote at most the character at which parsing stopped.
extension SyntaxProblem {
    func text(at offset: Int, in store: NodeStore) -> String {
        switch self {
        case .expected(let what):
            "expected \(what), found \(store.characterText(at: offset))"
                + advice(expecting: what, at: offset, in: store)
        case .notClosed(let collection, let opened):
            "expected \(collection.ending) opened on line \(store.line(of: opened)), found "
                + store.characterText(at: offset)
        case .tooLarge: "the text is larger than \(NodeStore.sizeLimit >> 20) MB"
        case .notUTF8:
            "not UTF-8: unexpected byte 0x\(String(store.bytes[offset], radix: 16, uppercase: true))"
        case .utf16: "not UTF-8: the text looks like UTF-16"
        case .nestedTooDeep: ErrorText.nestedTooDeep
        case .givenTwice(let first): "the name appears twice; the first is on line \(store.line(of: first))"
        case .stringNotClosed: "the string that begins here isn't closed"
        case .controlInString:
            "a string can't contain the control character \(store.scalarText(at: offset)); escape it"
        case .controlInComment: "a comment can't contain the control character \(store.scalarText(at: offset))"
        case .unknownEscape(let isTOML):
            "unknown escape sequence: \\ and \(store.characterText(at: offset)); to write a backslash, use \\\\"
                + (isTOML ? ", or put the string in single quotes" : "")
        case .hexDigits(let count):
            "expected \(count) hexadecimal digits, found \(store.characterText(at: offset)); to write a backslash, use \\\\"
                // Only TOML has escapes with another number of digits.
                + (count == 4 ? "" : ", or put the string in single quotes")
        case .surrogate: "a surrogate without its other half"
        case .leadingZero: "a number can't begin with a zero followed by another digit"
        case .dotWithoutDigit: "the decimal point needs a digit on both sides"
        case .integerTooLarge: "the integer is outside the range \(Int64.min)...\(Int64.max)"
        case .doubleTooLarge: "the number is too large for a Double"
        case .unknownWord: "unknown word; only true, false, and null are written without quotes"
        case .commentNotClosed: "the comment that begins here isn't closed"
        default: tomlText(in: store)
        }
    }

    /// Returns a hint for text that is written in the syntax of another format.
    private func advice(expecting what: String, at offset: Int, in store: NodeStore) -> String {
        guard offset < store.bytes.count else { return "" }
        return switch (what, store.bytes[offset]) {
        case ("a key", UInt8(ascii: ";")), ("a key", UInt8(ascii: "/")): "; a comment begins with #"
        case ("a name in double quotes or }", UInt8(ascii: "#")): "; a comment begins with //"
        case ("the end of the line", UInt8(ascii: "#")): "; a comment begins after a blank"
        case ("a key", 0x80...), ("= or . after the key", 0x80...): "; put a name with this character in quotes"
        default: ""
        }
    }

    private func tomlText(in store: NodeStore) -> String {
        switch self {
        case .bareCarriageReturn: "a carriage return must be followed by a line feed"
        case .notAScalarValue: "the escape sequence isn't a Unicode scalar"
        case .underscore: "an underscore in a number must be between two digits"
        case .malformedNumber: "malformed number"
        case .signedPrefix: "a number with the prefix 0x, 0o, or 0b can't have a sign"
        case .unknownValue(let meant): "unknown value; \(meant.advice)"
        case .dateTime(let failure): failure.text
        case .notATable(let first): "the name already has a value that isn't a table, on line \(store.line(of: first))"
        case .closedTable(let first):
            "the table on line \(store.line(of: first)) is written in braces and can't be extended"
        case .closedArray(let first):
            "the array on line \(store.line(of: first)) is written in brackets and can't be extended"
        case .dottedElsewhere(let first):
            "the table on line \(store.line(of: first)) has a header and can't be extended by a dotted key"
        case .notAnArray(let first):
            "the name is already in use, not as an array of tables, on line \(store.line(of: first))"
        case .multilineKey: "a key can't be a multiline string"
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
        case .text: "put a string in quotes"
        }
    }
}

extension DateTimeScanner.Failure {
    fileprivate var text: String {
        switch self {
        case .malformed: "malformed date or time; write 2024-01-05, 07:32:00, or both with a T between them"
        case .month: "the month isn't in 1...12"
        case .day: "the month has no such day"
        case .hour: "the hour isn't in 0...23"
        case .minute: "the minute isn't in 0...59"
        case .second: "the second isn't in 0...60"
        case .offset: "the offset is a day or more"
        }
    }
}
