// Reads documents from standard input, each behind a line with its format and its number of bytes, and prints one line for
// each: the value as JSON in which every scalar is [kind, text], or the error.
import FuguConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Standard input, byte by byte.
struct Input {
    private var bytes: [UInt8] = []
    private var index = 0

    mutating func next() -> UInt8? {
        if index == bytes.count {
            bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { $1 = max(0, read(0, $0.baseAddress, $0.count)) }
            index = 0
            if bytes.isEmpty { return nil }
        }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func line() -> String? {
        var line: [UInt8] = []
        while let byte = next() {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}

func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": result += "\\" + String(scalar)
        case "\u{0}"..<" ", "\u{7f}":
            result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}

func text(of value: PropertyValue) -> String {
    func scalar(_ kind: String, _ text: String) -> String { "[\"\(kind)\", \(quoted(text))]" }
    switch value {
    case .bool(let value): return scalar("bool", "\(value)")
    case .integer(let value): return scalar("integer", "\(value)")
    case .double(let value): return scalar("double", value.isNaN ? "nan" : String(value.bitPattern, radix: 16))
    case .string(let value): return scalar("string", value)
    case .data: return scalar("data", "")
    case .date(let value): return scalar("time", value)
    case .array(let values): return "{\"array\": [" + values.map(text).joined(separator: ", ") + "]}"
    case .table(let members):
        let texts = members.map { "\(quoted($0.key)): \(text(of: $0.value))" }
        return "{\"table\": {" + texts.joined(separator: ", ") + "}}"
    }
}

var input = Input()
while let line = input.line() {
    let parts = line.split(separator: " ")
    let bytes = (0..<Int(parts[1])!).map { _ in input.next()! }
    do throws(PropertyError) {
        let isJSON = parts[0] == "json"
        let value = try isJSON ? PropertyValue(json: bytes, name: "x") : PropertyValue(toml: bytes, name: "x")
        print("value " + text(of: value))
    } catch {
        print("error \(error)")
    }
    fflush(nil)
}
