import Fugu

/// Makes codes of seven letters and digits, without those that look alike.
package enum CodeMaker {
    static let length = 7
    private static let letters = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz".utf8)

    /// Draws a code.
    ///
    /// There are 1.7 × 10¹² of them, so that they can't be guessed one after the other.
    static func code(from randomness: Randomness) -> String {
        randomness { generator in
            String(decoding: (0..<length).map { _ in letters.randomElement(using: &generator)! }, as: UTF8.self)
        }
    }

    /// Looks at bytes, since every redirect asks.
    package static func isCode(_ text: some StringProtocol) -> Bool {
        text.utf8.count == length && text.utf8.allSatisfy(letters.contains)
    }
}
