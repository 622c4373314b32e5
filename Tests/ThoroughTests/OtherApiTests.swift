import Foundation
import Fugu
import FuguConfiguration
import FuguFoundation
import FuguFoundationSources
import FuguTesting
import Support
import Testing

extension ContainerKeys {
    fileprivate var portKey: PropertyKey<Int> { .init("server.port", defaultValue: 80) }
}
extension ContainerKeys {
    fileprivate var hostKey: PropertyKey<String?> { .init("server.host") }
}
private struct Settings: Decodable, Sendable {
    var port = 1
    var name = "x"
}

extension ContainerKeys {
    fileprivate var otherPort: PropertyKey<Int> { .init("other.port", defaultValue: 1) }
    fileprivate var otherHost: PropertyKey<String?> { .init("other.host") }
    fileprivate var otherSecret: PropertyKey<String> { .init("other.secret", defaultValue: "dflt", isSecret: true) }
}
private struct Mailer: Feature, External {
    var send: @Sendable (String) -> Bool = { _ in true }
    static func load(in container: any FeatureContainer) -> Mailer { Mailer() }
    static var placeholder: Mailer { Mailer(send: unimplemented("Mailer.send", placeholder: false)) }
}
extension FeatureContainer {
    fileprivate var mailer: Mailer {
        get { self[Mailer.self] }
        set { self[Mailer.self] = newValue }
    }
}

@Suite("The names of the other modules compile and do what they say") struct OtherApiTests {}

extension OtherApiTests {
    @Test("apply, reload, property, require, validate and explain (laws 23 to 26)")
    func configuration() throws {
        let container = Container.program()
        try container.apply(JSONSource(text: #"{"other": {"port": 2}}"#, name: "a.json"))
        try container.apply(TOMLSource(text: "server.port = 443", name: "a.toml"))
        try container.apply(DictionarySource(["other.host": "h", "list": [1, 2]], name: "dictionary"))
        try container.apply(StructSource(reflecting: Settings()))
        try container.apply(EnvironmentSource(prefix: "APP", environment: ["APP_OTHER_SECRET": "hush"]))
        try container.apply(EnvironmentSource())
        try container.apply(EnvironmentSource(prefix: "NOBODY_HAS_THIS"))
        try container.apply(ArgumentsSource(["--other-port", "3", "--", "--other-port=4"]))
        try Container.program().apply(ArgumentsSource())
        try container.apply(JSONSource(path: "/nowhere/at/all.json", isOptional: true))
        try container.apply(TOMLSource(path: "/nowhere/at/all.toml", isOptional: true))
        #expect(throws: PropertyError.self) { try container.apply(JSONSource(path: "nowhere.json")) }
        #expect(throws: PropertyError.self) { try container.apply(TOMLSource(path: "nowhere.toml")) }
        try container.reload()
        expect(container.portKey, equals: 443)
        expect(container.otherPort, equals: 3)
        expect(container.otherHost, equals: "h")
        expect(container.otherSecret, equals: "hush")
        let list: [Int]? = try container.property("list")
        expect(list, equals: [1, 2])
        try expect(container.property("other.port", as: Int.self), equals: 3)
        try expect(container.property("no.such", as: Int.self) == nil)
        try expect(container.require(\.otherPort), equals: 3)
        try expect(container.require(\.portKey), equals: 443)
        do {
            _ = try container.require(\.hostKey)
            Issue.record("nothing was thrown")
        } catch let error as PropertyError {
            expect(error.name, equals: "server.host")
        }
        try container.validate([
            ContainerKeys().otherPort, ContainerKeys().otherHost, PropertyKey<[Int]>("list", defaultValue: []),
            PropertyKey("port", defaultValue: 1), PropertyKey("name", defaultValue: ""), ContainerKeys().portKey,
        ])
        let typed = Container()
        try typed.apply(TOMLSource(text: "server.port = 443", name: "a.toml"))
        try typed.validate(\.portKey, \.hostKey)
        try Container().validate()
        let explanation: Explanation = container.explain(\.otherPort)
        expect("\(explanation)".contains("other.port = 3"))
        expect("\(container.explain(\.portKey))".contains("a.toml:1:15"))
        expect(!"\(container.explain(\.otherSecret))".contains("hush"))
    }

    @Test("Errors carry reason, source, line, column, name, expected and found (law 25)")
    func errors() throws {
        let container = Container()
        container.handleReports { _ in }
        try container.apply(TOMLSource(text: "# 🐡\n[other]\nport = \"abc\"\n", name: "a.toml"))
        do {
            _ = try container.require(\.otherPort)
            Issue.record("nothing was thrown")
        } catch let error as PropertyError {
            let fields: (String, String?, Int?, Int?, String?, String?, String?) = (
                error.reason, error.source, error.line, error.column, error.name, error.expected, error.found
            )
            expect(fields.0, equals: #"expected Int, found string "abc""#)
            expect(fields.1, equals: "a.toml")
            expect(fields.2, equals: 3)
            expect(fields.3, equals: 8)
            expect(fields.4, equals: "other.port")
            expect(fields.5, equals: "Int")
            expect(fields.6, equals: #"string "abc""#)
            expect("\(error)", equals: #"a.toml:3:8: other.port: expected Int, found string "abc""#)
        }
        do {
            try container.validate(\.otherPort)
            Issue.record("nothing was thrown")
        } catch let errors as PropertyErrors {
            let all: [PropertyError] = errors.errors
            expect(all.count, equals: 1)
        }
    }

    @Test("PropertyValue takes literals and parses (law 24)")
    func values() throws {
        let value: PropertyValue = ["a": 1, "b": 1.5, "c": true, "d": "x", "e": [1, "y"], "f": ["g": false]]
        let json = try PropertyValue(
            json: Array(#"{"a":1,"b":1.5,"c":true,"d":"x","e":[1,"y"],"f":{"g":false},}"#.utf8), name: "j")
        expect(value, equals: json)
        let toml = try PropertyValue(
            toml: Array("a=1\nb=1.5\nc=true\nd='x'\ne=[1,'y']\nf.g=false".utf8), name: "t")
        expect(value, equals: toml)
        expect(Set([value, json, toml]).count, equals: 1)
        let text = "o = 1979-05-27T07:32:00-08:00\nld = 1979-05-27T07:32:00\nd = 1979-05-27\nt = 07:32:00.5"
        guard case .table(let table) = try PropertyValue(toml: Array(text.utf8), name: "t"),
            case .offsetDateTime(let moment)? = table["o"], case .localDateTime(let local)? = table["ld"],
            case .localDate(let date)? = table["d"], case .localTime(let time)? = table["t"]
        else {
            Issue.record("other cases")
            return
        }
        expect(
            "\(moment) \(local) \(date) \(time)",
            equals: "1979-05-27T07:32:00-08:00 1979-05-27T07:32:00 1979-05-27 07:32:00.5")
        do throws(PropertyError) {
            _ = try PropertyValue(json: Array("{".utf8), name: "j")
        } catch {
            let error: PropertyError = error
            expect(error.line, equals: 1)
            expect(error.column, equals: 2)
        }
        _ = [PropertyValue.data([1]), .array([]), .table([:]), .string(""), .double(1), .integer(1), .bool(true)]
    }

    @Test("Foundation's sources and features")
    func foundation() throws {
        let container = Container()
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["when": Date(timeIntervalSince1970: 5), "what": Data([1, 2])], format: .xml, options: 0)
        try container.apply(PropertyListSource(data: list, name: "x.plist"))
        try container.apply(PropertyListSource(path: "/nowhere/at/all.plist", isOptional: true))
        #expect(throws: PropertyError.self) { try container.apply(PropertyListSource(path: "nowhere.plist")) }
        try expect(container.property("when", as: Date.self), equals: Date(timeIntervalSince1970: 5))
        try expect(container.property("what", as: Data.self), equals: Data([1, 2]))
        container.uuid = .random
        container.uuid = .incrementing
        expect(container.uuid().uuidString.hasSuffix("0000"))
        let fixed = UUID()
        container.uuid = .constant(fixed)
        expect(container.uuid(), equals: fixed)
        container.fileAccess = .system
        container.fileAccess = .inMemory
        let url = URL(filePath: "/a/b/c.txt")
        try container.fileAccess.save(Data([1]), to: url)
        try expect(container.fileAccess.load(url), equals: Data([1]))
        try container.fileAccess.delete(url)
        do throws(FileAccessError) {
            _ = try container.fileAccess.load(url)
            Issue.record("nothing was thrown")
        } catch {
            expect(error.path, equals: "/a/b/c.txt")
            _ = error.cause
        }
        container.keyValueStore = .userDefaults
        container.keyValueStore = .file(URL(filePath: "/nowhere/at/all/store.json"))
        container.keyValueStore = .inMemory
        try container.keyValueStore.set(1, for: "a")
        container.timestamp = .constant(9)
        expect(container.date.now, equals: Date(timeIntervalSince1970: 9))
        container.date = .constant(Date(timeIntervalSince1970: 1))
        container.locale = Locale(identifier: "de_DE")
        container.timeZone = .gmt
        expect(container.calendar.timeZone, equals: .gmt)
        container.calendar = Calendar(identifier: .gregorian)
        container.environment = ["HOME": "/h"]
        expect(container.environment["HOME"], equals: "/h")
    }

    @Test(.container { $0.timestamp = .constant(0) })
    func trait() { expect(Container.current.timestamp.now, equals: 0) }

    @Test(.container)
    func plainTrait() { expect(Container.current !== Container.shared) }

    @Test(.container(reportsUnusedValues: true) { $0.timestamp = .constant(1) })
    func watchedTrait() { expect(Container.current.timestamp.now, equals: 1) }

    @Test("Container.strict by hand (law 29)")
    func strict() async throws {
        let container = Container.strict {
            $0.timestamp = .constant(3)
            $0.mailer.send = { _ in true }
        }
        expect(container.timestamp.now, equals: 3)
        expect(container.mailer.send("x"))
        let empty = Container.strict()
        let failures = Log<String>()
        Failure.$recorder.withValue(Failure.Recorder { text, _ in failures.add(text) }) {
            expect(empty.mailer.send("x"), equals: false)
        }
        expect(
            failures.all.allSatisfy { $0.contains("{ $0[Mailer.self] = … }") || $0.contains("Mailer.send was called") })
        expect(!failures.all.isEmpty)
    }
}

@Suite(.container) struct TraitOnSuite {}

extension TraitOnSuite {
    @Test func current() { expect(Container.current !== Container.shared) }
}
