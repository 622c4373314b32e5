import FuguConfiguration
import Support
import Testing

@Suite(.enabled(if: SharedCases.isThere, "\(SharedCases.skipReason)"))
struct JSONConformanceTests {
    /// Allowed here on top of JSON.
    private static let allowed: Set<String> = [
        "n_object_trailing_comment", "n_object_trailing_comment_slash_open", "n_structure_object_with_comment",
        "n_array_extra_comma", "n_array_number_and_comma", "n_object_trailing_comma",
    ]
    /// Mistakes in a configuration.
    private static let refused: Set<String> = ["y_object_duplicated_key", "y_object_duplicated_key_and_value"]

    @Test("Every case of the public JSON suite is read or refused as it should be")
    func everyCase() throws {
        let cases = try SharedCases.files("json", withExtension: "json")
        for (file, bytes) in cases {
            let name = String(file.dropLast(".json".count))
            let value = try? PropertyValue(json: bytes, name: file)
            let mustParse = name.hasPrefix("y_") && !Self.refused.contains(name) || Self.allowed.contains(name)
            if mustParse { expect(value != nil, "\(file) must parse") }
            if !mustParse, !name.hasPrefix("i_") { expect(value == nil, "\(file) must be refused") }
        }
        print("JSON conformance: \(cases.count) cases")
        expect(cases.count >= 154)
    }
}
