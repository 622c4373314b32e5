/// How the parts of a name are written where there are no dots: `server.idleTimeout` is `server-idle-timeout` as an
/// argument and `SERVER_IDLE_TIMEOUT` as a variable.
enum Spelling {
    static func argument(_ name: String) -> String { words(of: name, separator: "-") { $0.lowercased() } }

    static func variable(_ name: String, prefix: String) -> String {
        let variable = words(of: name, separator: "_") { $0.uppercased() }
        return prefix.isEmpty ? variable : "\(prefix)_\(variable)"
    }

    /// The variable of a name whose capitals begin no word of their own, as it was before they did.
    static func plainVariable(_ name: String, prefix: String) -> String {
        let variable = String(name.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
        return prefix.isEmpty ? variable : "\(prefix)_\(variable)"
    }

    /// A word begins behind a dot, dash or underscore, at a capital behind a small letter or a digit, and at the last of
    /// several capitals if a small letter follows: `api.baseURLPath` has four.
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
