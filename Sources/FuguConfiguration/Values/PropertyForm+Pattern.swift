public import Fugu

// Not in Fugu, to whose programs regular expressions would add 1.4 MB.
extension PropertyForm {
    /// Returns a form of texts that match a pattern as a whole.
    ///
    /// ```swift
    /// .init("host", defaultValue: "localhost", form: .pattern(/[a-z.]+/, "a host in lowercase"))
    /// ```
    ///
    /// - Parameters:
    ///   - pattern: The pattern. It's made anew for each value, since a `Regex` can't be passed between threads.
    ///   - expected: The expected value, as errors name it after "expected" and `--help` beside the type.
    /// - Returns: The form.
    public static func pattern<Pattern: RegexComponent & SendableMetatype>(
        _ pattern: @autoclosure @escaping @Sendable () -> Pattern, _ expected: String
    ) -> PropertyForm where Value: StringProtocol {
        checked(expected) { String($0).wholeMatch(of: pattern()) != nil }
    }

    /// Returns a form of texts that match a pattern as a whole, for a key whose value can be `nil`.
    ///
    /// - Parameters:
    ///   - pattern: The pattern. It's made anew for each value, since a `Regex` can't be passed between threads.
    ///   - expected: The expected value, as errors name it after "expected" and `--help` beside the type.
    /// - Returns: The form.
    public static func pattern<Pattern: RegexComponent & SendableMetatype, Text: StringProtocol>(
        _ pattern: @autoclosure @escaping @Sendable () -> Pattern, _ expected: String
    ) -> PropertyForm where Value == Text? {
        checked(expected) { $0.map { String($0).wholeMatch(of: pattern()) != nil } ?? true }
    }
}
