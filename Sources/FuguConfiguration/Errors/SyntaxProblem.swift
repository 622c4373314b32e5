/// The texts of every syntax error of both parsers. They quote at most the one character at which parsing stopped.
enum SyntaxProblem: Error, Hashable {
    // Both formats
    case expected(String)
    case tooLarge
    case notUTF8, utf16
    case nestedTooDeep
    case givenTwice(first: UInt32)
    case stringNotClosed
    case controlInString, controlInComment
    case unknownEscape
    case hexDigits(Int)
    case surrogate
    case leadingZero
    case integerTooLarge, doubleTooLarge
    // JSON
    case unknownWord
    case commentNotClosed
    // TOML
    case bareCarriageReturn
    case notAScalarValue
    case underscore
    case malformedNumber, signedPrefix, unknownValue
    case dateTime(DateTimeScanner.Failure)
    case notATable(first: UInt32)
    case closedTable(first: UInt32)
    case closedArray(first: UInt32)
    case dottedElsewhere(first: UInt32)
    case notAnArray(first: UInt32)
    case multilineKey
}

/// A problem and the byte at which it was met; lines are counted only once it is known that there is one.
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

extension SyntaxProblem {
    func text(at offset: Int, in store: NodeStore) -> String {
        switch self {
        case .expected(let what): "expected \(what), found \(store.characterText(at: offset))"
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
        case .unknownEscape: "unknown escape: \\ and \(store.characterText(at: offset))"
        case .hexDigits(let count): "expected \(count) hexadecimal digits, found \(store.characterText(at: offset))"
        case .surrogate: "half of a surrogate pair without the other half"
        case .leadingZero: "a number cannot begin with a zero that another digit follows"
        case .integerTooLarge: "the integer lies outside of \(Int64.min)...\(Int64.max)"
        case .doubleTooLarge: "the number is too large for a Double"
        case .unknownWord: "unknown word; only true, false and null stand without quotes"
        case .commentNotClosed: "the comment that begins here is not closed"
        default: tomlText(in: store)
        }
    }

    private func tomlText(in store: NodeStore) -> String {
        switch self {
        case .bareCarriageReturn: "a carriage return must be followed by a line feed"
        case .notAScalarValue: "the escape names no Unicode scalar"
        case .underscore: "an underscore in a number must stand between two digits"
        case .malformedNumber: "malformed number"
        case .signedPrefix: "a number with the prefix 0x, 0o or 0b has no sign"
        case .unknownValue: "unknown value; a string stands in quotes"
        case .dateTime(let failure): Self.dateTimeText(failure)
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

    private static func dateTimeText(_ failure: DateTimeScanner.Failure) -> String {
        switch failure {
        case .malformed: "malformed date or time"
        case .month: "the month is not in 1...12"
        case .day: "the month has no such day"
        case .hour: "the hour is not in 0...23"
        case .minute: "the minute is not in 0...59"
        case .second: "the second is not in 0...60"
        case .offset: "the offset is a day or more"
        }
    }
}
