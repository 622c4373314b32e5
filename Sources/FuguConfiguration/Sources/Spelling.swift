/// The spelling of names without dots: `server.idleTimeout` is `server-idle-timeout` as an argument and
/// `SERVER_IDLE_TIMEOUT` as a variable.
enum Spelling {
    static func argument(_ name: String) -> String { words(of: name, separator: "-") { $0.lowercased() } }

    /// Returns a prefix of variables as a name is spelled, without the `_` at its end: `APP` for `app_`.
    static func prefix(_ text: String) -> String {
        var prefix = words(of: text.filter { !$0.isWhitespace }, separator: "_") { $0.uppercased() }
        while prefix.hasSuffix("_") { prefix.removeLast() }
        return prefix
    }

    static func variable(_ name: String, prefix: String) -> String {
        let variable = words(of: name, separator: "_") { $0.uppercased() }
        return prefix.isEmpty ? variable : "\(prefix)_\(variable)"
    }

    /// Returns the words of a name.
    ///
    /// A word begins after a dot, dash, or underscore, at an uppercase letter after a lowercase one or a digit, and
    /// at the last of several uppercase letters if a lowercase one follows: `api.baseURLPath` has four.
    private static func words(of name: String, separator: Character, _ cased: (Character) -> String) -> String {
        var result = ""
        var previous: Character = "."
        var rest = name[...]
        while let character = rest.popFirst() {
            if character == "." || character == "-" || character == "_" {
                result.append(separator)
            } else {
                let isNewWord =
                    character.isUppercase
                    && (previous.isLowercase || previous.isNumber
                        || previous.isUppercase && rest.first?.isLowercase == true)
                if isNewWord { result.append(separator) }
                result += cased(character)
            }
            previous = character
        }
        return result
    }
}

extension String {
    /// The parts of a name between its dots.
    ///
    /// It's split at bytes, as documents are, which is also many times faster than at characters.
    var segments: [Substring] {
        utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Substring.init)
    }
}
