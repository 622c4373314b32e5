import Fugu
import FuguConfiguration
import FuguTesting
import Support
import Testing

@testable import LayeredSettings

/// The settings of LayeredSettings in separate containers.
///
/// A wrong value that is read fails a test by itself.
@Suite(
    .container {
        try $0.apply(
            TOMLSource(
                text: "[server]\nhost = \"example.org\"\nport = 81\n\n[database]\nurl = \"postgres://db\"",
                name: "base.toml"))
    })
struct LayeredSettingsTests {
    private let container = Container.current

    @Test("A later source wins, and what it does not have is the earlier one's (law 23)")
    func layers() throws {
        let port = ObservationRecorder(\.port)
        try container.apply(ArgumentsSource(["--server-port", "82"]))
        expect(container[\.port], equals: 82)
        expect(container[\.host], equals: "example.org")
        expect(port.values, equals: [82])
        Settings.declare(in: container)
        try container.validate()
    }

    @Test("Settings explain where each value comes from", .container { $0.poolSize = 9 })
    func explanations() {
        Settings.declare(in: container)
        let lines = container.explain().map { "\($0)" }
        expect(lines.contains("server.port = 81 (base.toml:3:8)"), "\(lines)")
        expect(lines.contains { $0.hasPrefix("database.pool-size = 9 ") }, "\(lines)")
    }

    @Test("A value that is not of the key's type fails the test that reads it (laws 25, 29)")
    func wrong() throws {
        try container.apply(ArgumentsSource(["--server-port", "http"]))
        let failures = Log<String>()
        Failure.$recorder.withValue(Failure.Recorder { text, _ in failures.add(text) }) {
            expect(container[\.port], equals: 8080)
        }
        expect(
            failures.all, equals: ["argument --server-port: server.port: expected UInt16, found text \"http\""])
    }
}
