import Foundation
import Fugu
import Support
import Testing

@testable import FuguConfiguration

private struct Server: Decodable, Sendable {
    var host: String?
}

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int> { .init("limit25.port", defaultValue: 80) }
    fileprivate var servers: PropertyKey<[Server]> { .init("limit25.servers", defaultValue: []) }
}

/// However much is wrong, what's said of it is bounded (law 25).
struct MistakeLimitTests {
    private let container = Container()

    private func names(_ numbers: Range<Int>) -> String { numbers.map { "limit25.n\($0) = 1\n" }.joined() }

    @Test(
        "Of unknown names, the first fifty are reported, and the number of the others, from every source (law 25)",
        arguments: ["TOML", "lines", "variables", "arguments", "members"])
    func unknown(kind: String) throws {
        let numbers = 1000..<1120
        let source: any PropertySource =
            switch kind {
            case "TOML": TOMLSource(text: names(numbers), name: "x")
            case "lines":
                DotEnvSource(text: numbers.map { "APP_N\($0)=1\n" }.joined(), name: "x", prefix: "APP")
            case "variables":
                EnvironmentSource(
                    prefix: "APP", environment: Dictionary(uniqueKeysWithValues: numbers.map { ("APP_N\($0)", "1") }))
            case "arguments": ArgumentsSource(numbers.map { "--n\($0)=1" })
            default: TOMLSource(text: numbers.map { "[[limit25.servers]]\nn\($0) = 1\n" }.joined(), name: "x")
            }
        try container.apply(source)
        let error = #expect(throws: PropertyErrors.self) { try container.validate(\.port, \.servers) }
        let lines = "\(error!)".split(separator: "\n")
        expect(lines.count, equals: 51)
        expect(lines[0].contains("1000") && lines[49].contains("1049"), "\(lines[0])\n\(lines[49])")
        expect(lines.last, equals: "and 70 more errors")
    }

    @Test("Unknown names are reported in the order of the document, whatever its tables (law 25)")
    func order() throws {
        let text = (0..<60).map { "[limit25.t\($0).a]\nx = 1\n[unknown\($0)]\n" }.joined()
        try container.apply(TOMLSource(text: text, name: "x"))
        let error = #expect(throws: PropertyErrors.self) { try container.validate(\.port) }
        let lines = error?.errors.compactMap(\.line)
        expect(lines?.count == 50 && lines == lines?.sorted())
    }

    @Test("A reload is refused for a new unknown name however many there were, and for no others (law 25)")
    func reload() throws {
        container.declare(\.port)
        let path = try TemporaryFile(names(1000..<1200))
        try container.apply(TOMLSource(path: path.path))
        try path.write(names(1001..<1200))
        try container.reload()
        try path.write(names(1001..<1200) + "limit25.new = 1\n")
        let text = thrown { try container.reload() }
        expect(text.split(separator: "\n").count == 1 && text.contains("limit25.new"), "\(text)")
    }
}

/// A file that ends with its test.
private final class TemporaryFile {
    let path = "/tmp/fugu-limit-\(UInt64.random(in: 0 ... .max))"

    init(_ text: String) throws { try write(text) }

    func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension ContainerKeys {
    fileprivate var isOn: PropertyKey<Bool> { .init("limit25.isOn", defaultValue: true) }
}

extension MistakeLimitTests {
    @Test("What arguments switch off, and words for others, aren't among the errors that are counted (law 25)")
    func arguments() throws {
        let words = (1000..<1060).flatMap { ["--n\($0)", "x", "-v"] }
        try container.apply(
            ArgumentsSource(["--no-limit25-is-on"] + words + ["--limit25-port", "a", "--limit25-port=b"]))
        let error = #expect(throws: PropertyErrors.self) { try container.validate(\.port, \.isOn) }
        let lines = "\(error!)".split(separator: "\n")
        expect(lines.count, equals: 51)
        expect(
            lines.first?.contains("expected Int, found text \"b\"") == true && lines[49].contains("1048"), "\(lines)")
        expect(lines.last, equals: "and 11 more errors")
        expect(!container.isOn)
    }
}
