/// What can be wrong with a document; the texts stand with all others in `ErrorText.swift`.
enum SyntaxProblem: Error, Hashable {
    /// What stays open until its bracket or brace.
    enum Collection: Hashable { case array, object, inlineTable }
    /// What a word without quotes was probably meant to be.
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
