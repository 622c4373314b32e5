import Foundation
import FuguConfiguration
import FuguTesting
import Support
import Testing

@Suite struct SourceConformanceTests {
    static let cases: [Case<SourceConformanceTests>] = [
        Case("The sources of this library conform", builtIn),
        Case("Files conform, and those that are optional and missing", files),
        Case("A source of one's own conforms", own),
        Case("A source that gives something else at each load does not", unsteady),
    ]

    @Test(arguments: cases) func behaves(as stated: Case<SourceConformanceTests>) async throws {
        try await stated.run(self)
    }

    private struct Instance {
        struct Inner { var port = 80 }
        var server = Inner()
        var name: String? = "x"
        var none: Int?
    }

    private let text: [String: PropertyValue] = ["server.port": "80", "name": "x"]
    private let typed: [String: PropertyValue] = ["server.port": 80, "name": "x", "server": ["port": 80]]

    func builtIn() throws {
        try expectConformance(
            of: JSONSource(text: #"{"server": {"port": 80}, "name": "x"}"#, name: "json"), holding: typed,
            lacking: ["server.host", "port"])
        try expectConformance(
            of: TOMLSource(text: "name = 'x'\n[server]\nport = 80", name: "toml"), holding: typed,
            lacking: ["server.port.x"])
        try expectConformance(
            of: DictionarySource(["server": ["port": 80], "name": "x"], name: "dictionary"), holding: typed,
            lacking: ["server.host"])
        try expectConformance(
            of: DictionarySource(["server.port": 80, "name": "x"], name: "dotted"), holding: typed, lacking: ["host"])
        try expectConformance(of: StructSource(reflecting: Instance()), holding: typed, lacking: ["none"])
        try expectConformance(
            of: EnvironmentSource(prefix: "APP", environment: ["APP_SERVER_PORT": "80", "APP_NAME": "x", "PORT": "1"]),
            holding: text, lacking: ["port", "server"])
        try expectConformance(
            of: ArgumentsSource(["program", "--server-port", "80", "--name=x", "--", "--port=1"]), holding: text,
            lacking: ["port", "server"])
    }

    func files() throws {
        let path = NSTemporaryDirectory() + "fugu-\(UUID()).json"
        try expectConformance(of: JSONSource(path: path, isOptional: true), holding: [:], lacking: ["name"])
        try Data(#"{"name": "x"}"#.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try expectConformance(of: JSONSource(path: path), holding: ["name": "x"], lacking: ["server"])
    }

    func own() throws {
        try expectConformance(
            of: ChangingSource(["server.port": 80, "name": "x"]), holding: typed, lacking: ["server.host"])
    }

    func unsteady() throws {
        let failures = Log<String>()
        try Failure.$recorder.withValue(Failure.Recorder { text, _ in failures.add(text) }) {
            try expectConformance(of: CountingSource(["a"]), holding: ["a": 1], lacking: [])
        }
        expect(!failures.all.isEmpty)
    }
}
