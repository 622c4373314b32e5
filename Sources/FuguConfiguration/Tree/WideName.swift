/// A name with characters beyond ASCII.
///
/// Strings are equal however their accents are composed, and so are names.
struct WideName: Hashable, Sendable {
    /// The first child, which identifies the table.
    let first: Int32
    let name: String

    /// Returns the ASCII name that Unicode considers equal to this one, such as `K` for the Kelvin sign, or `nil` if
    /// there's none.
    static func plainForm(of name: String) -> String? {
        var plain = ""
        for scalar in name.unicodeScalars {
            switch scalar.value {
            case 0x212A: plain += "K"
            case 0x037E: plain += ";"
            case 0x1FEF: plain += "`"
            case 0..<0x80: plain.unicodeScalars.append(scalar)
            default: return nil
            }
        }
        return plain
    }
}
