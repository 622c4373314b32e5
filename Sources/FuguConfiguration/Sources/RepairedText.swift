#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#elseif canImport(ucrt)
import ucrt
#elseif canImport(WASILibc)
import WASILibc
#endif

/// The texts of this process that Swift repaired: in place of bytes that aren't UTF-8, they have U+FFFD.
///
/// A text with U+FFFD is compared with the bytes that the C library has, since somebody may have written that character.
enum RepairedText {
    /// The arguments of this process that were repaired, and those of their values that were.
    static let arguments: Set<String> = repaired(
        (0..<Int(CommandLine.argc)).compactMap { index in
            unsafe CommandLine.unsafeArgv[index].map { unsafe bytes(of: $0) }
        })

    /// Returns what of some arguments is repaired.
    static func repaired(_ arguments: [[UInt8]]) -> Set<String> {
        let broken = arguments.compactMap { isText($0) ? nil : String(decoding: $0, as: UTF8.self) }
        let values = broken.map { String($0.drop { $0 != "=" }.dropFirst()) }
        return Set(broken + values.filter(hasReplacement))
    }

    /// Returns the names of variables whose texts are repaired, if they're those of this process.
    static func variables(in environment: [String: String]) -> Set<String> {
        Set(
            environment.compactMap { name, text in
                guard hasReplacement(text), let bytes = unsafe getenv(name).map({ unsafe bytes(of: $0) }) else {
                    return nil
                }
                return !isText(bytes) && String(decoding: bytes, as: UTF8.self) == text ? name : nil
            })
    }

    private static func hasReplacement(_ text: String) -> Bool { text.unicodeScalars.contains("\u{FFFD}") }

    private static func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    private static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        unsafe UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
}
