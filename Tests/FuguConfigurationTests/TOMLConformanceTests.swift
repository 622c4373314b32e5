import FuguConfiguration
import Support
import Testing

@Suite(.enabled(if: SharedCases.isThere, "\(SharedCases.skipReason)"))
struct TOMLConformanceTests {
    @Test("Every valid case of the public TOML suite gives the values that the suite expects")
    func valid() throws {
        let cases = try SharedCases.files("toml/valid", withExtension: "toml")
        let expected = Dictionary(uniqueKeysWithValues: try SharedCases.files("toml/valid", withExtension: "json"))
        for (file, bytes) in cases {
            let tagged = try PropertyValue(json: #require(expected[file.dropLast(4) + "json"]), name: file)
            do {
                let value = try PropertyValue(toml: bytes, name: file)
                expect(Self.isEqual(value, tagged), "\(file): \(value)")
            } catch {
                Issue.record("\(error)")
            }
        }
        print("TOML conformance, valid: \(cases.count) cases")
        expect(cases.count >= 100)
    }

    @Test("Every invalid case of the public TOML suite is refused with line and column")
    func invalid() throws {
        let cases = try SharedCases.files("toml/invalid", withExtension: "toml")
        for (file, bytes) in cases {
            do {
                let value = try PropertyValue(toml: bytes, name: file)
                Issue.record("\(file) was read as \(value)")
            } catch {
                expect(error.source, equals: file)
                expect((error.line ?? 0) > 0)
                expect((error.column ?? 0) > 0)
            }
        }
        print("TOML conformance, invalid: \(cases.count) cases")
        expect(cases.count >= 200)
    }

    /// The suite writes each scalar as a table of its type and its value.
    private static func isEqual(_ value: PropertyValue, _ tagged: PropertyValue) -> Bool {
        switch (value, tagged) {
        case (.array(let values), .array(let expected)):
            return values.count == expected.count && zip(values, expected).allSatisfy { isEqual($0, $1) }
        case (.table(let members), .table(let expected)):
            return members.count == expected.count
                && members.allSatisfy { name, member in expected[name].map { isEqual(member, $0) } ?? false }
        case (_, .table(let tag)):
            guard case .string(let type)? = tag["type"], case .string(let text)? = tag["value"] else { return false }
            return isScalar(value, type, text)
        default: return false
        }
    }

    private static func isScalar(_ value: PropertyValue, _ type: String, _ text: String) -> Bool {
        switch value {
        case .bool(let value): type == "bool" && "\(value)" == text
        case .integer(let value): type == "integer" && value == Int64(text)
        case .double(let value): type == "float" && (value == Double(text) || value.isNaN && text.hasSuffix("nan"))
        case .string(let value): type == "string" && value == text
        case .offsetDateTime(let value):
            type == "datetime" && OffsetDateTime(text).map { isSameMoment($0, value) } == true
        case .localDateTime(let value): type == "datetime-local" && value == LocalDateTime(text)
        case .localDate(let value): type == "date-local" && value == LocalDate(text)
        case .localTime(let value): type == "time-local" && value == LocalTime(text)
        case .data, .array, .table: false
        }
    }

    private static func isSameMoment(_ first: OffsetDateTime, _ second: OffsetDateTime) -> Bool {
        first.secondsSince1970 == second.secondsSince1970 && first.time.nanosecond == second.time.nanosecond
    }
}
