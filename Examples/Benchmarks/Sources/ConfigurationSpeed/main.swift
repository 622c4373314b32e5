// Measures how long reading four megabytes of configuration takes, compared with Foundation's JSONDecoder and Python's parsers,
// and what 10,000 keys cost, compared with swift-configuration.
//
// Run it with `swift run -c release ConfigurationSpeed [--check [--slack FACTOR]]`. With --check, it exits with status 1
// unless reading JSON is twice as fast as Foundation and nothing is slower than elsewhere; the factor, 1 by default, allows more
// time.
import Foundation
import Fugu
import FuguConfiguration

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
