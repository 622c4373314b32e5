import Fugu

/// Describes values for explanations; for a value that could contain a secret, it gives only the type.
struct ValueSketch: ValueTeller {
    private static let longest = 80

    func text<Value>(of value: Value) -> String {
        switch value {
        // The user's part of a URL often holds a password.
        case let text as String where text.contains("://") && text.contains("@"): return "a URL with a user"
        case let text as String: return quoted(text)
        case let number as any BinaryInteger: return "\(number)"
        case let number as any BinaryFloatingPoint: return "\(number)"
        case let isTrue as Bool: return "\(isTrue)"
        case let duration as Duration: return "\(duration)"
        default: break
        }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text(of: $0.value) } ?? "nil" }
        if mirror.displayStyle == .enum, mirror.children.isEmpty { return ".\(value)" }
        return "a value of type \(type(of: value))"
    }

    private func quoted(_ text: String) -> String {
        let isLong = text.unicodeScalars.count > Self.longest
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.longest)))
        return "\""
            + shown.escaped { $0 == "\"" ? "\\\"" : $0.isPrintable ? nil : "\\u{\(String($0.value, radix: 16))}" }
            + (isLong ? "…\"" : "\"")
    }
}

extension Unicode.Scalar {
    /// Whether the character is visible and isn't a control character.
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
