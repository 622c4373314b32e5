/// Makes text of a file or a user fit for one line of a message.
///
/// It never shows the user's part of a URL, which often holds a password or a token.
enum Quoted {
    /// Returns the string in double quotes, with control characters escaped as in TOML, cut after `limit` scalars.
    static func string(_ text: String, limit: Int = .max) -> String {
        let text = withoutUsers(text)
        var result = "\""
        var length = 0
        for scalar in text.unicodeScalars {
            guard length < limit else { return result + "…\"" }
            length += 1
            result += escaped(scalar)
        }
        return result + "\""
    }

    /// Returns text from outside with every character escaped that could begin another line or control a terminal.
    ///
    /// It's cut after `limit` scalars. Nothing else changes.
    static func line(_ text: String, limit: Int = .max) -> String {
        let text = withoutUsers(text)
        if text.utf8.count > limit,
            let end = text.unicodeScalars.index(
                text.startIndex, offsetBy: limit, limitedBy: text.endIndex), end < text.endIndex
        {
            return line(String(text[..<end])) + "…"
        }
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            result += isVisible(scalar) || scalar == "\u{a0}" ? String(scalar) : controlEscaped(scalar)
        }
        return result
    }

    /// Returns text with `…` in place of the user and the password in its URLs: `postgres://…@db.example.org/app`.
    private static func withoutUsers(_ text: String) -> String {
        let at = UInt8(ascii: "@")
        guard text.utf8.contains(at) else { return text }
        var parts = text.utf8.split(separator: "://".utf8, omittingEmptySubsequences: false)[...]
        guard var result = parts.popFirst().map({ String(Substring($0)) }), !parts.isEmpty else { return text }
        for part in parts {
            let word = part.prefix { $0 > 0x20 }
            let host = word.prefix { !"/?#".utf8.contains($0) }
            // A password may hold what should be percent-encoded, which would end the host.
            let end = host.lastIndex(of: at) ?? (host.contains(UInt8(ascii: ":")) ? word.lastIndex(of: at) : nil)
            result += "://" + (end.map { "…" + Substring(part[$0...]) } ?? Substring(part))
        }
        return result
    }

    private static func controlEscaped(_ scalar: Unicode.Scalar) -> String {
        scalar == " " || scalar == "\"" || scalar == "\\" ? String(scalar) : escaped(scalar)
    }

    /// Returns a name as it is if it's a plain word; otherwise, in quotes.
    static func name(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { ByteClass.isBareKey($0) }
        return isPlain ? text : string(text)
    }

    /// Returns a scalar for a syntax error: in quotes if it's visible; otherwise, by its number.
    static func scalar(_ scalar: Unicode.Scalar) -> String {
        if scalar == "\"" { return "'\"'" }
        return isVisible(scalar) ? "\"\(scalar)\"" : number(scalar)
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where isVisible(scalar) || scalar == " ": String(scalar)
        default: scalar.value < 0x10000 ? "\\u" + hex(scalar, 4) : "\\U" + hex(scalar, 8)
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }

    private static func number(_ scalar: Unicode.Scalar) -> String { "U+" + hex(scalar, 4) }

    private static func hex(_ scalar: Unicode.Scalar, _ count: Int) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}

/// Classifies bytes for the parsers.
enum ByteClass {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    static func isBareKey(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    static func hexValue(_ byte: UInt8) -> UInt32? {
        if isDigit(byte) { return UInt32(byte - 0x30) }
        let letter = byte | 0x20
        return letter &- 0x61 < 6 ? UInt32(letter - 0x61 + 10) : nil
    }
}

/// Writes values as TOML, so that a file with the text gives the value again.
enum TOMLText {
    /// Returns the text, or `nil` if the value's type doesn't decode it to the same value.
    static func text<Value: Decodable>(of value: Value) -> String? {
        let text = (value as? any BinaryInteger).map { "\($0)" } ?? Reflection.value(of: value).map(text)
        guard let text, let tree = try? TOMLParser.parse(Array("x = \(text)".utf8), name: "") else { return nil }
        return tree.root.member("x").flatMap { try? $0.decode(Value.self) }.flatMap { isSame($0, value) ? text : nil }
    }

    /// Returns the text of a value, with bytes in Base64.
    static func text(_ value: PropertyValue) -> String { withoutBytes(value).description }

    /// Returns whether the type of an instance decodes a value to the same instance.
    static func isRead<Value: Decodable>(_ value: PropertyValue, as instance: Value) -> Bool {
        let tree = NodeStore(table: ["x": value]).map { PropertyTree(store: $0, source: "") }
        return tree?.root.member("x").flatMap { try? $0.decode(Value.self) }.map { isSame($0, instance) } == true
    }

    private static func withoutBytes(_ value: PropertyValue) -> PropertyValue {
        switch value {
        case .data(let bytes): .string(Base64.text(of: bytes))
        case .array(let elements): .array(elements.map(withoutBytes))
        case .table(let members): .table(members.mapValues(withoutBytes))
        default: value
        }
    }

    private static func isSame<Value>(_ left: Value, _ right: Value) -> Bool {
        func isEqual<Known: Equatable>(_ left: Known) -> Bool { left == right as? Known }
        if let left = left as? any Equatable, isEqual(left) { return true }
        // The components of 07:32 and of 07:32:00 aren't equal, but written alike.
        if let left = foundationPropertyValue(of: left), left == foundationPropertyValue(of: right) { return true }
        // Not-a-number equals nothing, and many types can't be compared.
        return !(type(of: left) is AnyClass) && String(reflecting: left) == String(reflecting: right)
    }
}
