/// Why a value does not fit, before anyone has asked to have it in words: types that try one form after another throw
/// many of these and print none.
struct DecodingFailure: Error {
    let value: LocatedValue
    /// What to append to the name for the member that the value should have had: `.port` or `[3]`.
    var missing: String?
    var expected: String?
    /// Told by the type itself; may quote the value.
    var reason: String?

    /// The error to show. Unless `quotesValues`, nothing in it comes from the value.
    func error(quotesValues: Bool) -> PropertyError {
        let origin = value.origin
        let full = value.name + (missing ?? "")
        let name = value.name.isEmpty && full.hasPrefix(".") ? String(full.dropFirst()) : full
        var error: PropertyError
        if let expected {
            let found = missing == nil ? value.kindText(quotesValues: quotesValues) : "nothing"
            error = PropertyError(expected: expected, found: found)
        } else {
            error = PropertyError(
                quotesValues ? reason ?? ErrorText.masked(expected: nil) : ErrorText.masked(expected: nil))
        }
        (error.source, error.line, error.column) = (origin.source, origin.line, origin.column)
        error.name = name.isEmpty ? nil : name
        return error
    }
}

extension LocatedValue {
    /// What the value is, for an error: `string "abc"`, or only `string`.
    package func kindText(quotesValues: Bool) -> String {
        let (kind, value) = kindAndText
        guard quotesValues, let value else { return kind }
        return "\(kind) \(value)"
    }

    private var kindAndText: (kind: String, value: String?) {
        switch node.kind {
        case .null: ("null", nil)
        case .bool: ("bool", "\(node.bool)")
        case .integer: ("integer", "\(node.integer)")
        case .double: ("double", "\(node.double)")
        case .string: ("string", Quoted.string(text, limit: 40))
        case .text, .word: ("text", Quoted.string(text, limit: 40))
        case .array: ("array", nil)
        case .table: ("table", nil)
        case .other: otherKindAndText
        }
    }

    private var otherKindAndText: (kind: String, value: String?) {
        let value = tree.store.others[node.otherIndex]
        switch value {
        case .offsetDateTime: return ("offset date-time", value.description)
        case .localDateTime: return ("local date-time", value.description)
        case .localDate: return ("local date", value.description)
        case .localTime: return ("local time", value.description)
        default: return ("data", nil)
        }
    }

    /// An error that other decodable types may catch and that carries the place for us.
    func mismatch(_ type: Any.Type, expected: String? = nil) -> DecodingError {
        let failure = DecodingFailure(value: self, expected: expected ?? "\(type)")
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "not a \(failure.expected ?? "")", underlyingError: failure)
        return node.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func missing(_ key: some CodingKey, expected: String) -> DecodingError {
        let missing = key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        let failure = DecodingFailure(value: self, missing: missing, expected: expected)
        return .keyNotFound(
            key, DecodingError.Context(codingPath: path, debugDescription: "missing", underlyingError: failure))
    }

    /// What a type threw, located here unless it was located deeper.
    func located(_ error: any Error, decoding type: Any.Type) -> any Error {
        if Self.failure(in: error) != nil { return error }
        if let failure = error as? PropertyError { return failure }
        let failure: DecodingFailure
        if case .dataCorrupted? = error as? DecodingError, type is any RawRepresentable.Type {
            failure = DecodingFailure(value: self, expected: Self.choices(of: type))
        } else {
            failure = DecodingFailure(value: self, reason: Self.reason(error))
        }
        return DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: path, debugDescription: "not a \(type)", underlyingError: failure))
    }

    static func failure(in error: any Error) -> DecodingFailure? {
        switch error as? DecodingError {
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?, .keyNotFound(_, let context)?,
            .dataCorrupted(let context)?:
            context.underlyingError as? DecodingFailure
        default: nil
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?, .keyNotFound(_, let context)?,
            .dataCorrupted(let context)?:
            context.debugDescription
        default: "\(error)"
        }
    }

    /// `Mode (slow, fast)` where the type can list its cases.
    private static func choices(of type: Any.Type) -> String {
        guard let listed = type as? any CaseIterable.Type else { return "\(type)" }
        return "\(type) (\(rawValues(of: listed)))"
    }

    private static func rawValues<T: CaseIterable>(of type: T.Type) -> String {
        type.allCases.prefix(12).map { ($0 as? any RawRepresentable).map { "\($0.rawValue)" } ?? "" }.joined(
            separator: ", ")
    }
}
