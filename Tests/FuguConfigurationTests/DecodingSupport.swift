@testable import FuguConfiguration

/// Reads one value of a JSON or TOML text.
func read<Value: Decodable>(
    _ name: String, _ text: String, as type: Value.Type = Value.self
) throws(PropertyError) -> Value {
    let snapshot = try JSONSource(text: text, name: "x").load()
    guard let value = snapshot.value(named: name) else { throw PropertyError("nothing there") }
    return try value.decode(type)
}

func readTOML<Value: Decodable>(
    _ name: String, _ text: String, as type: Value.Type = Value.self
) throws(PropertyError) -> Value {
    let snapshot = try TOMLSource(text: text, name: "x").load()
    guard let value = snapshot.value(named: name) else { throw PropertyError("nothing there") }
    return try value.decode(type)
}

/// The error of a read that must fail.
func message<Value: Decodable>(_ text: String, _ type: Value.Type) -> String {
    do {
        return "read \(try read("a", "{\"a\": \(text)}", as: type))"
    } catch {
        return "\(error)"
    }
}

enum Mode: String, Decodable, CaseIterable { case slow, fast }
enum Level: Int, Decodable { case low = 1, high = 2 }
