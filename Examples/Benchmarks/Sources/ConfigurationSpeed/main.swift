// Measures how long reading four megabytes of configuration takes, compared with Foundation's JSONDecoder and Python's parsers,
// and what 10,000 keys cost, compared with swift-configuration.
//
// Run it with `swift run -c release ConfigurationSpeed [--check [--slack FACTOR]]`. With --check, it exits with status 1
// unless reading JSON is twice as fast as Foundation and nothing is slower than elsewhere; the factor, 1 by default, allows more
// time.
import Configuration
import Foundation
import Fugu
import FuguConfiguration
import SystemPackage

// The same work done by swift-configuration and by Python's parsers.

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

extension [Duration] {
    var median: Duration { sorted()[count / 2] }
}

/// The medians of repeated runs, which alternate so that neither side has the machine to itself.
func medians(of count: Int, _ bodies: [() throws -> Void]) throws -> [Duration] {
    var times = [[Duration]](repeating: [], count: bodies.count)
    for _ in 0..<count {
        for (index, body) in bodies.enumerated() {
            times[index].append(try ContinuousClock().measure(body))
        }
    }
    return times.map(\.median)
}

func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

func speed(_ megabytes: Double, _ duration: Duration) -> String {
    let milliseconds = duration / .milliseconds(1)
    return "\(rounded(milliseconds)) ms, \(rounded(megabytes / milliseconds * 1000)) MB/s"
}

extension ContainerKeys {
    var title: PropertyKey<String> { .init("title", defaultValue: "") }
    var servers: PropertyKey<[Fleet.Server]> { .init("servers", defaultValue: [Fleet.Server]()) }
}

func decode(_ source: some PropertySource) throws -> Fleet {
    let container = Container()
    try container.apply(source)
    return Fleet(title: try container.require(\.title), servers: try container.require(\.servers))
}

/// Prints the figures.
///
/// Returns how our time for JSON compares with Foundation's.
func measure() throws -> Double {
    let (jsonText, tomlText) = (Documents.json, Documents.toml)
    let data = Data(jsonText.utf8)
    let json = JSONSource(text: jsonText, name: "json")
    let toml = TOMLSource(text: tomlText, name: "toml")
    let expected = try JSONDecoder().decode(Fleet.self, from: data)
    guard try decode(json) == expected, try decode(toml) == expected else {
        fatalError("the three ways do not give the same values")
    }
    let times = try medians(
        of: 11,
        [
            { _ = try JSONDecoder().decode(Fleet.self, from: data) }, { _ = try decode(json) }, { _ = try json.load() },
            { _ = try decode(toml) }, { _ = try toml.load() },
        ])
    let megabytes = (json: Double(data.count) / 1e6, toml: Double(tomlText.utf8.count) / 1e6)
    let ratio = times[1] / times[0]
    print("JSON, \(rounded(megabytes.json)) MB to a typed struct, medians of 11, one run:")
    print("  Foundation JSONDecoder   \(speed(megabytes.json, times[0]))")
    print("  FuguConfiguration        \(speed(megabytes.json, times[1]))")
    print("  of which parsing         \(speed(megabytes.json, times[2]))")
    print("  our time to Foundation's \(rounded(ratio))")
    print("TOML, \(rounded(megabytes.toml)) MB to the same struct:")
    print("  FuguConfiguration        \(speed(megabytes.toml, times[3]))")
    print("  of which parsing         \(speed(megabytes.toml, times[4]))")
    return ratio
}

/// Prints what 10,000 declared keys cost when a program starts, and when a file of theirs is read again.
func measureKeys() throws {
    let names = (0..<10_000).map { "group\($0 % 100).key\($0)" }
    let keys = names.map { PropertyKey<Int>($0, defaultValue: 0) }
    let text = names.enumerated().map { "\($1) = \($0)\n" }.joined()
    var rounds = [[Duration]](repeating: [], count: 4)
    for _ in 0..<11 {
        let container = Container()
        container.declare(keys.map { $0 as any ConfigurationKey })
        let bodies: [() throws -> Void] = [
            { try container.apply(TOMLSource(text: text, name: "keys.toml")) },
            { for (index, key) in keys.enumerated() where container[key] != index { fatalError("a wrong value") } },
            { try container.validate() }, { try container.reload() },
        ]
        for (index, body) in bodies.enumerated() { rounds[index].append(try ContinuousClock().measure(body)) }
    }
    print("TOML, 10,000 declared keys:")
    for (what, times) in zip(["apply", "first read of all", "validate", "reload"], rounds) {
        let time = times.median / .milliseconds(1)
        print("  \(what.padding(toLength: 24, withPad: " ", startingAt: 0)) \(rounded(time)) ms")
    }
}

let arguments = CommandLine.arguments
let slack = arguments.firstIndex(of: "--slack").flatMap { arguments.dropFirst($0 + 1).first }.flatMap(Double.init) ?? 1
let ratio = try measure()
try measureKeys()
let others = [
    ("swift-configuration", try await compareWithSwiftConfiguration()), ("Python", try compareWithPython() ?? []),
]
var slow = ratio > slack / 2 ? ["\(rounded(ratio)) times Foundation's time, at most \(slack / 2) allowed"] : []
for (other, comparisons) in others {
    print("beside \(other)\(comparisons.isEmpty ? ", which isn't installed" : ":")")
    for each in comparisons {
        let name = each.name.padding(toLength: 26, withPad: " ", startingAt: 0)
        let (ours, theirs) = (rounded(each.ours / .milliseconds(1)), rounded(each.theirs / .milliseconds(1)))
        print("  \(name) \(ours) ms, there \(theirs) ms: \(rounded(each.ratio))")
        if each.ratio > slack { slow.append("\(each.name): \(rounded(each.ratio)) times the time of \(other)") }
    }
}
if arguments.contains("--check"), !slow.isEmpty {
    print("too slow: \(slow.joined(separator: "; "))")
    exit(1)
}
