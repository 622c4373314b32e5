/// A dictionary by keys for what few containers have.
///
/// The compiler writes the functions of a dictionary once for each type of values; these all use the same ones.
struct KeyTable<Value: Sendable>: Sendable {
    private var payloads: [Key: Payload] = [:]

    var isEmpty: Bool { payloads.isEmpty }
    var count: Int { payloads.count }
    var keys: [Key] { Array(payloads.keys) }
    var values: [Value] { payloads.values.map { $0.value(as: Value.self) } }
    /// The keys with their values.
    var entries: [(key: Key, value: Value)] { payloads.map { ($0.key, $0.value.value(as: Value.self)) } }

    func contains(_ key: Key) -> Bool { payloads[key] != nil }

    subscript(key: Key) -> Value? {
        get { payloads[key]?.value(as: Value.self) }
        set { payloads[key] = newValue.map { Payload($0) } }
    }
}
