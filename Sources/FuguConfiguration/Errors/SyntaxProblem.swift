/// The syntax errors of a document, whose texts are in `SyntaxText.swift`.
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
