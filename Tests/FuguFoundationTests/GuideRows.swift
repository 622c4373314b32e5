import Foundation
import Fugu
import FuguConfiguration
import FuguFoundationSources
import Support
import Testing

// Inputs as a reader of the guide writes them, with what the guide lets expect. They were written before the parsers were read.

private enum Color: String, Decodable, CaseIterable, Sendable { case red, green, darkBlue }

private struct Pool: Decodable, Sendable, CustomStringConvertible {
    let size: Int
    var hosts: [String]?
    var description: String { "\(size) \(hosts ?? [])" }
}

private struct ByteSize: TextDecodable, CustomStringConvertible {
    let bytes: Int
    static let textForm = "a size, such as 512KB or 20MB"
    init?(text: String) {
        guard let number = UInt32(text.dropLast(2)), text.hasSuffix("KB") || text.hasSuffix("MB") else { return nil }
        bytes = Int(number) * (text.hasSuffix("MB") ? 1_000_000 : 1_000)
    }
    var description: String { "\(bytes)" }
}

/// A setting of the rows: its key, and how its value is shown.
private struct Setting: Sendable {
    let declare: @Sendable (Container) -> Void
    let shown: @Sendable (Container) -> String

    init<Value: Decodable & Sendable>(
        _ key: any KeyPath<ContainerKeys, PropertyKey<Value?>> & Sendable,
        shown: @escaping @Sendable (Value) -> String = { "\($0)" }
    ) {
        declare = { $0.declare(key) }
        self.shown = { $0[dynamicMember: key].map(shown) ?? "nil" }
    }
}

private func sorted<Key: Comparable, Value>(_ table: [Key: Value]) -> String {
    table.isEmpty
        ? "[:]" : "[" + table.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
}

extension ContainerKeys {
    fileprivate var port: PropertyKey<Int?> { .init("server.port") }
    fileprivate var big: PropertyKey<UInt64?> { .init("big") }
    fileprivate var small: PropertyKey<UInt8?> { .init("small") }
    fileprivate var ratio: PropertyKey<Double?> { .init("ratio") }
    fileprivate var price: PropertyKey<Decimal?> { .init("price") }
    fileprivate var name: PropertyKey<String?> { .init("name") }
    fileprivate var verbose: PropertyKey<Bool?> { .init("verbose") }
    fileprivate var debug: PropertyKey<Bool?> { .init("debug", form: .anyBoolean) }
    fileprivate var tags: PropertyKey<[String]?> { .init("tags") }
    fileprivate var ports: PropertyKey<[Int]?> { .init("ports") }
    fileprivate var deltas: PropertyKey<[Duration]?> { .init("deltas") }
    fileprivate var levels: PropertyKey<Set<Int>?> { .init("levels") }
    fileprivate var limits: PropertyKey<[String: Int]?> { .init("limits") }
    fileprivate var codes: PropertyKey<[Int: String]?> { .init("codes") }
    fileprivate var pool: PropertyKey<Pool?> { .init("pool") }
    fileprivate var wait: PropertyKey<Duration?> { .init("wait") }
    fileprivate var url: PropertyKey<URL?> { .init("url") }
    fileprivate var date: PropertyKey<Date?> { .init("date") }
    fileprivate var at: PropertyKey<DateComponents?> { .init("at") }
    fileprivate var id: PropertyKey<UUID?> { .init("id") }
    fileprivate var color: PropertyKey<Color?> { .init("color") }
    fileprivate var blob: PropertyKey<Data?> { .init("blob") }
    fileprivate var body: PropertyKey<ByteSize?> { .init("server.maxBody") }
    fileprivate var zone: PropertyKey<TimeZone?> { .init("zone") }
    fileprivate var locale: PropertyKey<Locale?> { .init("locale") }
}

private let settings: [String: Setting] = [
    "port": Setting(\.port),
    "big": Setting(\.big),
    "small": Setting(\.small),
    "ratio": Setting(\.ratio),
    "price": Setting(\.price),
    "name": Setting(\.name),
    "verbose": Setting(\.verbose),
    "debug": Setting(\.debug),
    "tags": Setting(\.tags),
    "ports": Setting(\.ports),
    "deltas": Setting(\.deltas),
    "levels": Setting(\.levels) { "\($0.sorted())" },
    "limits": Setting(\.limits, shown: sorted),
    "codes": Setting(\.codes, shown: sorted),
    "pool": Setting(\.pool),
    "wait": Setting(\.wait),
    "url": Setting(\.url) { $0.absoluteString },
    "date": Setting(\.date) { "\($0.timeIntervalSince1970)" },
    "at": Setting(\.at) { "\($0.hour ?? 0):\($0.minute ?? 0)" },
    "id": Setting(\.id),
    "color": Setting(\.color),
    "blob": Setting(\.blob) { String(decoding: $0, as: UTF8.self) },
    "body": Setting(\.body),
    "zone": Setting(\.zone) { $0.identifier },
    "locale": Setting(\.locale) { $0.identifier },
]

/// The value of a setting, or behind `!`, the lines of the error.
private func outcome(of source: some PropertySource, _ setting: String) -> String {
    let container = Container()
    for setting in settings.values { setting.declare(container) }
    do {
        try container.apply(source)
        try container.validate()
    } catch {
        return "! \(error)"
    }
    return settings[setting]!.shown(container)
}

/// Each row is an input, a setting, and its value; behind `!`, words of the error.
func checkGuide(
    _ rows: [(input: String, setting: String, expected: String)], source: (String) -> some PropertySource
) {
    for row in rows {
        let outcome = outcome(of: source(row.input), row.setting)
        let fits =
            if row.expected.hasPrefix("!") {
                outcome.hasPrefix("!")
                    && row.expected.dropFirst().split(separator: "|").allSatisfy {
                        outcome.contains($0.trimmingPrefix(" "))
                    }
            } else { outcome == row.expected }
        #expect(fits, "\(row.input) → \(row.setting): \(row.expected)\n  but: \(outcome)")
    }
}

/// What a reader of the guide expects of an input (law 15).
struct GuideRows {
    @Test("Arguments") func arguments() {
        // Words are separated by spaces; ␣ is a space in a word, and ∅ an empty word.
        checkGuide([
            ("--server-port 80", "port", "80"),
            ("--server-port=80", "port", "80"),
            ("--server-port 80 --server-port 90", "port", "90"),
            ("--server-port -5", "port", "-5"),
            ("--server-port=-5", "port", "-5"),
            ("--server-port +5", "port", "5"),
            ("--server-port 0x1f", "port", "31"),
            ("--server-port 0o755", "port", "493"),
            ("--server-port 0755", "port", "! leading zero"),
            ("--server-port 1_000", "port", "1000"),
            ("--server-port 1.5", "port", "! expected Int|1.5"),
            ("--server-port eighty", "port", "! expected Int|eighty"),
            ("--server-port ∅", "port", "! expected Int"),
            ("--server-port", "port", "! needs a value"),
            ("--server-port --verbose", "port", "! needs a value"),
            ("--server-prot 80", "port", "! unknown name|--server-port"),
            ("--SERVER-PORT 80", "port", "80"),
            ("--server.port 80", "port", "80"),
            ("--server-port:80", "port", "! did you mean --server-port=…?"),
            ("—server-port 80", "port", "! an argument begins with --"),
            ("-p 80 file.txt", "port", "nil"),
            ("-- --server-port 80", "port", "nil"),
            ("--small 256", "small", "! 0...255"),
            ("--big 18446744073709551615", "big", "18446744073709551615"),
            ("--ratio 1e3", "ratio", "1000.0"),
            ("--ratio 5", "ratio", "5.0"),
            ("--verbose", "verbose", "true"),
            ("--verbose file.txt", "verbose", "true"),
            ("--verbose=false", "verbose", "false"),
            ("--no-verbose", "verbose", "false"),
            ("--verbose=yes", "verbose", "! true"),
            ("--debug=yes", "debug", "true"),
            ("--verb", "verbose", "! --verbose"),
            ("--name a=b", "name", "a=b"),
            ("--name=a=b", "name", "a=b"),
            ("--name=", "name", ""),
            ("--name=--x", "name", "--x"),
            ("--name ␣a␣", "name", " a "),
            ("--tags a --tags b", "tags", #"["a", "b"]"#),
            ("--tags a b -v c", "tags", #"["a", "b"]"#),
            ("--tags a,b", "tags", #"["a", "b"]"#),
            (#"--tags ["a","b,c"]"#, "tags", #"["a", "b,c"]"#),
            (#"--tags ["a","b""#, "tags", "! --tags|]"),
            (#"--tags "a","b""#, "tags", "! tags"),
            ("--tags a,,b", "tags", "! an array without empty elements"),
            ("--tags a b,c", "tags", #"["a", "b,c"]"#),
            ("--tags a [b,c]", "tags", "! tags"),
            ("--tags [::1] x", "tags", #"["[::1]", "x"]"#),
            ("--tags[0]=a", "tags", "! list|--tags"),
            ("--ports 1 -2 3", "ports", "[1, -2, 3]"),
            ("--ports 1,2 --ports 3", "ports", "[1, 2, 3]"),
            ("--deltas 5s -5s 1m", "deltas", "[5.0 seconds, -5.0 seconds, 60.0 seconds]"),
            (#"--limits {"read":5,"write":1}"#, "limits", "[read: 5, write: 1]"),
            (#"--limits {"read":5,}"#, "limits", "[read: 5]"),
            (#"--limits {"read":5"#, "limits", "! --limits|limits|}"),
            (#"--codes {"80":"http"}"#, "codes", "[80: http]"),
            ("--wait 1h30m", "wait", "5400.0 seconds"),
            ("--wait 30", "wait", "! wait|30s"),
            ("--color red", "color", "red"),
            ("--color blue", "color", "! one of red, green, darkBlue"),
            ("--server-max-body 20MB", "body", "20000000"),
            ("--url http://a.example/b␣c", "url", "! percent-encode"),
        ]) { line in
            ArgumentsSource(
                line.split(separator: " ").map {
                    $0 == "∅" ? "" : $0.replacingOccurrences(of: "␣", with: " ")
                })
        }
    }

    @Test("Variables") func variables() {
        // Two spaces separate variables.
        checkGuide([
            ("APP_SERVER_PORT=80", "port", "80"),
            ("APP_SERVER_PORT= 80", "port", "! Int"),
            ("APP_SERVER_PORT=80\n", "port", "80"),
            ("APP_SERVER_PORT=\u{FEFF}80", "port", "80"),
            ("APP_SERVER_PORT=-80", "port", "-80"),
            ("APP_SERVER_PORT=080", "port", "! leading zero"),
            ("APP_SERVER_PORT=", "port", "nil"),
            ("APP_SERVERPORT=80", "port", "! unknown name|APP_SERVER_PORT"),
            ("APP_SERVER__PORT=80", "port", "! unknown name|APP_SERVER_PORT"),
            ("APP_SERVER_PROT=80", "port", "! unknown name|APP_SERVER_PORT"),
            ("SERVER_PORT=80", "port", "nil"),
            ("app_server_port=80", "port", "nil"),
            ("APP_PORT=80", "port", "! unknown name"),
            ("APP_NAME=a b", "name", "a b"),
            ("APP_NAME='a'", "name", "'a'"),
            ("APP_NAME=\"a\"", "name", "\"a\""),
            ("APP_NAME=é", "name", "é"),
            ("APP_NAME=null", "name", "null"),
            ("APP_NAME=a\nb\n", "name", "a\nb"),
            ("APP_VERBOSE=true", "verbose", "true"),
            ("APP_VERBOSE=TRUE", "verbose", "! true"),
            ("APP_VERBOSE=1", "verbose", "! true"),
            ("APP_DEBUG=1", "debug", "true"),
            ("APP_DEBUG=no", "debug", "false"),
            ("APP_DEBUG=maybe", "debug", "! debug|maybe"),
            ("APP_TAGS=a,b", "tags", #"["a", "b"]"#),
            ("APP_TAGS=a, b", "tags", #"["a", "b"]"#),
            ("APP_TAGS=a", "tags", #"["a"]"#),
            ("APP_TAGS=[]", "tags", "[]"),
            (#"APP_TAGS=["a","b"]"#, "tags", #"["a", "b"]"#),
            (#"APP_TAGS=["a", "b"#, "tags", "! APP_TAGS"),
            (#"APP_TAGS="a","b""#, "tags", "! APP_TAGS"),
            ("APP_TAGS='a','b'", "tags", "! APP_TAGS"),
            ("APP_TAGS=[a,b]", "tags", "! APP_TAGS|quotes"),
            ("APP_TAGS=a,", "tags", "! an array without empty elements"),
            ("APP_PORTS=1,2,-3", "ports", "[1, 2, -3]"),
            ("APP_PORTS=[1, 2]", "ports", "[1, 2]"),
            ("APP_PORTS=1,x", "ports", "! Int|x"),
            ("APP_PORTS=1;2", "ports", "! ports"),
            ("APP_LEVELS=3,1,2", "levels", "[1, 2, 3]"),
            (#"APP_LIMITS={"read": 5, "write": 1}"#, "limits", "[read: 5, write: 1]"),
            (#"APP_LIMITS={"read": 5, "write": 1"#, "limits", "! APP_LIMITS|}"),
            (#"APP_LIMITS={'read': 5}"#, "limits", "! APP_LIMITS|line 1, column 2"),
            (#"APP_LIMITS={"read": five}"#, "limits", "! APP_LIMITS|line 1, column 10"),
            ("APP_LIMITS=read=5", "limits", "! a table, written as JSON"),
            ("APP_LIMITS_READ=5", "limits", "! APP_LIMITS"),
            (#"APP_CODES={"80": "http", "443": "https"}"#, "codes", "[80: http, 443: https]"),
            (#"APP_CODES={"http": "80"}"#, "codes", "! codes|http"),
            (#"APP_CODES={"80": "a", "080": "b"}"#, "codes", "! 080"),
            (#"APP_POOL={"size": 3, "hosts": ["a"]}"#, "pool", #"3 ["a"]"#),
            (#"APP_POOL={"size": "3"}"#, "pool", "! pool.size|Int"),
            (#"APP_POOL={"size": 3, "host": 1}"#, "pool", "! pool.host|hosts"),
            ("APP_WAIT=250ms", "wait", "0.25 seconds"),
            ("APP_WAIT=1.5s", "wait", "1.5 seconds"),
            ("APP_WAIT=soon", "wait", "! wait|30s"),
            ("APP_URL=http://münchen.de/", "url", "http://xn--mnchen-3ya.de/"),
            ("APP_DATE=1970-01-01T00:01:00Z", "date", "60.0"),
            ("APP_DATE=1970-01-01", "date", "! date"),
            ("APP_AT=07:32", "at", "7:32"),
            ("APP_AT=7:32", "at", "! at|expected DateComponents"),
            ("APP_ID=nope", "id", "! UUID"),
            ("APP_BLOB=aGVsbG8=", "blob", "hello"),
            ("APP_BLOB=aGVs\nbG8=\n", "blob", "hello"),
            ("APP_BLOB=aGVs\r\nbG8=\r\n", "blob", "hello"),
            ("APP_ZONE=Europe/Berlin", "zone", "Europe/Berlin"),
            ("APP_ZONE=Europe/Berlín", "zone", "! TimeZone, such as"),
            ("APP_LOCALE=de_DE", "locale", "de_DE"),
        ]) { line in
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return EnvironmentSource(prefix: "APP", environment: [String(parts[0]): String(parts[1])])
                .ignoringEmptyTexts()
        }
    }
}
