import Foundation
import Support
import Testing

/// The configuration example as its user meets it: a process.
@Suite struct LayeredSettingsProcessTests {
    private let program: BuiltProgram
    private let folder: TemporaryFolder

    init() throws {
        program = try BuiltProgram("LayeredSettings")
        folder = try TemporaryFolder()
    }

    private func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
        return folder.path(name)
    }

    @Test("Without arguments it prints its help, five mistakes, and all origins, as expected.txt says")
    func tour() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let expected = try Data(contentsOf: root.appending(path: "Examples/LayeredSettings/expected.txt"))
        let result = try await program.run()
        expect(result.output, equals: String(decoding: expected, as: UTF8.self))
        expect(result.errors, equals: "")
        expect(result.exitCode, equals: 0)
    }

    @Test("Files, environment and arguments are layered, each value shown with its place and what it hides")
    func layers() async throws {
        let base = try write(
            """
            [server]
            host = "example.org"
            port = 80
            timeout = "1.5m"
            origins = ["a.org", "b.org"]

            [database]
            url = "postgres://db"
            password = "hunter2"
            """, to: "base.toml")
        let local = try write(
            "{\n  // for this machine\n  \"server\": {\"port\": 8000},\n  \"log\": {\"level\": \"debug\"},\n}\n",
            to: "local.json")
        let list = try write(
            "<plist version=\"1.0\"><dict><key>database</key><dict><key>pool-size</key><integer>9</integer></dict></dict></plist>",
            to: "pool.plist")
        let result = try await program.run(
            [base, local, list, "--server-origins=c.org", "--server-port", "9000"],
            environment: ["CONFIG_SERVER_PORT": "8500", "CONFIG_DATABASE_PASSWORD": "correct horse"])
        let given = result.output.split(separator: "\n").filter { !$0.hasSuffix("(default)") }.joined(separator: "\n")
        expect(
            given,
            equals: """
                server.host = "example.org" (\(base):2:8)
                server.port = 9000 (argument --server-port)
                  hides "8500" (environment variable CONFIG_SERVER_PORT)
                  hides 8000 (\(local):3:22)
                  hides 80 (\(base):3:8)
                server.timeout = "90s" (\(base):4:11)
                server.origins = ["c.org"] (argument --server-origins)
                  hides ["a.org", "b.org"] (\(base):5:11)
                database.url = (secret) (\(base):8:7)
                database.password = (secret) (environment variable CONFIG_DATABASE_PASSWORD)
                  hides (secret) (\(base):9:12)
                database.pool-size = 9 (\(list))
                log.level = "debug" (\(local):4:20)
                """)
        expect(result.errors, equals: "")
        expect(result.exitCode, equals: 0)
        let valid = try await program.run([base, local, list, "--validate"])
        expect(valid.output, equals: "no errors\n")
        expect(valid.errors, equals: "")
        expect(valid.exitCode, equals: 0)
    }

    @Test("--validate exits with 1 and lists all problems, none of them with a secret")
    func validate() async throws {
        let wrong = try write(
            """
            [server]
            prot = 80
            port = 80_000
            timeout = 30

            [log]
            level = "loud"

            [database]
            url = "postgres://db"
            password = [1, "hunter2"]
            """, to: "wrong.toml")
        let broken = try write("{\"server\": ", to: "broken.json")
        let missing = folder.path("missing.json")
        let result = try await program.run([wrong, broken, missing, "--validate", "--sever-host", "x"])
        expect(
            result.errors,
            equals: """
                \(broken):1:12: expected a value, found the end of the text
                \(missing): can't be read: the file doesn't exist
                \(wrong):3:8: server.port: expected UInt16 (0...65535), found integer 80000
                \(wrong):4:11: server.timeout: expected Duration with a unit, such as 30s, 1.5m or 250ms, found integer 30
                \(wrong):11:12: database.password: expected String, found array
                \(wrong):7:9: log.level: expected LogLevel (debug, info, warning, error), found string "loud"
                argument --sever-host: unknown name; did you mean --server-host?
                \(wrong):2:1: server.prot: unknown name; did you mean server.port?

                """)
        expect(result.output, equals: "")
        expect(result.exitCode, equals: 1)
    }

    @Test("A wrong value is shown beside the default that is used instead")
    func wrong() async throws {
        let result = try await program.run(["--server-port", "http"])
        expect(
            result.output.contains(
                """
                server.port = 8080 (default)
                  wrong: argument --server-port: server.port: expected UInt16, found text "http"

                """))
        expect(result.exitCode, equals: 1)
        expect(result.errors.hasPrefix("argument --server-port: server.port: expected UInt16"))
    }

    @Test("A misspelt name beside the right one is reported, and the exit code is 1")
    func misspelt() async throws {
        let file = try write("database.url = \"x\"\n[server]\nport = 80\nprot = 3", to: "base.toml")
        let result = try await program.run([file])
        expect(result.output.contains("server.port = 80 (\(file):3:8)"))
        expect(result.errors, equals: "\(file):4:1: server.prot: unknown name; did you mean server.port?\n")
        expect(result.exitCode, equals: 1)
    }

    @Test("A file of no known kind prints the usage and exits with 64")
    func usage() async throws {
        let result = try await program.run(["notes.txt"])
        expect(result.exitCode, equals: 64)
        expect(result.output, equals: "")
        let refusal = "LayeredSettings: notes.txt isn't a .json, .toml, or .plist file\n\nusage: LayeredSettings FILE"
        expect(result.errors.hasPrefix(refusal))
        let help = try await program.run(["--help"])
        expect(help.exitCode, equals: 0)
        expect(help.output.hasPrefix("usage: LayeredSettings FILE"))
        expect(help.output.contains("The port to listen on."))
        expect(help.output.contains("CONFIG_SERVER_PORT"))
    }
}
