import Fugu

/// The reason why a value can't be decoded, without its text: a type that tries one form after another throws many of
/// these and prints none.
struct DecodingFailure: Error {
    let value: LocatedValue
    /// The missing member of the value.
    var missing: PathKey?
    var expected: String?
    /// The mistake in a text that is meant as JSON.
    var syntax: PropertyError?
    /// The library's reason, which quotes no value.
    var said: String?
    /// Whether an argument has no value that could be decoded.
    var lacksValue = false
    /// The type's own reason, which can quote the value.
    var reason: String?
    /// The type's own error, any part of which can contain the value.
    var own: PropertyError?

    /// Returns the error to show.
    ///
    /// - `root`: The value that was to be decoded.
    /// - `quotesValues`: Whether the error may quote the value. It never quotes a value inside a table, since that
    ///   may be a secret that no key declares.
    func error(decoding root: LocatedValue, quotesValues: Bool) -> PropertyError {
        let quotesValues = quotesValues && !value.isInsideTable(of: root)
        // A type's own words about a table can contain what's inside.
        let quotesOwn = quotesValues && !value.holdsTable
        var error = own.flatMap { quotesOwn ? $0 : nil } ?? told(quotesValues, quotesOwn, isSecret: root.isSecret)
        guard error.source == nil else { return error }
        let origin = value.origin
        (error.source, error.line, error.column) = (origin.source, origin.line, origin.column)
        error.name = error.name ?? (fullName.isEmpty ? nil : fullName)
        return error
    }

    private var fullName: String {
        guard let missing else { return value.name }
        if missing.intValue != nil { return "\(value.name)[\(missing.stringValue)]" }
        return value.name.isEmpty ? missing.stringValue : "\(value.name).\(missing.stringValue)"
    }

    private func told(_ quotesValues: Bool, _ quotesOwn: Bool, isSecret: Bool) -> PropertyError {
        guard let expected else {
            let masked = ErrorText.masked(expected: nil)
            return PropertyError((quotesValues ? said : nil) ?? (quotesOwn ? reason : nil) ?? masked)
        }
        if let missing {
            let isSecret = isSecret || SecretNames.cover(fullName)
            let similar =
                missing.intValue == nil && !isSecret
                ? NearestName.suggestion(for: missing.stringValue, among: value.memberNames) : nil
            let reason = ErrorText.missing(expected: expected, similar: similar)
            return PropertyError(reason, expected: expected, found: "nothing")
        }
        if lacksValue || value.node.kind == .flag {
            let reason = ErrorText.needsValue(value.tree.argument?.spelling ?? "", expected: expected)
            return PropertyError(reason, expected: expected, found: "nothing")
        }
        if value.node.mark == .name { return PropertyError(ErrorText.wrongName(expected: expected)) }
        // A mistake quotes a character.
        let wanted = syntax.map { ErrorText.json(expected, $0, quotesText: quotesValues) } ?? expected
        return PropertyError(expected: wanted, found: value.kindText(quotesValues: quotesValues))
    }
}

extension LocatedValue {
    /// Returns the kind and value for an error: `string "abc"`, or only `string`.
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
        case .double where node.mark == .wide: ("integer", shownDouble)
        case .double: ("double", shownDouble)
        case .string: ("string", Quoted.string(text, limit: 40))
        // What is or should be a table may hold a secret that no key declares.
        case .text, .word: ("text", seemsTable ? nil : Quoted.string(text, limit: 40))
        case .flag: ("nothing", nil)
        case .array: ("array", nil)
        case .table: ("table", nil)
        case .other: otherKindAndText
        }
    }

    /// The number as it was written, if that has more digits.
    private var shownDouble: String {
        let written = tree.store.numberText(at: node.offset) ?? ""
        return written.utf8.count > 15 ? Quoted.line(written, limit: 40) : "\(node.double)"
    }

    private var otherKindAndText: (kind: String, value: String?) {
        let value = tree.store.others[node.otherIndex]
        switch value {
        case .date(let text):
            guard let moment = Moment(text) else { return ("malformed date", Quoted.string(text, limit: 40)) }
            return (moment.kind, moment.description)
        case .integer: return ("integer", value.description)
        default: return (node.mark == .file ? ErrorText.notText : "data", nil)
        }
    }

    /// Returns a Boolean value that indicates whether the value is a member of `root` or of a table in it, at any
    /// depth.
    fileprivate func isInsideTable(of root: LocatedValue) -> Bool {
        guard tree === root.tree else { return root.tree.merged != nil || isInsideTable(of: tree.root) }
        var id = id
        while id != root.id {
            id = tree.store.nodes[Int(id)].parent
            guard id >= 0 else { return true }
            if tree.store.nodes[Int(id)].kind == .table { return true }
        }
        return false
    }

    /// Returns an error that other decodable types can catch, and that carries the place.
    func mismatch(
        _ type: Any.Type, expected: String? = nil, syntax: PropertyError? = nil, lacksValue: Bool = false
    ) -> DecodingError {
        let failure = DecodingFailure(
            value: self, expected: expected ?? "\(type)", syntax: syntax, lacksValue: lacksValue)
        let context = DecodingError.Context(
            codingPath: path, debugDescription: "not a \(failure.expected ?? "")", underlyingError: failure)
        return node.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func missing(_ key: some CodingKey, expected: String) -> DecodingError {
        let missing = key.intValue.map { PathKey(index: $0) } ?? PathKey(key.stringValue)
        let failure = DecodingFailure(value: self, missing: missing, expected: expected)
        return .keyNotFound(
            key, DecodingError.Context(codingPath: path, debugDescription: "missing", underlyingError: failure))
    }

    /// Returns a type's error with this place, unless it already has one.
    func located(_ error: any Error, decoding type: Any.Type) -> any Error {
        if Self.failure(in: error) != nil { return error }
        var failure = DecodingFailure(value: Self.context(of: error).flatMap { value(at: $0.codingPath) } ?? self)
        switch error {
        case let own as PropertyError: failure.own = own
        case DecodingError.dataCorrupted where type is any RawRepresentable.Type:
            failure.expected = Self.choices(of: type)
        case DecodingError.typeMismatch(_, let context) where Self.isAboutCases(context, self):
            failure.said = ErrorText.mismatch(
                expected: Self.cases(of: type).map(ErrorText.oneOf) ?? "one case of \(type)",
                found: memberNames.isEmpty ? "none" : memberNames.map(Quoted.name).joined(separator: ", "))
        default: failure.reason = Self.reason(error)
        }
        return failed(failure, decoding: type)
    }

    /// Returns an error that carries a failure through a type's own decoding.
    func failed(_ failure: DecodingFailure, decoding type: Any.Type) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(codingPath: path, debugDescription: "not a \(type)", underlyingError: failure))
    }

    /// The error that compiler-generated code throws for an enumeration if the table names no case of it, or several.
    private static func isAboutCases(_ context: DecodingError.Context, _ value: LocatedValue) -> Bool {
        value.node.kind == .table && context.debugDescription.hasPrefix("Invalid number of keys found")
    }

    static func failure(in error: any Error) -> DecodingFailure? {
        context(of: error)?.underlyingError as? DecodingFailure
    }

    private static func reason(_ error: any Error) -> String { context(of: error)?.debugDescription ?? "\(error)" }

    private static func context(of error: any Error) -> DecodingError.Context? {
        switch error as? DecodingError {
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?, .keyNotFound(_, let context)?,
            .dataCorrupted(let context)?:
            context
        default: nil
        }
    }

    /// Returns the member to which a type's own error refers, if it's inside this value.
    private func value(at path: [any CodingKey]) -> LocatedValue? {
        path.dropFirst(self.path.count).reduce(self) { value, key in
            guard value?.node.kind == .array else { return value?.member(key.stringValue) }
            var element = value?.firstChild
            for _ in 0..<(key.intValue ?? .max) where element != nil { element = element?.nextSibling }
            return element
        }
    }

    /// Returns `one of slow, fast` if the type can list its cases.
    static func choices(of type: Any.Type) -> String { cases(of: type).map(ErrorText.oneOf) ?? "\(type)" }

    /// Returns the raw values if the type has them and can list them.
    static func rawValues(of type: Any.Type) -> [String]? { type is any RawRepresentable.Type ? cases(of: type) : nil }

    /// Returns the raw values or the names of the first cases if the type can list them.
    private static func cases(of type: Any.Type) -> [String]? {
        func list<T: CaseIterable>(_ type: T.Type) -> [String] {
            let cases = type.allCases.prefix(13).map {
                ($0 as? any RawRepresentable).map { "\($0.rawValue)" } ?? "\($0)"
            }
            return cases.count > 12 ? cases.dropLast() + ["…"] : cases
        }
        return (type as? any CaseIterable.Type).map { list($0) }
    }
}
