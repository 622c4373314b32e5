// The same work done by swift-configuration and by Python's parsers.
import Configuration
import Foundation
import Fugu
import FuguConfiguration
import SystemPackage

/// What one operation takes here and elsewhere.
struct Comparison {
    let name: String
    let ours: Duration
    let theirs: Duration
    /// Our time divided by theirs.
    var ratio: Double { ours / theirs }
}

/// Measures what a file of 10,000 settings takes: reading the file with all values, and reading a value again.
func compareWithSwiftConfiguration() async throws -> [Comparison] {
    let names = (0..<10_000).map { "group\($0 % 100).key\($0)" }
    let groups = (0..<100).map { group in
        let members = stride(from: group, to: names.count, by: 100).map { "\"key\($0)\": \($0)" }
        return "\"group\(group)\": {\(members.joined(separator: ", "))}"
    }
    let file = try temporaryFile("{\(groups.joined(separator: ",\n"))}")
    defer { try? FileManager.default.removeItem(at: file) }

    let keys = names.map { PropertyKey<Int>($0, defaultValue: -1) }
    let theirKeys = names.map { ConfigKey($0) }
    var (ours, theirs) = ([[Duration]](repeating: [], count: 2), [[Duration]](repeating: [], count: 2))
    let clock = ContinuousClock()
    for _ in 0..<11 {
        let container = Container()
        ours[0].append(
            try clock.measure {
                try container.apply(JSONSource(path: file.path))
                for (index, key) in keys.enumerated() where container[key] != index { fatalError("a wrong value") }
            })
        ours[1].append(clock.measure { for _ in 0..<100_000 { _ = container[keys[7]] } })

        var reader: ConfigReader?
        theirs[0].append(
            try await clock.measure {
                let config = ConfigReader(provider: try await FileProvider<JSONSnapshot>(filePath: FilePath(file.path)))
                for (index, key) in theirKeys.enumerated() where config.int(forKey: key) != index {
                    fatalError("a wrong value")
                }
                reader = config
            })
        theirs[1].append(clock.measure { for _ in 0..<100_000 { _ = reader?.int(forKey: theirKeys[7]) } })
    }
    return zip(["a JSON file, 10,000 values", "one value, 100,000 times"], zip(ours, theirs)).map { name, times in
        Comparison(name: name, ours: times.0.median, theirs: times.1.median)
    }
}

/// Measures what parsing the documents takes, or returns `nil` if Python isn't there.
func compareWithPython() throws -> [Comparison]? {
    let parsers: [(name: String, text: String, call: String, load: (String) throws -> PropertySnapshot)] = [
        ("JSON, parsed", Documents.json, "json.loads", { try JSONSource(text: $0, name: "json").load() }),
        ("TOML, parsed", Documents.toml, "tomllib.loads", { try TOMLSource(text: $0, name: "toml").load() }),
    ]
    var comparisons: [Comparison] = []
    for parser in parsers {
        let file = try temporaryFile(parser.text)
        defer { try? FileManager.default.removeItem(at: file) }
        let program = """
            import json, sys, time, tomllib
            text = open(sys.argv[1], encoding="utf-8").read()
            begun = time.perf_counter()
            \(parser.call)(text)
            print(time.perf_counter() - begun)
            """
        var (ours, theirs): ([Duration], [Duration]) = ([], [])
        for _ in 0..<5 {
            guard let printed = try output(of: "python3", ["-c", program, file.path]), let seconds = Double(printed)
            else { return nil }
            theirs.append(.seconds(seconds))
            ours.append(try ContinuousClock().measure { _ = try parser.load(parser.text) })
        }
        comparisons.append(Comparison(name: parser.name, ours: ours.median, theirs: theirs.median))
    }
    return comparisons
}

/// Returns a new file with the text, which the caller removes.
private func temporaryFile(_ text: String) throws -> URL {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("document-\(UUID().uuidString).json")
    try Data(text.utf8).write(to: file)
    return file
}

/// Returns what a program prints, or `nil` if it can't be started or fails.
private func output(of program: String, _ arguments: [String]) throws -> String? {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// The input of the benchmark: a list of servers, like the configuration of a service.
struct Fleet: Decodable, Equatable, Sendable {
    struct Server: Decodable, Equatable, Sendable {
        struct Limits: Decodable, Equatable, Sendable {
            var memory: Int
            var load: Double
            var burst: Double?
        }

        var id: Int
        var host: String
        var region: String
        var description: String
        var isEnabled: Bool
        var weight: Double
        var ports: [Int]
        var tags: [String]
        var limits: Limits
    }

    var title: String
    var servers: [Server]
}

enum Documents {
    /// About four megabytes each, the same values in both.
    static let serverCount = 13_000

    static var json: String {
        let servers = (0..<serverCount).map { index in
            """
                {
                  "id": \(index),
                  "host": "node-\(index).internal.example.com",
                  "region": "\(["eu-west", "us-east", "ap-south"][index % 3])",
                  "description": "Serves shard \(index) of the \\"primary\\" catalogue",
                  "isEnabled": \(index % 2 == 0),
                  "weight": \(Double(index) * 0.25 + 0.1),
                  "ports": [8080, 8443, \(9000 + index)],
                  "tags": ["blue", "canary", "tier-\(index % 5)"],
                  "limits": { "memory": \(index * 1024), "load": 0.\(index % 90 + 10) }
                }
            """
        }
        return "{\n  \"title\": \"fleet\",\n  \"servers\": [\n\(servers.joined(separator: ",\n"))\n  ]\n}\n"
    }

    static var toml: String {
        let servers = (0..<serverCount).map { index in
            """
            [[servers]]
            id = \(index)
            host = "node-\(index).internal.example.com"
            region = "\(["eu-west", "us-east", "ap-south"][index % 3])"
            description = "Serves shard \(index) of the \\"primary\\" catalogue"
            isEnabled = \(index % 2 == 0)
            weight = \(Double(index) * 0.25 + 0.1)
            ports = [8080, 8443, \(9000 + index)]
            tags = ["blue", "canary", "tier-\(index % 5)"]

            [servers.limits]
            memory = \(index * 1024)
            load = 0.\(index % 90 + 10)

            """
        }
        return "title = \"fleet\"\n\n" + servers.joined(separator: "\n")
    }
}
